// The block encodings that are built in, by name.
#include "hfile/encoding/encoding.h"

#include <vector>

#include "base/bytes.h"
#include "base/plugins.h"

namespace cellar {

namespace {

struct NamedEncoding {
  std::string plugin_name;
  std::unique_ptr<const BlockEncoding> encoding;
};

// Made once; encodings are stateless and live forever.
const std::vector<NamedEncoding>& encodings() {
  static const std::vector<NamedEncoding>* const all = [] {
    register_hfile_encoding_plugins();
    auto* made = new std::vector<NamedEncoding>;
    const Registry<BlockEncoding>& registry = Registry<BlockEncoding>::instance();
    for (const std::string& name : registry.names()) {
      Result<std::unique_ptr<BlockEncoding>> encoding = registry.make(name);
      if (encoding.ok()) made->push_back({name, std::move(*encoding)});
    }
    return made;
  }();
  return *all;
}

}  // namespace

std::vector<std::string> encoding_names() {
  std::vector<std::string> names;
  for (const NamedEncoding& each : encodings()) names.push_back(lower_ascii(each.encoding->name()));
  return names;
}

Result<const BlockEncoding*> encoding_by_name(std::string_view name) {
  for (const NamedEncoding& each : encodings()) {
    if (same_but_for_case(name, each.plugin_name) || same_but_for_case(name, each.encoding->name()))
      return each.encoding.get();
  }
  std::string known;
  for (const NamedEncoding& each : encodings())
    known += (known.empty() ? "" : ", ") + std::string(each.encoding->name());
  return Status::not_supported("data block encoding " + escaped(name.substr(0, 64)) +
                               " is not supported by this build")
      .hinting("built in: " + known);
}

Result<const BlockEncoding*> encoding_by_id(uint16_t id) {
  for (const NamedEncoding& each : encodings()) {
    if (each.encoding->id() == id) return each.encoding.get();
  }
  return Status::not_supported("data block encoding number " + std::to_string(id) +
                               " is not supported by this build");
}

}  // namespace cellar
