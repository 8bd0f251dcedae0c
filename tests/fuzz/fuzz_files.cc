// Small files, as Cellar's writer makes them.
#include "tests/fuzz/fuzz_files.h"

#include "base/assert.h"
#include "base/plugins.h"
#include "cell/cell_codec.h"
#include "cell/cell_key.h"
#include "hfile/codec/codecs.h"
#include "hfile/encoding/encoding.h"
#include "tests/support/byte_files.h"

namespace cellar::fuzz {
namespace {

std::string numbered(const char* text, size_t number) {
  const std::string digits = std::to_string(number);
  return text + std::string(4 - std::min<size_t>(digits.size(), 4), '0') + digits;
}

}  // namespace

std::string small_file(const HFileWriterOptions& options, size_t cells, Sibling sibling) {
  constexpr CellType types[] = {CellType::kPut, CellType::kPut, CellType::kPut, CellType::kDeleteColumn,
                                CellType::kDelete};
  testing::StringFile file;
  const std::unique_ptr<HFileWriter> writer = HFileWriter::create(file, options).value();
  const std::string ttl("\x00\x09\x08\x00\x00\x00\x00\x00\x36\xee\x80", 11);
  std::string key;
  for (size_t i = 0; i < cells; ++i) {
    key.clear();
    const bool marker = i % 16 == 0;
    const std::string row = numbered(sibling == Sibling::kOtherRows ? "sow" : "row", i / 8);
    append_flat_key(key, row, "f", marker ? "" : numbered("q", i % 8),
                    static_cast<int64_t>(1'700'000'000'000 - i % 3),
                    marker ? CellType::kDeleteFamily : types[i % std::size(types)]);
    CellView cell;
    CELLAR_ASSERT(parse_flat_key(key.data(), key.size(), cell));
    const char letter = sibling == Sibling::kOtherValues ? 'A' : 'a';
    const std::string value(marker ? 0 : i % 20, static_cast<char>(letter + i % 26));
    cell.value = value.data();
    cell.value_size = static_cast<uint32_t>(value.size());
    if (options.tags && i % 4 == 1) {
      cell.tags = ttl.data();
      cell.tags_size = static_cast<uint16_t>(ttl.size());
    }
    cell.sequence = options.mvcc ? (sibling == Sibling::kOtherTime ? 2000 : 1000) - i : 0;
    const Status added = writer->add(cell);
    CELLAR_ASSERT(added.ok());
  }
  CELLAR_ASSERT(writer->finish().ok());
  return file.bytes();
}

std::vector<std::string> small_files() {
  constexpr size_t kCells = 20;
  std::vector<std::string> files;
  register_hfile_plugins();
  HFileWriterOptions options;
  options.bloom = "row";
  options.block_bytes = 200;
  options.bloom_chunk_bytes = 64;
  for (const std::string& encoding : Registry<BlockEncoding>::instance().names()) {
    for (const bool full : {false, true}) {
      options.encoding = encoding;
      options.tags = options.mvcc = full;
      options.compress_tags = full;
      files.push_back(small_file(options, kCells));
    }
  }
  for (uint32_t codec = 0; codec < kCodecCount; ++codec) {
    if (!compressor_by_id(codec).ok()) continue;
    options.compression = std::string(codec_name(codec));
    files.push_back(small_file(options, kCells));
  }
  options.compression = "none";
  for (const char* bloom : {"none", "rowcol", "rowprefix_fixed_length(prefix_length=5)"}) {
    options.bloom = bloom;
    files.push_back(small_file(options, kCells));
  }
  files.push_back(small_file(options, 0));
  files.push_back(small_file(options, 1));
  options.index_chunk_bytes = 64;
  options.index_entries_min = 2;
  options.block_bytes = 60;
  files.push_back(small_file(options, 24));
  return files;
}

}  // namespace cellar::fuzz
