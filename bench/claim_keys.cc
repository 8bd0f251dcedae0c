// Claims about the form of keys. Q13 compares numbers as bytes and as digits. Q14 has one payload as row,
// column or value. Q15 measures the index of blocks when data moves into the key.
#include <fmt/format.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/random.h"
#include "bench/bed.h"
#include "bench/case.h"
#include "bench/hfile_bed.h"
#include "cellar/keys.h"

namespace cellar::bench {
namespace {

constexpr int64_t kKeysStamp = 1'700'000'000'000;

void index_counters(benchmark::State& state, const FileInMemory& file) {
  const auto blocks = static_cast<double>(file.summary().data_blocks);
  state.counters["index bytes per block"] = static_cast<double>(file.index_bytes()) / blocks;
  state.counters["data blocks"] = blocks;
}

// ---- Q13: times and tiles as bytes or as digits ----

constexpr uint64_t kQ13ColumnsOfRow = 2;

// Keys that rise with their number: nanoseconds of a clock, or tiles of the map along the curve.
std::string q13_key(const std::string& kind, uint64_t number) {
  if (kind == "time_19_digits") return numbered("", 1'700'000'000'000'000'000 + number * 1'000'003, 19);
  if (kind == "time_8_bytes")
    return plain_int64(static_cast<int64_t>(1'700'000'000'000'000'000 + number * 1'000'003));
  if (kind == "tile_4_bytes") return plain_int32(static_cast<int32_t>(number * 977));
  std::string digits(16, '0');  // tile_16_digits: two bits each
  for (uint64_t tile = number * 977, i = 16; i-- > 0; tile >>= 2)
    digits[i] = static_cast<char>('0' + tile % 4);
  return digits;
}

void q13(benchmark::State& state, const std::string& kind, const std::string& codec) {
  const FileInMemory& file = file_of(fmt::format("q13 {} {}", kind, codec), [&] {
    return std::make_unique<FileInMemory>(
        scaled(200'000, 4000),
        [&](uint64_t i, OwnedCell& cell) {
          cell.assign(q13_key(kind, i / kQ13ColumnsOfRow), "d", numbered("q", i % kQ13ColumnsOfRow, 1),
                      kKeysStamp, CellType::kPut, 0, text_of(i, 8));
        },
        HFileWriterOptions{.compression = codec, .block_bytes = 16384});
  });
  scan_uncached(state, file);
  index_counters(state, file);
}

void register_q13() {
  for (const std::string codec : {"none", "snappy"}) {
    for (const std::string kind : {"time_19_digits", "time_8_bytes", "tile_16_digits", "tile_4_bytes"})
      claim(fmt::format("Q13_bytes_or_digits/codec:{}/key:{}", codec, kind), [=](benchmark::State& state) {
        q13(state, kind, codec);
      })->Unit(benchmark::kMillisecond);
  }
}

// ---- Q14: 64 bytes as row, as column, or as value ----

constexpr size_t kQ14Payload = 64;
constexpr uint64_t kQ14Repeats = 50;

// Each payload is new, or the same for fifty cells in a row. A payload that is a row comes before the number.
void q14_cell(uint64_t i, const std::string& place, bool repeated, OwnedCell& cell) {
  const uint64_t which = repeated ? i / kQ14Repeats : i;
  const std::string payload = numbered("", which) + text_of(which, kQ14Payload - 8);
  const std::string number = numbered("", i);
  cell.assign(place == "row" ? payload + number : number, "d", place == "column" ? payload : "", kKeysStamp,
              CellType::kPut, 0, place == "value" ? payload : "");
}

void q14(benchmark::State& state, const std::string& place, bool repeated, const std::string& encoding,
         const std::string& codec) {
  scan_uncached(state, file_of(fmt::format("q14 {} {} {} {}", place, repeated, encoding, codec), [&] {
                  return std::make_unique<FileInMemory>(
                      scaled(50'000, 2000),
                      [&](uint64_t i, OwnedCell& cell) { q14_cell(i, place, repeated, cell); },
                      HFileWriterOptions{.compression = codec, .encoding = encoding, .block_bytes = 16384});
                }));
}

void register_q14() {
  for (const std::string encoding : {"none", "fast_diff"}) {
    for (const std::string codec : {"none", "snappy"}) {
      for (const bool repeated : {false, true}) {
        for (const std::string place : {"row", "column", "value"})
          claim(fmt::format("Q14_place_of_a_payload/encoding:{}/codec:{}/payload:{}/place:{}", encoding,
                            codec, repeated ? "repeated" : "new", place),
                [=](benchmark::State& state) { q14(state, place, repeated, encoding, codec); })
              ->Unit(benchmark::kMillisecond);
      }
    }
  }
}

// ---- Q15: a payload in the key, and the index ----

// After the number a separator needs little of the payload. Before the number it needs all of it, since all
// rows have the same payload.
std::string q15_row(const std::string& place, uint64_t number, size_t payload) {
  const std::string digits = numbered("user", number);
  if (place == "value") return digits;
  return place == "key_after_number" ? digits + text_of(number, payload) : text_of(0, payload) + digits;
}

void q15(benchmark::State& state, const std::string& place, size_t payload) {
  const uint64_t rows = scaled(50'000, 4000);
  const FileInMemory& file = file_of(fmt::format("q15 {} {}", place, payload), [&] {
    return std::make_unique<FileInMemory>(
        rows,
        [&](uint64_t i, OwnedCell& cell) {
          cell.assign(q15_row(place, i, payload), "d", "q", kKeysStamp, CellType::kPut, 0,
                      place == "value" ? text_of(i, payload) : "");
        },
        HFileWriterOptions{.compression = "snappy", .block_bytes = 16384});
  });
  const std::shared_ptr<HFileReader> reader = file.open(0);
  Random random(15);
  OwnedCell wanted;
  ReadStats stats;
  uint64_t found = 0;
  for (auto unused : state) {
    static_cast<void>(unused);
    const std::string row = q15_row(place, random.below(rows), payload);
    wanted.assign(row, "d", "q", kLatestTimestamp, CellType::kMaximum, kLatestSequence);
    const std::unique_ptr<CellCursor> cursor = reader->cursor({.fill_cache = false, .stats = &stats});
    const CellView* cell = cursor->seek(wanted.view());
    if (cell != nullptr && cell->row() == row) ++found;
  }
  report(state, stats);
  index_counters(state, file);
  state.counters["bytes per cell"] = file.bytes_per_cell();
  state.counters["index share"] =
      static_cast<double>(file.index_bytes()) / static_cast<double>(file.summary().file_bytes);
  expect(state, found == static_cast<uint64_t>(state.iterations()), "a row was not found");
}

void register_q15() {
  for (const std::string place : {"value", "key_after_number", "key_before_number"}) {
    for (const size_t payload : {0, 16, 64, 256})
      claim(fmt::format("Q15_payload_in_the_key/place:{}/bytes:{}", place, payload),
            [=](benchmark::State& state) { q15(state, place, payload); });
  }
}

[[maybe_unused]] const bool registered_keys = [] {
  register_q13();
  register_q14();
  register_q15();
  return true;
}();

}  // namespace
}  // namespace cellar::bench
