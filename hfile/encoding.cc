// The block encodings that are built in, by name.
#include "hfile/encoding.h"

#include <algorithm>
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
    register_hfile_plugins();
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

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool same_name(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return lower(x) == lower(y); });
}

}  // namespace

std::vector<std::string> encoding_names() {
  std::vector<std::string> names;
  for (const NamedEncoding& each : encodings()) {
    std::string& name = names.emplace_back(each.encoding->name());
    std::ranges::transform(name, name.begin(), lower);
  }
  return names;
}

Result<const BlockEncoding*> encoding_by_name(std::string_view name) {
  for (const NamedEncoding& each : encodings()) {
    if (same_name(name, each.plugin_name) || same_name(name, each.encoding->name()))
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
