// Claims about maps. Q21 has tiles by zoom. Q22 has a value for each tile of the globe or for each station.
// Q23 has places instead of tiles. The sizes of the whole globe are computed from a store of a part of it.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "base/random.h"
#include "bench/bed.h"
#include "bench/case.h"
#include "cellar/keys.h"

namespace cellar::bench {
namespace {

// Bytes that no codec can shorten, as those of a picture.
std::string picture_of(uint64_t seed, size_t bytes) {
  Random random(seed);
  std::string picture(bytes, '\0');
  for (char& c : picture) c = static_cast<char>(random.below(256));
  return picture;
}

std::string tile_key(uint64_t number, uint8_t zoom) {
  const auto side = uint64_t{1} << zoom;
  return must(
      packed_quadkey({static_cast<uint32_t>(number % side), static_cast<uint32_t>(number / side), zoom}));
}

// All tiles of a zoom, or one in `every` of them.
BedPlan tiles_plan(uint8_t zoom, uint64_t every, size_t bytes) {
  BedPlan plan;
  plan.table.families = {{.name = "t"}};
  plan.fill = [=](Engine& engine, const std::shared_ptr<Table>& table) -> Status {
    Batch batch;
    for (uint64_t tile = 0; tile < uint64_t{1} << (2 * zoom); ++tile) {
      if (mixed(tile) % every != 0) continue;
      batch.put(table, Put(tile_key(tile, zoom)).add_at("t", "", 1, picture_of(tile, bytes)));
      CELLAR_TRY(write_batch(engine, batch, false));
    }
    return write_batch(engine, batch, true);
  };
  return plan;
}

// ---- Q21: tiles of 64 KiB ----

constexpr size_t kQ21Bytes = 64u << 10;
constexpr int kQ21Stored = 5;

// The zooms up to 5 are stored. The larger ones are computed from the bytes of a tile at zoom 5.
void q21(benchmark::State& state, int zoom) {
  const int stored = std::min(zoom, kQ21Stored);
  Bed& bed = Bed::of(fmt::format("q21 {}", stored),
                     [=] { return tiles_plan(static_cast<uint8_t>(stored), 1, kQ21Bytes); });
  Table& table = ready(bed, false);
  const uint64_t tiles = uint64_t{1} << (2 * stored);
  Random random(21);
  size_t cells = 0;
  repeat(state, [&](ReadStats& stats) {
    const std::string row = tile_key(random.below(tiles), static_cast<uint8_t>(stored));
    return get_cells(table, Get(row).fill_cache(false).stats(&stats), cells);
  });
  expect_each(state, cells, 1);
  const double of_tile = static_cast<double>(bed.file_bytes()) / static_cast<double>(tiles);
  state.counters["tiles"] = std::pow(4.0, zoom);
  state.counters["bytes per tile"] = of_tile;
  state.counters["TB"] = std::pow(4.0, zoom) * of_tile / 1e12;
}

// ---- Q22: weather of each tile, or of each station ----

constexpr uint8_t kQ22Zoom = 7;
constexpr uint64_t kQ22Every = 50;
constexpr size_t kQ22Bytes = 1000;

// The value of a tile without a station is that of the next station along the curve, or of the last one.
Status q22_nearest(Table& table, const std::string& row, ReadStats& stats, size_t& cells) {
  CELLAR_TRY_ASSIGN(const RowBatch next, table.row_at_or_after(row, Scan().stats(&stats)));
  cells += next.cells();
  if (!next.empty()) return {};
  CELLAR_TRY_ASSIGN(const RowBatch last, table.row_at_or_before(row, Scan().stats(&stats)));
  cells += last.cells();
  return {};
}

void q22(benchmark::State& state, bool dense) {
  Bed& bed = Bed::of(fmt::format("q22 {}", dense),
                     [=] { return tiles_plan(kQ22Zoom, dense ? 1 : kQ22Every, kQ22Bytes); });
  Table& table = ready(bed, true);
  Random random(22);
  size_t cells = 0;
  repeat(state, [&](ReadStats& stats) -> Status {
    const std::string row = tile_key(random.below(uint64_t{1} << (2 * kQ22Zoom)), kQ22Zoom);
    return dense ? get_cells(table, Get(row).stats(&stats), cells) : q22_nearest(table, row, stats, cells);
  });
  expect_each(state, cells, 1);
  const auto rows = static_cast<double>(must(table.count()).rows);
  const double of_row = static_cast<double>(bed.file_bytes()) / rows;
  constexpr double kStations = 20'000;
  const double hour = (dense ? std::pow(2.0, 28) : kStations) * of_row;  // zoom 14 has 2^28 tiles
  constexpr double kHours = 438'300;                                     // fifty years
  state.counters["rows"] = rows;
  state.counters["bytes per row"] = of_row;
  state.counters["GB an hour"] = hour / 1e9;
  state.counters["TB in fifty years"] = hour * kHours / 1e12;
}

// ---- Q23: places at zoom 16, or all tiles of it ----

uint64_t q23_rows() { return scaled(200'000, 4000); }
constexpr uint64_t kQ23Cities = 300;

// Places lie around cities, more of them near the middle: latitude and longitude.
std::string q23_tile(uint64_t number) {
  const uint64_t city = mixed(number) % kQ23Cities;
  Random of_city(city);
  Random of_place(number + 1'000'000);
  const double latitude = of_city.unit() * 120 - 60 + (of_place.unit() - 0.5) * of_place.unit() * 0.5;
  const double longitude = of_city.unit() * 340 - 170 + (of_place.unit() - 0.5) * of_place.unit() * 0.5;
  return must(packed_quadkey(must(tile_at(latitude, longitude, 16))));
}

BedPlan q23_plan(bool places) {
  BedPlan plan;
  plan.table.families = {{.name = "p"}};
  plan.fill = [=](Engine& engine, const std::shared_ptr<Table>& table) -> Status {
    Batch batch;
    for (uint64_t i = 0; i < q23_rows(); ++i) {
      if (places) {
        const std::string row = q23_tile(i) + plain_int32(static_cast<int32_t>(i));
        batch.put(table, Put(row).add_at("p", "n", 1, "Place " + text_of(i, 14)));
      } else {
        batch.put(table, Put(tile_key(i, 16)).add_at("p", "", 1, ""));  // the least that a tile can be
      }
      CELLAR_TRY(write_batch(engine, batch, false));
    }
    return write_batch(engine, batch, true);
  };
  return plan;
}

// Reads the places of the tile of a place at zoom 13, about a screen.
void q23(benchmark::State& state, bool places) {
  Bed& bed = Bed::of(fmt::format("q23 {}", places), [=] { return q23_plan(places); });
  Table& table = ready(bed, true);
  Random random(23);
  size_t cells = 0;
  repeat(state, [&](ReadStats& stats) -> Status {
    const uint64_t number = random.below(q23_rows());
    Tile tile = must(tile_of_packed(places ? q23_tile(number) : tile_key(number, 16)));
    for (; tile.zoom > 13; --tile.zoom) tile.x /= 2, tile.y /= 2;
    return count_cells(table, Scan(must(packed_quadkeys_within(tile))).stats(&stats), nullptr, cells);
  });
  expect(state, cells >= static_cast<size_t>(state.iterations()), "a place is missing on its screen");
  const double of_row = static_cast<double>(bed.file_bytes()) / static_cast<double>(q23_rows());
  const double all = places ? 7e6 : std::pow(2.0, 32);
  state.counters["bytes per row"] = of_row;
  state.counters["rows at full size"] = all;
  state.counters["GB at full size"] = all * of_row / 1e9;
}

[[maybe_unused]] const bool registered_places = [] {
  for (const int zoom : {3, 4, 5, 12, 13, 14, 15})
    claim(fmt::format("Q21_tiles/zoom:{}", zoom), [=](benchmark::State& state) { q21(state, zoom); });
  for (const bool dense : {true, false})
    claim(fmt::format("Q22_weather/stored:{}", dense ? "each_tile" : "each_station"),
          [=](benchmark::State& state) { q22(state, dense); });
  for (const bool places : {true, false})
    claim(fmt::format("Q23_places/rows:{}", places ? "places" : "all_tiles_of_zoom_16"),
          [=](benchmark::State& state) { q23(state, places); });
  return true;
}();

}  // namespace
}  // namespace cellar::bench
