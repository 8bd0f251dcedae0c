// Claims about bytes: short names (Q12), rows next to similar rows (Q16), and the size of a block
// by codec (Q17).
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <functional>
#include <memory>
#include <string>

#include "base/random.h"
#include "bench/bed.h"
#include "bench/completions.h"
#include "bench/hfile_bed.h"
#include "hfile/encoding/encoding.h"
#include "hfile/read/hfile_reader.h"

namespace cellar::bench {
namespace {

// ---- Q12: names of 1, 8 and 32 bytes ----

// Rows of four columns with values of eight bytes that a codec cannot shorten: what a counter table holds.
void q12_cell(uint64_t i, size_t name_bytes, OwnedCell& cell) {
  constexpr uint64_t kColumns = 4;
  const std::string filler = "a_rather_long_name_of_some_column";
  const uint64_t value = mixed(i);
  std::string qualifier = filler.substr(0, name_bytes);
  qualifier.back() = static_cast<char>('a' + i % kColumns);
  cell.assign(numbered("user", i / kColumns), filler.substr(0, name_bytes), qualifier, 1'700'000'000'000,
              CellType::kPut, 0, {reinterpret_cast<const char*>(&value), sizeof value});
}

void q12(benchmark::State& state, size_t name_bytes, const std::string& encoding, const std::string& codec) {
  scan_uncached(state, file_of(fmt::format("q12 {} {} {}", name_bytes, encoding, codec), [&] {
                  return std::make_unique<FileInMemory>(
                      scaled(100'000, 2000),
                      [=](uint64_t i, OwnedCell& cell) { q12_cell(i, name_bytes, cell); },
                      HFileWriterOptions{.compression = codec, .encoding = encoding});
                }));
}

void register_q12() {
  for (const std::string& encoding : encoding_names()) {
    for (const std::string& codec : codec_names()) {
      for (const size_t name_bytes : {1, 8, 32}) {
        benchmark::RegisterBenchmark(
            fmt::format("Claim/Q12_names/encoding:{}/codec:{}/name_bytes:{}", encoding, codec, name_bytes)
                .c_str(),
            [=](benchmark::State& state) { q12(state, name_bytes, encoding, codec); })
            ->Unit(benchmark::kMillisecond);
      }
    }
  }
}

// ---- Q16: completions of prefixes, neighbours together or apart ----

// The rows of one order: as they are, or with a hash in front, which parts neighbours.
const Completions& rows_in_order(bool hashed) {
  static const Completions sorted = completions_of(made_up_titles(scaled(20'000, 400)));
  static const Completions apart = [] {
    Completions all;
    for (const auto& [prefix, json] : sorted)
      all[fmt::format("{:08x}{}", mixed(std::hash<std::string>()(prefix)) >> 32, prefix)] = json;
    return all;
  }();
  return hashed ? apart : sorted;
}

void q16(benchmark::State& state, bool hashed, const std::string& codec) {
  const Completions& rows = rows_in_order(hashed);
  scan_uncached(state, file_of(fmt::format("q16 {} {}", hashed, codec), [&] {
                  auto row = rows.begin();
                  return std::make_unique<FileInMemory>(
                      rows.size(),
                      [&](uint64_t, OwnedCell& cell) {
                        cell.assign(row->first, "j", "", 1'700'000'000'000, CellType::kPut, 0, row->second);
                        ++row;
                      },
                      HFileWriterOptions{.compression = codec});
                }));
}

void register_q16() {
  for (const std::string& codec : codec_names()) {
    for (const bool hashed : {false, true}) {
      benchmark::RegisterBenchmark(
          fmt::format("Claim/Q16_adjacent_rows/codec:{}/keys:{}", codec, hashed ? "hashed" : "sorted")
              .c_str(),
          [=](benchmark::State& state) { q16(state, hashed, codec); })
          ->Unit(benchmark::kMillisecond);
    }
  }
}

// ---- Q17: a get out of a block that has to be read and unpacked ----

void q17(benchmark::State& state, uint32_t block_bytes, const std::string& codec) {
  const uint64_t rows = scaled(50'000, 2000);
  const FileInMemory& file = file_of(fmt::format("q17 {} {}", block_bytes, codec), [&] {
    return std::make_unique<FileInMemory>(
        rows,
        [](uint64_t i, OwnedCell& cell) {
          cell.assign(numbered("user", i), "d", "q", 1'700'000'000'000, CellType::kPut, 0, text_of(i, 100));
        },
        HFileWriterOptions{.compression = codec, .block_bytes = block_bytes, .bloom = "row"});
  });
  const std::shared_ptr<HFileReader> reader = file.open(0);
  Random random(17);
  OwnedCell wanted;
  ReadStats stats;
  uint64_t found = 0;
  for (auto unused : state) {
    static_cast<void>(unused);
    const std::string row = numbered("user", random.below(rows));
    wanted.assign(row, "d", "q", kLatestTimestamp, CellType::kMaximum, kLatestSequence);
    const std::unique_ptr<CellCursor> cursor = reader->cursor({.fill_cache = false, .stats = &stats});
    const CellView* cell = cursor->seek(wanted.view());
    if (cell != nullptr && cell->row() == row) ++found;
  }
  if (found != static_cast<uint64_t>(state.iterations())) state.SkipWithError("a row was not found");
  report(state, stats);
  state.counters["bytes per cell"] = file.bytes_per_cell();
}

void register_q17() {
  for (const std::string& codec : codec_names()) {
    for (const uint32_t kilobytes : {4, 8, 16, 32, 64, 128, 256}) {
      benchmark::RegisterBenchmark(
          fmt::format("Claim/Q17_block_size/codec:{}/kB:{}", codec, kilobytes).c_str(),
          [=](benchmark::State& state) { q17(state, kilobytes << 10, codec); })
          ->Unit(benchmark::kMicrosecond);
    }
  }
}

[[maybe_unused]] const bool registered_space = [] {
  register_q12();
  register_q16();
  register_q17();
  return true;
}();

}  // namespace
}  // namespace cellar::bench
