// The cost of an append to the log, by size of the record, in memory and on the disk of TMPDIR. A second case
// also syncs each append.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>

#include "base/coding.h"
#include "base/memory_file_system.h"
#include "cellar/environment.h"
#include "engine/log/wal_writer.h"

namespace cellar {

namespace {

constexpr uint64_t kRelease = 4096;  // records between releases, so that the disk stays small

// One log in a directory that goes away with it.
struct Bed {
  explicit Bed(bool on_disk, uint64_t segment_bytes) {
    std::string path = "store";
    if (on_disk) {
      std::string pattern = (std::filesystem::temp_directory_path() / "cellar-bench-wal-").string() +
                            "\x58\x58\x58\x58\x58\x58";
      scratch = mkdtemp(pattern.data());
      path = scratch + "/store";
    } else {
      memory = make_memory_file_system();
    }
    root = std::move((on_disk ? posix_file_system() : *memory).open_directory(path, true)).value();
    static_cast<void>(root->directory("wal", true).ok());
    wal = std::move(Wal::create(*root, *executor, {.identity = {1, 2}, .segment_bytes = segment_bytes}))
              .value();
  }
  ~Bed() {
    wal.reset();
    executor.reset();
    std::error_code ignored;
    if (!scratch.empty()) std::filesystem::remove_all(scratch, ignored);
  }

  std::string scratch;
  std::unique_ptr<FileSystem> memory;
  std::unique_ptr<Directory> root;
  std::unique_ptr<Executor> executor = make_thread_executor(1, 1);
  std::unique_ptr<Wal> wal;
};

// Arguments: bytes of the value, 1 for the disk. Building the record is included.
void append(benchmark::State& state) {
  Bed bed(state.range(1) != 0, 64 << 20);
  std::string key;
  append_be16(key, 16);
  key += "row-000000000001\1fqualifier";
  append_be64(key, 1'700'000'000'000);
  key.push_back(static_cast<char>(CellType::kPut));
  const std::string value(static_cast<size_t>(state.range(0)), 'v');
  RecordBuilder builder;
  uint64_t sequence = 0;
  for (auto each : state) {
    builder.begin();
    key.copy(builder.add(1, key.size(), value, {}), key.size());
    const Status status = bed.wal->append(++sequence, 1, builder.finish(5));
    if (!status.ok()) state.SkipWithError(std::string(status.message()).c_str());
    if (sequence % kRelease == 0)
      static_cast<void>(bed.wal->release_before(bed.wal->needed_from(sequence)).ok());
  }
  state.SetBytesProcessed(static_cast<int64_t>(sequence * (key.size() + value.size())));
}
BENCHMARK(append)->ArgNames({"value", "disk"})->ArgsProduct({{16, 100, 1000, 16384}, {0, 1}});

// One record and one sync, on the disk.
void append_and_sync(benchmark::State& state) {
  Bed bed(true, 16 << 20);
  const std::string payload(200, 'p');
  uint64_t sequence = 0;
  for (auto each : state) {
    Status status = bed.wal->append(++sequence, 1, payload);
    if (status.ok()) status = bed.wal->sync();
    if (!status.ok()) state.SkipWithError(std::string(status.message()).c_str());
  }
}
BENCHMARK(append_and_sync)->UseRealTime();

}  // namespace

}  // namespace cellar
