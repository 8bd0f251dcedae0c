// The golden files' cells, made from their rules.
#include "tests/hfile/golden_cells.h"

#include <gtest/gtest.h>

#include <cstdio>

#include "base/coding.h"
#include "hfile/codec/codecs.h"

namespace cellar::testing {
namespace {

constexpr int64_t kTime = 1700000000000;
constexpr std::pair<const char*, const char*> kEncoded[] = {
    {"g9", "prefix"}, {"g10", "diff"}, {"g11", "fast_diff"}, {"g12", "fast_diff"}, {"g13", "row_index"}};

std::string row_name(int r) {
  char text[16];
  std::snprintf(text, sizeof text, "row%06d", r);
  return text;
}

std::vector<Cell> tiny_cells() {
  std::string ttl;
  append_tag(ttl, kTtlTag, std::string("\x00\x00\x00\x00\x00\x36\xee\x80", 8));
  std::vector<Cell> cells = {{"row1", "f", "a", kTime, CellType::kPut, "v1"},
                             {"row1", "f", "ab", kTime, CellType::kPut, "v1"},
                             {"row2", "f", "", kTime + 500, CellType::kDeleteFamily, ""},
                             {"row2", "f", "a", kTime - 1, CellType::kPut, "v22"}};
  cells[0].tags = cells[3].tags = ttl;
  cells[0].sequence = 7;
  cells[1].sequence = 300;
  return cells;
}

std::vector<Cell> numbered_cells() {
  std::vector<Cell> cells;
  for (int r = 0; r < 2000; ++r) {
    if (r % 10 == 0) cells.push_back({row_name(r), "cf", "", kTime + r, CellType::kDeleteFamily, ""});
    const std::string value = repeated("v" + std::to_string(r), r % 5 + 1);
    std::string tags;
    if (r % 3 == 0) append_tag(tags, 65, "t" + std::to_string(r % 4));
    for (const char* qualifier : {"a", "bb"}) {
      cells.push_back({row_name(r), "cf", qualifier, kTime + 7 * r, CellType::kPut, value});
      cells.back().tags = tags;
    }
    for (auto cell = cells.rbegin(); cell != cells.rend() && cell->row == row_name(r); ++cell) {
      cell->sequence = static_cast<uint64_t>(r);
    }
  }
  return cells;
}

std::vector<Cell> compressible_cells() {
  std::vector<Cell> cells;
  for (int r = 0; r < 4000; ++r) {
    const std::string value = repeated("v" + std::to_string(r), 4 * (r % 5 + 1));
    for (const char* qualifier : {"a", "bb"}) {
      cells.push_back({row_name(r), "cf", qualifier, kTime + 7 * r, CellType::kPut, value});
    }
  }
  return cells;
}

HFileWriterOptions common_options() {
  HFileWriterOptions options;
  options.create_time_ms = kTime + 123;
  return options;
}

}  // namespace

std::vector<GoldenFile> golden_files() {
  const HFileWriterOptions common = common_options();
  HFileWriterOptions small = common;
  small.block_bytes = 4096;
  std::vector<GoldenFile> files = {{"tiny", common}, {"g1", common}};
  files[0].options.tags = files[0].options.mvcc = true;
  files[0].options.bloom = "row";
  files[0].options.bloom_chunk_bytes = 64;
  for (const char* name :
       {"g2", "g3", "g4", "g5", "g6", "g8", "g9", "g10", "g11", "g12", "g13", "g14", "g15"})
    files.push_back({name, small});
  files.push_back({"g7", small});
  for (auto& [name, options] : files) {
    if (name == "g3") options.tags = options.mvcc = true;
    if (name == "g4" || name == "g5") options.bloom = "row";
    if (name == "g5") options.bloom_hash = BloomHash::kMurmur3;
    if (name == "g5") options.bloom_chunk_bytes = 256;
    if (name == "g6") options.bloom = "rowcol";
    if (name == "g6") options.bloom_hash = BloomHash::kJenkins;
    if (name == "g6") options.bloom_chunk_bytes = 512;
    if (name == "g7") options.bloom = "rowprefix_fixed_length(prefix_length=7)";
    if (name == "g7") options.bloom_chunk_bytes = 128;
    if (name == "g8") options.block_bytes = 1024;
    if (name == "g8") options.index_chunk_bytes = 512;
    if (name == "g8") options.index_entries_min = 4;
    for (const auto& [file, encoding] : kEncoded) {
      if (name != file) continue;
      options.encoding = encoding;
      options.tags = options.mvcc = true;
    }
    if (name == "g12") options.compress_tags = true;
    if (name == "g14") options.checksum = ChecksumType::kCrc32;
    if (name == "g14") options.bytes_per_checksum = 512;
    if (name == "g15") options.checksum = ChecksumType::kNull;
  }
  for (const std::string codec : {"GZ", "SNAPPY", "LZ4", "ZSTD", "LZMA"}) {
    if (!compressor_by_name(codec).ok()) continue;  // not in this build
    for (const uint32_t block_bytes : {65536u, 300000u}) {
      files.push_back({"c_" + codec + "_" + std::to_string(block_bytes), common});
      // The module that wrote the files puts zstd's frames into Hadoop's block framing.
      files.back().options.compression = codec == "ZSTD" ? "zstd(framing=hbase)" : codec;
      files.back().options.block_bytes = block_bytes;
      files.back().options.bloom = "row";
    }
  }
  return files;
}

GoldenFile golden_file(const std::string& name) {
  for (const GoldenFile& file : golden_files()) {
    if (file.name == name) return file;
  }
  ADD_FAILURE() << "no golden file is called " << name;
  return {};
}

std::vector<Cell> golden_cells(const GoldenFile& file) {
  std::vector<Cell> cells = file.name == "tiny"           ? tiny_cells()
                            : file.name.starts_with("c_") ? compressible_cells()
                                                          : numbered_cells();
  for (Cell& cell : cells) {
    if (!file.options.tags) cell.tags.clear();
    if (!file.options.mvcc) cell.sequence = 0;
  }
  return cells;
}

Facts golden_facts() {
  std::string loaded;
  append_be64(loaded, kTime + 456);
  return {{"BULKLOAD_TIMESTAMP", loaded}, {"MAJOR_COMPACTION_KEY", "\xff"}};
}

std::string golden_bytes(const std::string& name) {
  return read_test_file(std::string(CELLAR_TEST_DATA_DIR) + "/golden/" + name + ".hfile");
}

}  // namespace cellar::testing
