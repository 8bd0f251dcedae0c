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

std::string encoding_name(std::string_view name) {
  for (const NamedEncoding& each : encodings())
    if (same_but_for_case(name, each.plugin_name)) return lower_ascii(each.encoding->name());
  return std::string(name);
}

Result<const BlockEncoding*> encoding_by_name(std::string_view name) {
  for (const NamedEncoding& each : encodings()) {
    if (same_but_for_case(name, each.plugin_name) || same_but_for_case(name, each.encoding->name()))
      return each.encoding.get();
  }
  const std::vector<std::string> names = encoding_names();
  std::string known;
  for (const std::string& each : names) known += (known.empty() ? "" : ", ") + each;
  const std::string nearest = nearest_hint(lower_ascii(name.substr(0, 64)), names);
  return Status::not_supported("data block encoding " + escaped(name.substr(0, 64)) +
                               " is not supported by this build")
      .hinting(nearest.empty() ? "built in: " + known : nearest + "   (built in: " + known + ")");
}

Result<const BlockEncoding*> encoding_by_id(uint16_t id) {
  for (const NamedEncoding& each : encodings()) {
    if (each.encoding->id() == id) return each.encoding.get();
  }
  return Status::not_supported("data block encoding number " + std::to_string(id) +
                               " is not supported by this build");
}

}  // namespace cellar
