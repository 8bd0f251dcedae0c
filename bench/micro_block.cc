// One data block with narrow rows of one cell, or wide ones of 64. Every encoding of the build encodes and
// decodes its cells, and every codec compresses and decompresses its bytes. Blocks of every codec are read
// from the page cache.
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "base/checksum.h"
#include "base/random.h"
#include "bench/bed.h"
#include "bench/hfile_bed.h"
#include "bench/workload/data.h"
#include "cellar/compressor.h"
#include "hfile/codec/codecs.h"
#include "hfile/encoding/encoding.h"

namespace cellar::bench {
namespace {

constexpr uint64_t kColumnsWide = 64;
constexpr size_t kBlockBytes = 16384;

std::vector<OwnedCell> cells_of_a_block(bool wide) {
  std::vector<OwnedCell> cells;
  size_t bytes = 0;
  for (uint64_t i = 0; bytes < kBlockBytes; ++i) {
    OwnedCell& cell = cells.emplace_back();
    cell.assign(numbered("user", wide ? i / kColumnsWide : i), "d",
                wide ? numbered("column", i % kColumnsWide, 4) : "name",
                1'700'000'000'000 + static_cast<int64_t>(mixed(i) % 1000), CellType::kPut, 0, text_of(i, 40));
    bytes += 8 + cell.view().key_size + cell.view().value_size;
  }
  return cells;
}

const BlockEncoding& encoding_of(const std::string& name) {
  const Result<const BlockEncoding*> encoding = encoding_by_name(name);
  if (!encoding.ok()) give_up(encoding.status());
  return **encoding;
}

std::string encoded(const std::string& encoding, const std::vector<OwnedCell>& cells) {
  const std::unique_ptr<BlockEncoder> encoder = encoding_of(encoding).make_encoder({});
  for (const OwnedCell& cell : cells) encoder->add(cell.view());
  std::string payload;
  encoder->finish(payload);
  return payload;
}

void count(benchmark::State& state, size_t cells, size_t bytes) {
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(cells));
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(bytes));
  state.counters["bytes/cell"] = static_cast<double>(bytes) / static_cast<double>(cells);
}

void encode(benchmark::State& state, const std::string& encoding, bool wide) {
  const std::vector<OwnedCell> cells = cells_of_a_block(wide);
  const std::unique_ptr<BlockEncoder> encoder = encoding_of(encoding).make_encoder({});
  std::string payload;
  for (auto unused : state) {
    static_cast<void>(unused);
    for (const OwnedCell& cell : cells) encoder->add(cell.view());
    encoder->finish(payload);
  }
  count(state, cells.size(), payload.size());
}

void decode(benchmark::State& state, const std::string& encoding, bool wide) {
  const std::vector<OwnedCell> cells = cells_of_a_block(wide);
  const std::string payload = encoded(encoding, cells);
  const std::unique_ptr<BlockWalker> walker = encoding_of(encoding).make_walker({});
  uint64_t walked = 0;
  for (auto unused : state) {
    static_cast<void>(unused);
    if (const Status status = walker->open(payload); !status.ok()) give_up(status);
    while (walker->next() != nullptr) ++walked;
    if (!walker->status().ok()) give_up(walker->status());
  }
  if (walked != cells.size() * static_cast<uint64_t>(state.iterations()))
    state.SkipWithError("cells are missing");
  count(state, cells.size(), payload.size());
}

const Compressor& codec_of(const std::string& name) {
  const Result<const Compressor*> codec = compressor_by_name(name);
  if (!codec.ok()) give_up(codec.status());
  return **codec;
}

void compress(benchmark::State& state, const std::string& codec) {
  const std::string payload = encoded("none", cells_of_a_block(false));
  std::string body;
  for (auto unused : state) {
    static_cast<void>(unused);
    body.clear();
    if (const Status status = codec_of(codec).compress(payload, body); !status.ok()) give_up(status);
  }
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(payload.size()));
  state.counters["compression ratio"] =
      static_cast<double>(payload.size()) / static_cast<double>(body.size());
}

void decompress(benchmark::State& state, const std::string& codec) {
  const std::string payload = encoded("none", cells_of_a_block(false));
  std::string body;
  if (const Status status = codec_of(codec).compress(payload, body); !status.ok()) give_up(status);
  std::string back(payload.size(), ' ');
  for (auto unused : state) {
    static_cast<void>(unused);
    const Status status = codec_of(codec).decompress(body, back.size(), back.data());
    if (!status.ok()) give_up(status);
  }
  if (back != payload) state.SkipWithError("the decompressed bytes differ");
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(payload.size()));
}

