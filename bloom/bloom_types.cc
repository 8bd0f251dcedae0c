// Bloom types and hashes: names to objects.
#include "bloom/bloom_types.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/plugins.h"

namespace cellar {
namespace {

Status unknown(std::string_view what, std::string_view name, const std::vector<std::string>& known) {
  return Status::invalid_argument(
             fmt::format("unknown {} \"{}\"; known: {}", what, name, fmt::join(known, ", ")))
      .hinting(nearest_hint(lower_ascii(name), known));
}

}  // namespace

Result<std::shared_ptr<const BloomType>> make_bloom_type(std::string_view text) {
  register_bloom_plugins();
  const std::string wanted = lower_ascii(text);
  if (wanted == "none") return std::shared_ptr<const BloomType>();
  CELLAR_TRY_ASSIGN(const PluginParams params, PluginParams::parse(wanted));
  const Registry<BloomType>& registry = Registry<BloomType>::instance();
  std::vector<std::string> known = registry.names();
  known.insert(known.begin(), "none");
  if (std::ranges::find(known, params.name()) == known.end()) return unknown("bloom", params.name(), known);
  CELLAR_TRY_ASSIGN(std::unique_ptr<BloomType> made, registry.make(wanted));
  return std::shared_ptr<const BloomType>(std::move(made));
}

std::shared_ptr<const BloomType> bloom_type_of_file(std::string_view name, size_t prefix_bytes) {
  if (lower_ascii(name) == "none") return nullptr;
  const std::string plain = lower_ascii(name);
  const std::string wanted =
      prefix_bytes > 0 ? fmt::format("{}(prefix_length={})", plain, prefix_bytes) : plain;
  Result<std::shared_ptr<const BloomType>> made = make_bloom_type(wanted);
  // A parameter that the type does not take says nothing about what it hashes.
  if (!made.ok() && prefix_bytes > 0) made = make_bloom_type(plain);
  return made.ok() && (*made)->name() == name ? *made : nullptr;
}

Result<BloomHash> bloom_hash_by_name(std::string_view name) {
  static constexpr std::array<std::string_view, 3> kNames = {"jenkins", "murmur", "murmur3"};  // as numbered
  const auto found = std::ranges::find(kNames, lower_ascii(name));
  if (found == kNames.end()) return unknown("bloom_hash", name, {kNames.begin(), kNames.end()});
  return static_cast<BloomHash>(found - kNames.begin());
}

}  // namespace cellar
