// Whole HFiles in memory, by encoding and codec. They are written, walked from end to end with and without
// the block cache, and searched for random rows. Their Bloom filters are asked, too.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <memory>
#include <string>

#include "base/random.h"
#include "bench/bed.h"
#include "bench/hfile_bed.h"
#include "cell/cell_key.h"
#include "hfile/encoding/encoding.h"
#include "hfile/read/hfile_reader.h"

namespace cellar::bench {
namespace {

constexpr uint64_t kCache = 256u << 20;
uint64_t file_cells() { return scaled(100'000, 2000); }

void make_cell(uint64_t i, OwnedCell& cell) {
  cell.assign(numbered("user", i), "d", "name", 1'700'000'000'000 + static_cast<int64_t>(mixed(i) % 1000),
              CellType::kPut, 0, text_of(i, 100));
}

struct Format {
  std::string encoding;
  std::string codec;
  std::string text() const { return fmt::format("encoding:{}/codec:{}", encoding, codec); }
  HFileWriterOptions options() const {
    return {.compression = codec, .encoding = encoding, .block_bytes = 16384, .bloom = "row"};
  }
};

const FileInMemory& file_of(const Format& format) {
  static std::string kept_name;
  static std::unique_ptr<FileInMemory> kept;
  if (kept == nullptr || kept_name != format.text()) {
    kept = std::make_unique<FileInMemory>(file_cells(), make_cell, format.options());
    kept_name = format.text();
  }
  return *kept;
}

void count(benchmark::State& state, uint64_t cells, const FileInMemory& file) {
  state.SetItemsProcessed(static_cast<int64_t>(cells));
  state.counters["bytes/cell"] = file.bytes_per_cell();
}

// Making the cells is included: a fifth or so of it.
void write(benchmark::State& state, const Format& format) {
  for (auto unused : state) {
    static_cast<void>(unused);
    const FileInMemory file(file_cells(), make_cell, format.options());
    benchmark::DoNotOptimize(file.summary().file_bytes);
  }
  count(state, file_cells() * static_cast<uint64_t>(state.iterations()), file_of(format));
}

void scan(benchmark::State& state, const Format& format, bool cached) {
  const FileInMemory& file = file_of(format);
  const std::shared_ptr<HFileReader> reader = file.open(cached ? kCache : 0);
  uint64_t cells = 0;
  if (cached && !scan_file(*reader, true).ok()) state.SkipWithError("the file cannot be walked");
  for (auto unused : state) {
    static_cast<void>(unused);
    const Result<uint64_t> walked = scan_file(*reader, cached);
    if (!walked.ok()) give_up(walked.status());
    cells += *walked;
  }
  if (cells != file_cells() * static_cast<uint64_t>(state.iterations()))
    state.SkipWithError("cells are missing");
  count(state, cells, file);
}

void seek(benchmark::State& state, const Format& format, bool cached) {
  const FileInMemory& file = file_of(format);
  const std::shared_ptr<HFileReader> reader = file.open(cached ? kCache : 0);
  if (cached && !scan_file(*reader, true).ok()) state.SkipWithError("the file cannot be walked");
  const std::unique_ptr<CellCursor> cursor = reader->cursor({.fill_cache = cached});
  Random random(6);
  OwnedCell wanted;
  uint64_t found = 0;
  for (auto unused : state) {
    static_cast<void>(unused);
    const std::string row = numbered("user", random.below(file_cells()));
    first_of_row(wanted, row);
    const CellView* cell = cursor->seek(wanted.view());
    if (cell != nullptr && cell->row() == row) ++found;
  }
  if (found != static_cast<uint64_t>(state.iterations())) state.SkipWithError("a row was not found");
  count(state, found, file);
}

void may_contain(benchmark::State& state, bool inside) {
  const std::shared_ptr<HFileReader> reader = file_of({"none", "none"}).open(0);
  Random random(7);
  uint64_t yes = 0;
  for (auto unused : state) {
    static_cast<void>(unused);
    std::string row = numbered("user", random.below(file_cells()));
    if (!inside) row += "x";
    if (reader->may_contain_row(row, nullptr)) ++yes;
  }
  if (inside && yes != static_cast<uint64_t>(state.iterations())) state.SkipWithError("a row is denied");
  state.SetItemsProcessed(state.iterations());
  state.counters["yes"] = static_cast<double>(yes) / static_cast<double>(state.iterations());
}

[[maybe_unused]] const bool registered_micro_hfile = [] {
  for (const std::string& encoding : encoding_names()) {
    for (const std::string& codec : codec_names()) {
      const Format format{encoding, codec};
      const std::string suffix = format.text();
      benchmark::RegisterBenchmark(("hfile/write/" + suffix).c_str(), [=](benchmark::State& state) {
        write(state, format);
      })->Unit(benchmark::kMillisecond);
      for (const bool cached : {true, false}) {
        const std::string blocks = cached ? "/blocks:cached" : "/blocks:read";
        benchmark::RegisterBenchmark(("hfile/scan/" + suffix + blocks).c_str(), [=](benchmark::State& state) {
          scan(state, format, cached);
        })->Unit(benchmark::kMillisecond);
        benchmark::RegisterBenchmark(("hfile/seek/" + suffix + blocks).c_str(),
                                     [=](benchmark::State& state) { seek(state, format, cached); });
      }
    }
  }
  for (const bool inside : {true, false}) {
    benchmark::RegisterBenchmark(inside ? "hfile/may_contain/hit" : "hfile/may_contain/miss",
                                 [=](benchmark::State& state) { may_contain(state, inside); });
  }
  return true;
}();

}  // namespace
}  // namespace cellar::bench
