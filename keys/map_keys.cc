// Keys of the map: the ranges of a box, and quadkeys as numbers of two or four bytes.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/bytes.h"
#include "cellar/keys.h"

namespace cellar {
namespace {

constexpr size_t kTilesMax = 1'000'000;

// Returns the start of the range without the zoom, which is in its lowest five bits. It is where the range of
// the neighbour before it stops.
std::string corner_of(const KeyRange& range) {
  std::string key = range.start;
  key.back() = static_cast<char>(key.back() & ~0x1f);
  return key;
}

// Adds the ranges of the tiles that cover a box which does not cross the date line.
Status add_tiles(std::pair<double, double> north_west, std::pair<double, double> south_east, size_t tiles_max,
                 uint8_t zoom_max, std::vector<KeyRange>& ranges) {
  Tile first;
  Tile last;
  for (uint8_t zoom = 0; zoom <= zoom_max; ++zoom) {
    CELLAR_TRY_ASSIGN(const Tile from, tile_at(north_west.first, north_west.second, zoom));
    CELLAR_TRY_ASSIGN(const Tile to, tile_at(south_east.first, south_east.second, zoom));
    if ((uint64_t{to.x} - from.x + 1) * (uint64_t{to.y} - from.y + 1) > tiles_max) break;
    first = from;
    last = to;
  }
  for (uint32_t y = first.y; y <= last.y; ++y) {
    for (uint32_t x = first.x; x <= last.x; ++x) {
      CELLAR_TRY_ASSIGN(KeyRange range, packed_quadkeys_within({x, y, first.zoom}));
      ranges.push_back(std::move(range));
    }
  }
  return {};
}

// Joins neighbours. A range stops at the corner of the next one, and not at its start.
std::vector<KeyRange> joined_tiles(std::vector<KeyRange> ranges) {
  std::ranges::sort(ranges, {}, &KeyRange::start);
  std::vector<KeyRange> joined;
  for (KeyRange& range : ranges) {
    if (joined.empty() || (!joined.back().stop.empty() && joined.back().stop < corner_of(range))) {
      joined.push_back(std::move(range));
    } else if (std::string& stop = joined.back().stop;
               !stop.empty() && (range.stop.empty() || range.stop > stop)) {
      stop = std::move(range.stop);
    }
  }
  return joined;
}

// Checks the width of a quadkey as a number.
Status check_width(size_t bytes, uint8_t zoom) {
  if (bytes != 2 && bytes != 4 && bytes != 8)
    return Status::invalid_argument(
        fmt::format("a quadkey as a number of {} bytes: it has 2, 4 or 8", bytes));
  const size_t zoom_max = bytes == 8 ? 29 : 4 * bytes;
  if (zoom > zoom_max)
    return Status::invalid_argument(
        fmt::format("zoom {} in {} bytes: at most {} has room", zoom, bytes, zoom_max));
  return {};
}

}  // namespace

Result<std::vector<KeyRange>> packed_quadkeys_in_box(double south, double west, double north, double east,
                                                     size_t tiles_max, uint8_t zoom) {
  if (tiles_max < 1 || tiles_max > kTilesMax)
    return Status::invalid_argument(
        fmt::format("at most {} tiles for a box: 1 to {} are possible", tiles_max, kTilesMax));
  CELLAR_TRY(tile_at(south, west, zoom).status());
  CELLAR_TRY(tile_at(north, east, zoom).status());
  if (south > north)
    return Status::invalid_argument(
        fmt::format("the south {} of a box is north of its north {}", south, north));
  std::vector<KeyRange> ranges;
  if (west > east) {
    CELLAR_TRY(add_tiles({north, west}, {south, 180}, tiles_max, zoom, ranges));
    CELLAR_TRY(add_tiles({north, -180}, {south, east}, tiles_max, zoom, ranges));
  } else {
    CELLAR_TRY(add_tiles({north, west}, {south, east}, tiles_max, zoom, ranges));
  }
  return joined_tiles(std::move(ranges));
}

Result<std::string> quadkey_number(const Tile& tile, size_t bytes) {
  CELLAR_TRY(check_width(bytes, tile.zoom));
  CELLAR_TRY_ASSIGN(const std::string digits, quadkey(tile));
  uint64_t path = 0;
  for (const char digit : digits) path = path << 2 | static_cast<uint64_t>(digit - '0');
  return plain_int64(static_cast<int64_t>(path)).substr(8 - bytes);
}

Result<Tile> tile_of_number(std::string_view bytes, uint8_t zoom) {
  CELLAR_TRY(check_width(bytes.size(), zoom));
  uint64_t path = 0;
  for (const char byte : bytes) path = path << 8 | static_cast<uint8_t>(byte);
  if (path >> (2 * zoom) != 0)
    return Status::invalid_argument(fmt::format("number {} is not a quadkey of zoom {}", path, zoom));
  std::string digits;
  for (int level = zoom - 1; level >= 0; --level)
    digits.push_back(static_cast<char>('0' + (path >> (2 * level) & 3)));
  return tile_of_quadkey(digits);
}

}  // namespace cellar
