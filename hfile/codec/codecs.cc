// Codecs: HBase's compression ordinals and names, and the compressors this build has for them.
#include "hfile/codec/codecs.h"

#include <fmt/format.h>

#include <array>
#include <memory>
#include <vector>

#include "base/bytes.h"
#include "base/plugins.h"

namespace cellar {
namespace {

// HBase's Compression.Algorithm, by ordinal.
constexpr std::array<std::string_view, kCodecCount> kCodecNames = {"LZO",   "GZ",   "NONE", "SNAPPY", "LZ4",
                                                                   "BZIP2", "ZSTD", "LZMA", "BROTLI"};

using Table = std::array<std::unique_ptr<const Compressor>, kCodecNames.size()>;

// Made once, when first asked for; immutable afterwards. Never destroyed, for readers may outlive static
// objects.
const Table& table() {
  static const Table& built = *[] {
    register_hfile_codec_plugins();
    auto* made = new Table;
    const Registry<Compressor>& registry = Registry<Compressor>::instance();
    for (const std::string& name : registry.names()) {
      Result<std::unique_ptr<Compressor>> compressor = registry.make(name);
      if (!compressor.ok() || compressor.value()->id() >= made->size()) continue;
      const uint32_t id = compressor.value()->id();
      (*made)[id] = std::move(compressor).value();
    }
    return made;
  }();
  return built;
}

// Returns the build option that this codec needs; the other codecs are in every build.
std::string_view needed_for(std::string_view name) {
  if (name == "LZO") return "-DCELLAR_WITH_LZO=ON, which needs the package liblzo2-dev";
  if (name == "BZIP2") return "-DCELLAR_WITH_BZIP2=ON, which needs the package libbz2-dev";
  if (name == "LZMA") return "-DCELLAR_WITH_LZMA=ON, which needs the package liblzma-dev";
  if (name == "BROTLI") return "-DCELLAR_WITH_BROTLI=ON, which needs the package libbrotli-dev";
  return "a compressor for it";
}

Status not_built(std::string_view name) {
  return Status::not_supported(
      fmt::format("codec {} is not supported by this build; rebuild with {}", name, needed_for(name)));
}

}  // namespace

Result<const Compressor*> compressor_by_id(uint32_t id) {
  if (id >= kCodecNames.size()) return Status::corruption(fmt::format("no codec has the number {}", id));
  const Compressor* compressor = table()[id].get();
  if (compressor == nullptr) return not_built(kCodecNames[id]);
  return compressor;
}

Result<const Compressor*> compressor_by_name(std::string_view name) {
  for (uint32_t id = 0; id < kCodecNames.size(); ++id) {
    if (same_but_for_case(name, kCodecNames[id])) return compressor_by_id(id);
  }
  std::vector<std::string> known;
  for (uint32_t id = 0; id < kCodecNames.size(); ++id)
    if (table()[id] != nullptr) known.push_back(lower_ascii(kCodecNames[id]));
  const std::string nearest = nearest_hint(lower_ascii(name), known);
  return Status::invalid_argument(fmt::format("unknown compression \"{}\"", escaped(name.substr(0, 64))))
      .hinting(nearest.empty() ? fmt::format("this build has: {}", fmt::join(known, ", ")) : nearest);
}

Result<std::shared_ptr<const Compressor>> make_compressor(std::string_view text) {
  CELLAR_TRY_ASSIGN(const PluginParams params, PluginParams::parse(text));
  CELLAR_TRY_ASSIGN(const Compressor* const plain, compressor_by_name(params.name()));
  if (text.find('(') == text.npos) {
    return std::shared_ptr<const Compressor>(std::shared_ptr<void>(), plain);  // lives forever, owned by none
  }
  CELLAR_TRY_ASSIGN(std::unique_ptr<Compressor> made,
                    Registry<Compressor>::instance().make(lower_ascii(text)));
  return std::shared_ptr<const Compressor>(std::move(made));
}

std::string_view codec_name(uint32_t id) { return id < kCodecNames.size() ? kCodecNames[id] : ""; }

}  // namespace cellar