// The cells of a block of the driver's store that begins with this row.
std::vector<OwnedCell> cells_of_the_driver(uint64_t row) {
  std::vector<OwnedCell> cells;
  RowKey key;
  ValueMaker values;
  for (size_t bytes = 0; bytes < kBlockBytes; ++row) {
    OwnedCell& cell = cells.emplace_back();
    cell.assign(key.present(row).view(), "f", "q0", 1'700'000'000'000 + static_cast<int64_t>(row % 1000),
                CellType::kPut, 0, values.of(row, 0));
    bytes += 8 + cell.view().key_size + cell.view().value_size;
  }
  return cells;
}

// Blocks in a file, which the system has in its page cache.
class FileOfBlocks {
 public:
  struct Block {
    uint64_t offset = 0;
    size_t bytes = 0;
    size_t payload_bytes = 0;
    uint32_t sum = 0;
  };

  FileOfBlocks(const std::string& codec, size_t blocks) : file_(std::tmpfile()) {
    if (file_ == nullptr) give_up(Status::io_error("cannot create a temporary file"));
    std::string body;
    uint64_t offset = 0;
    for (size_t i = 0; i < blocks; ++i) {
      const std::string payload = encoded("none", cells_of_the_driver(i * 1000));
      body.clear();
      if (const Status status = codec_of(codec).compress(payload, body); !status.ok()) give_up(status);
      if (std::fwrite(body.data(), 1, body.size(), file_) != body.size())
        give_up(Status::io_error("cannot write the temporary file"));
      blocks_.push_back({offset, body.size(), payload.size(), crc32c(body)});
      offset += body.size();
    }
    if (std::fflush(file_) != 0) give_up(Status::io_error("cannot write the temporary file"));
  }
  ~FileOfBlocks() { std::fclose(file_); }
  FileOfBlocks(const FileOfBlocks&) = delete;
  FileOfBlocks& operator=(const FileOfBlocks&) = delete;

  const std::vector<Block>& blocks() const { return blocks_; }
  bool read(const Block& block, std::string& into) const {
    into.resize(block.bytes);
    return pread(fileno(file_), into.data(), block.bytes, static_cast<off_t>(block.offset)) ==
           static_cast<ssize_t>(block.bytes);
  }

 private:
  std::FILE* const file_;
  std::vector<Block> blocks_;
};

// Reads random blocks: one call of the system, the checksum of the bytes, and their decompression. A get that
// misses the block cache cannot do without these. No index is searched, no block is kept, and no cell is
// looked at. The rate is the most that get_hit_pagecache of the driver can reach with this codec.
void read_a_block(benchmark::State& state, const std::string& codec) {
  const FileOfBlocks file(codec, scaled(4096, 64));
  Random random(1);
  std::string body;
  std::string payload(2 * kBlockBytes, ' ');
  for (auto unused : state) {
    static_cast<void>(unused);
    const FileOfBlocks::Block& block = file.blocks()[random.below(file.blocks().size())];
    if (!file.read(block, body) || crc32c(body) != block.sum) {
      state.SkipWithError("a block was not read as it was written");
      break;
    }
    const Status status = codec_of(codec).decompress(body, block.payload_bytes, payload.data());
    if (!status.ok()) give_up(status);
    benchmark::DoNotOptimize(payload.data());
  }
  state.SetItemsProcessed(state.iterations());
}

[[maybe_unused]] const bool registered_micro_block = [] {
  for (const std::string& encoding : encoding_names()) {
    for (const bool wide : {false, true}) {
      const std::string suffix = fmt::format("encoding:{}/rows:{}", encoding, wide ? "wide" : "narrow");
      benchmark::RegisterBenchmark(("block/encode/" + suffix).c_str(),
                                   [=](benchmark::State& state) { encode(state, encoding, wide); });
      benchmark::RegisterBenchmark(("block/decode/" + suffix).c_str(),
                                   [=](benchmark::State& state) { decode(state, encoding, wide); });
    }
  }
  for (const std::string& codec : codec_names()) {
    benchmark::RegisterBenchmark(("block/compress/codec:" + codec).c_str(),
                                 [=](benchmark::State& state) { compress(state, codec); });
    benchmark::RegisterBenchmark(("block/decompress/codec:" + codec).c_str(),
                                 [=](benchmark::State& state) { decompress(state, codec); });
    benchmark::RegisterBenchmark(("block/read/codec:" + codec).c_str(),
                                 [=](benchmark::State& state) { read_a_block(state, codec); });
  }
  return true;
}();

}  // namespace
}  // namespace cellar::bench
