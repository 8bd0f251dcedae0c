// How a file like another one is written: what its trailer, its file info and its first block say.
#include "hfile/write/writer_options_like.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "base/coding.h"
#include "hfile/block/file_parts.h"
#include "hfile/codec/codecs.h"
#include "hfile/read/hfile_reader.h"

namespace cellar {
namespace {

constexpr uint32_t kZstd = 6;
constexpr uint32_t kZstdFrame =
    0x28B52FFD;  // what a bare zstd frame begins with, most significant byte first

// Facts that the writer makes itself, from the cells or from its options.
bool made_by_writer(std::string_view key) {
  constexpr std::string_view kKeys[] = {
      info_key::kKeyValueVersion,    info_key::kMaxMvcc,           info_key::kDataBlockEncoding,
      info_key::kIndexBlockEncoding, info_key::kBloomType,         info_key::kBloomParam,
      info_key::kLastBloomKey,       info_key::kDeleteFamilyCount, info_key::kTimeRange,
      info_key::kEarliestPut,        info_key::kCellCounts,        info_key::kEarliestDelete};
  return key.starts_with("hfile.") || std::ranges::count(kKeys, key) > 0;
}

// The option text of the codec. ZSTD has two forms, which nothing in the file names but the blocks
// themselves.
Result<std::string> codec_option_of(const FileParts& parts) {
  std::string name(codec_name(parts.trailer.codec));
  if (parts.trailer.codec != kZstd || parts.trailer.load_on_open_offset == 0) return name;
  CELLAR_TRY_ASSIGN(const BlockHeader header,
                    parts.blocks->read_header(0, parts.trailer.load_on_open_offset));
  char begin[4] = {};
  if (header.body_bytes < sizeof begin) return name;
  CELLAR_TRY(parts.file->read(header.header_bytes, sizeof begin, begin));
  return load_be32(begin) == kZstdFrame ? name : name + "(framing=hbase)";
}

// A filter that is not understood is not written again.
std::string bloom_option_of(const FileParts& parts) {
  if (parts.bloom == nullptr || parts.bloom_type == nullptr) return "none";
  const size_t bytes = parts.bloom_type->prefix_bytes();
  return bytes == 0 ? parts.bloom_type_name
                    : fmt::format("{}(prefix_length={})", parts.bloom_type_name, bytes);
}

}  // namespace

Result<HFileWriterOptions> writer_options_like(const HFileReader& file) {
  const FileParts& parts = file.parts();
  HFileWriterOptions options;
  CELLAR_TRY_ASSIGN(options.compression, codec_option_of(parts));
  options.encoding = file.encoding_name();
  options.bloom = bloom_option_of(parts);
  if (parts.bloom != nullptr) options.bloom_hash = parts.bloom->facts().hash;
  options.tags = parts.format.tags;
  options.compress_tags = parts.format.tags_compressed;
  options.mvcc = parts.format.mvcc;
  options.trailer_sums = options.cell_counts = true;
  if (parts.meta_order) options.comparator = parts.trailer.comparator;
  return options;
}

Status copy_facts(const HFileReader& from, HFileWriter& to) {
  for (const auto& [key, value] : from.info().entries()) {
    if (!made_by_writer(key)) CELLAR_TRY(to.set_info(key, value));
  }
  const FileParts& parts = from.parts();
  for (const MetaBlockEntry& meta : parts.meta_blocks) {
    CELLAR_TRY_ASSIGN(Block * block, parts.blocks->read(meta.offset, meta.disk_bytes,
                                                        parts.trailer.load_on_open_offset, nullptr, nullptr));
    const Pin pin(block);
    CELLAR_TRY(to.add_meta_block(meta.name, std::string(block->payload())));
  }
  return {};
}

}  // namespace cellar
