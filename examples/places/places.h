// Places of the world, and boxes of the map as ranges of keys.
//
// Table places: row = tile of zoom 16 (packed_quadkey, 8 bytes), then the id (4 bytes). A place is one cell
// in family h, m or l (high, medium, low importance), with an empty qualifier. Its value is latitude and
// longitude (8 bytes each), then the record.
// Table clusters: row = zoom (1 byte), then the tile (8 bytes): how many places it has, and their centre.
// Table info: row = "place-" and the id in digits, family i: the record of one place.
#pragma once

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "examples/application.h"
#include "examples/json.h"

namespace example {

constexpr uint8_t kPlaceZoom = 16;
constexpr uint8_t kClusterZooms = 14;        // clusters exist for the zooms 0 to 13
constexpr int64_t kWritten = 1700000000000;  // of all cells, so that each run writes the same files

struct Place {
  int32_t id = 0;  // its position in the file
  std::string name, country, area, district;
  double latitude = 0, longitude = 0;
  char importance = 'l';
};

// A part of the map, in degrees. The edges belong to it. If west > east it crosses the date line.
struct Box {
  double south = 0, west = 0, north = 0, east = 0;
  bool has(double latitude, double longitude) const {
    if (latitude < south || latitude > north) return false;
    if (west > east) return longitude >= west || longitude <= east;
    return longitude >= west && longitude <= east;
  }
};

inline Result<double> degrees(std::string_view text, double limit) {
  double value = 0;
  const char* const end = text.data() + text.size();
  const std::from_chars_result read = std::from_chars(text.data(), end, value);
  if (read.ec != std::errc() || read.ptr != end || !(std::abs(value) <= limit))
    return Status::invalid_argument("\"" + std::string(text) + "\" is not a number of degrees up to " +
                                    std::to_string(static_cast<int>(limit)));
  return value;
}

// Reads places. The first one of each tile of zoom 6 gets importance h, the first one of each tile of zoom 9
// gets m. So a map of any scale has about as many as it can show.
inline Result<std::vector<Place>> read_places(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  if (!file || !(text << file.rdbuf())) return Status::not_found("cannot read the places in " + path);
  const std::string content = text.str();
  FlatJson json(content);
  std::vector<Place> places;
  std::map<std::string, std::string> object;
  std::set<std::string> tiles;
  while (true) {
    CELLAR_TRY_ASSIGN(const bool more, json.next(object));
    if (!more && places.empty()) return Status::invalid_argument(path + " has no places");
    if (!more) return places;
    Place place;
    place.id = static_cast<int32_t>(places.size());
    place.name = object["name"], place.country = object["country"];
    place.area = object["admin1"], place.district = object["admin2"];
    CELLAR_TRY_ASSIGN(place.latitude, degrees(object["lat"], 90));
    CELLAR_TRY_ASSIGN(place.longitude, degrees(object["lng"], 180));
    for (const auto& [zoom, importance] : {std::pair<uint8_t, char>{9, 'm'}, {6, 'h'}}) {
      CELLAR_TRY_ASSIGN(const Tile tile, tile_at(place.latitude, place.longitude, zoom));
      CELLAR_TRY_ASSIGN(std::string digits, quadkey(tile));
      if (tiles.insert(std::move(digits)).second) place.importance = importance;
    }
    places.push_back(std::move(place));
  }
}

inline std::string number_text(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.5f", value);
  return text;
}
// Returns what a table stores of a place.
inline std::string record_of(const Place& place) {
  return "{\"id\":" + std::to_string(place.id) + ",\"name\":" + json_text(place.name) +
         ",\"country\":" + json_text(place.country) + ",\"lat\":" + number_text(place.latitude) +
         ",\"lng\":" + number_text(place.longitude) + "}";
}
inline std::string value_of(const Place& place) {
  return plain_float64(place.latitude) + plain_float64(place.longitude) + record_of(place);
}
inline Result<std::string> row_of(const Place& place) {
  CELLAR_TRY_ASSIGN(const Tile tile, tile_at(place.latitude, place.longitude, kPlaceZoom));
  CELLAR_TRY_ASSIGN(std::string row, packed_quadkey(tile));
  return row + plain_int32(place.id);
}

// Returns the ranges of rows that cover a box. Error: kInvalidArgument if south > north.
inline Result<std::vector<KeyRange>> ranges_of(const Box& box, size_t tiles_max, uint8_t zoom = kPlaceZoom) {
  return packed_quadkeys_in_box(box.south, box.west, box.north, box.east, tiles_max, zoom);
}

// Returns the number of files of some families, each named by one letter.
inline size_t files_of(const Table& table, std::string_view families) {
  size_t files = 0;
  for (const FamilyInfo& family : table.info().families)
    if (families.find(family.options.name) != std::string_view::npos) files += family.files.size();
  return files;
}

// Calls take(row) for each place in a box, in the families of `families` ("h", "hm", "hml"), by one scan of
// all ranges. Returns the number of ranges.
template <class Take>
Result<size_t> places_in(Table& places, const Box& box, size_t tiles_max, std::string_view families,
                         ReadStats* cost, const Take& take) {
  CELLAR_TRY_ASSIGN(const std::vector<KeyRange> ranges, ranges_of(box, tiles_max));
  Scan scan = Scan(ranges).stats(cost);
  for (const char& family : families) scan.family({&family, 1});
  CELLAR_TRY_ASSIGN(const auto scanner, places.scan(scan));
  for (const RowView row : *scanner) {
    const std::string_view value = row.begin()->value_bytes();
    if (row.row().size() != 12 || value.size() < 16)
      return Status::corruption("a row is not a place: " + to_text(row));
    const double latitude = float64_of_plain(value.substr(0, 8)).value_or(0);
    const double longitude = float64_of_plain(value.substr(8, 8)).value_or(0);
    if (box.has(latitude, longitude)) take(int32_of_plain(row.row().substr(8)).value_or(0), value.substr(16));
  }
  CELLAR_TRY(scanner->status());
  return ranges.size();
}

}  // namespace example
