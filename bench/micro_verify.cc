// The speed of verifying a large file, by level and threads. It is compared with the limits of the machine:
// checksums of all its bytes alone, and decompression of its blocks alone. Bytes are those of the file.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>

#include "base/checksum.h"
#include "bench/bed.h"
#include "bench/hfile_bed.h"
#include "cellar/environment.h"
#include "hfile/block/file_parts.h"
#include "hfile/check/verify.h"
#include "hfile/read/hfile_reader.h"

namespace cellar::bench {
namespace {

// 1 GiB on disk.
uint64_t large_file_cells() { return scaled(13'720'000, 20'000); }

void make_large_cell(uint64_t i, OwnedCell& cell) {
  cell.assign(numbered("user", i), "d", "name", 1'700'000'000'000, CellType::kPut, 0, text_of(i, 100));
}

const FileInMemory& large_file() {
  static const FileInMemory file(large_file_cells(), make_large_cell,
                                 {.compression = "snappy", .bloom = "row"});
  return file;
}

void verify_file(benchmark::State& state, VerifyLevel level, int jobs) {
  const FileInMemory& file = large_file();
  std::unique_ptr<Executor> executor;
  if (jobs > 1) executor = make_thread_executor(jobs - 1, 1);
  for (auto unused : state) {
    static_cast<void>(unused);
    const VerifyReport report =
        verify(file.open_file(), {.name = "file", .level = level, .executor = executor.get()});
    if (report.verdict != VerifyVerdict::kSound) state.SkipWithError("the file is not sound");
  }
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(file.summary().file_bytes));
}

// Every byte read and summed, in pieces as long as those of the format.
void sums_alone(benchmark::State& state) {
  const std::unique_ptr<ReadableFile> file = large_file().open_file();
  std::string window(1 << 20, '\0');
  uint32_t all = 0;
  for (auto unused : state) {
    static_cast<void>(unused);
    for (uint64_t at = 0; at < file->size(); at += window.size()) {
      const size_t bytes = std::min<uint64_t>(window.size(), file->size() - at);
      if (const Status read = file->read(at, bytes, window.data()); !read.ok()) give_up(read);
      for (size_t piece = 0; piece < bytes; piece += kBytesPerChecksum)
        all ^= crc32c(
            std::string_view(window).substr(piece, std::min<size_t>(kBytesPerChecksum, bytes - piece)));
    }
  }
  benchmark::DoNotOptimize(all);
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(file->size()));
}

// Every block before the load-on-open section decompressed; no sums, no cells.
void decompression_alone(benchmark::State& state) {
  const std::shared_ptr<HFileReader> reader = large_file().open(0);
  const BlockReader& blocks = *reader->parts().blocks;
  const uint64_t end = reader->trailer().load_on_open_offset;
  std::string disk;
  for (auto unused : state) {
    static_cast<void>(unused);
    for (uint64_t at = 0; at < end; at += disk.size()) {
      const Result<BlockHeader> header = blocks.read_header(at, end);
      if (!header.ok()) give_up(header.status());
      disk.resize(header->disk_bytes());
      if (const Status read = blocks.file().read(at, disk.size(), disk.data()); !read.ok()) give_up(read);
      const Result<Block*> block = blocks.decode(disk, *header, at);
      if (!block.ok()) give_up(block.status());
      const Pin pin(*block);
    }
  }
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(large_file().summary().file_bytes));
}

[[maybe_unused]] const bool registered_micro_verify = [] {
  const auto run = [](const std::string& name, const auto& body) {
    benchmark::RegisterBenchmark(name.c_str(), body)->UseRealTime()->Unit(benchmark::kMillisecond);
  };
  run("verify/machine:crc32c", sums_alone);
  run("verify/machine:decompress", decompression_alone);
  for (const VerifyLevel level : {VerifyLevel::kBlocks, VerifyLevel::kCells, VerifyLevel::kDeep}) {
    for (const int jobs : {1, 2}) {
      run(fmt::format("verify/level:{}/jobs:{}", verify_level_name(level), jobs),
          [level, jobs](benchmark::State& state) { verify_file(state, level, jobs); });
    }
  }
  return true;
}();

}  // namespace
}  // namespace cellar::bench
