// Tiles of the map as rows: eleven places, and the regions that touch a tile.
//
//   example_places_tiles [STORE [FILE]]
//
// Table tile_bounds: row = tile of zoom 8 (2 bytes), or another zoom (1 byte) and its tile (2 bytes). The
// families a, b and c hold countries, areas and districts: qualifier = region, value = its bounds as GeoJSON.
#include "examples/places/places.h"

namespace {

using namespace example;

// Two bits for each digit of at most 8 digits, in two bytes. Digits that are missing count as 0.
std::string packed_digits(std::string_view digits) {
  uint16_t bits = 0;
  for (size_t i = 0; i < 8; ++i)
    bits = static_cast<uint16_t>(bits << 2 | (i < digits.size() ? digits[i] - '0' : 0));
  return plain_int16(static_cast<int16_t>(bits));
}
// Returns the row of a tile: the zoom comes first unless it is 8.
std::string bounds_row(std::string_view digits) {
  return (digits.size() == 8 ? "" : std::string(1, static_cast<char>(digits.size()))) + packed_digits(digits);
}

// Eleven places in tiles of six digits: ten in 0121, of which three share a tile, and one in the next tile.
Status ask_about_eleven(Engine& engine, Questions& questions) {
  questions.chapter("Eleven rows: the tile, then the place");
  CELLAR_TRY_ASSIGN(const auto text, engine.create_table("eleven_as_text", {.families = {{.name = "p"}}}));
  CELLAR_TRY_ASSIGN(const auto packed, engine.create_table("eleven_packed", {.families = {{.name = "p"}}}));
  const std::vector<std::string> tiles = {"012100", "012102", "012103", "012111", "012113", "012120",
                                          "012121", "012121", "012121", "012133", "012200"};
  const auto packed_of = [](std::string_view digits) -> Result<std::string> {
    CELLAR_TRY_ASSIGN(const Tile tile, tile_of_quadkey(digits));
    return packed_quadkey(tile);
  };
  for (size_t i = 0; i < tiles.size(); ++i) {
    const std::string id(1, static_cast<char>('a' + i));
    CELLAR_TRY(text->put(Put(tiles[i] + "-" + id).add("p", "", "")));
    CELLAR_TRY_ASSIGN(const std::string row, packed_of(tiles[i]));
    CELLAR_TRY(packed->put(Put(row + id).add("p", "", "")));
  }
  for (const auto& [from, until, expected] :
       {std::tuple{"012100", "012200", "abcdefghij"}, {"012121", "012122", "ghi"}}) {
    CELLAR_TRY_ASSIGN(const auto by_text, text->scan(Scan({from, until})));
    CELLAR_TRY_ASSIGN(std::string start, packed_of(from));
    CELLAR_TRY_ASSIGN(std::string stop, packed_of(until));
    CELLAR_TRY_ASSIGN(const auto by_bytes, packed->scan(Scan({std::move(start), std::move(stop)})));
    std::string found, found_packed;
    for (const RowView row : *by_text) found += row.row().back();
    for (const RowView row : *by_bytes) found_packed += row.row().back();
    CELLAR_TRY(questions.answer(std::string("from ") + from + " to " + until, found, expected));
    CELLAR_TRY(questions.same("the same with packed keys", found_packed, expected));
  }
  CELLAR_TRY(questions.answer("12301230 in two bytes, two bits for each digit",
                              std::to_string(int16_of_plain(packed_digits("12301230")).value_or(0)),
                              "27756"));
  CELLAR_TRY(questions.holds("bits alone do not tell 01 from its corner 0100",
                             packed_digits("01") == packed_digits("0100")));
  CELLAR_TRY_ASSIGN(const std::string parent, packed_of("01"));
  CELLAR_TRY_ASSIGN(const std::string child, packed_of("0100"));
  CELLAR_TRY(questions.holds("the zoom in the packed key tells 01 from its corner 0100", parent < child));
  questions.say("bits alone do not tell the tile 01 from its corner 0100: packed_quadkey adds the zoom");
  return {};
}

// A region of each kind: its box, and the tiles that its places lie in.
struct Region {
  Box box = {90, 180, -90, -180};
  std::set<std::string> rows;
};
using Regions = std::map<std::string, Region>;  // by family and name: "a:JP"

Result<Regions> regions_of(const std::vector<Place>& places) {
  Regions regions;
  for (const Place& place : places) {
    const std::string area = place.country + "." + place.area;
    std::vector<std::string> names = {"a:" + place.country};
    if (!place.area.empty()) names.push_back("b:" + area);
    if (!place.district.empty()) names.push_back("c:" + area + "." + place.district);
    for (const std::string& name : names) {
      Region& region = regions[name];
      Box& box = region.box;
      box.south = std::min(box.south, place.latitude), box.north = std::max(box.north, place.latitude);
      box.west = std::min(box.west, place.longitude), box.east = std::max(box.east, place.longitude);
      for (const uint8_t zoom : {2, 4, 6, 8}) {
        CELLAR_TRY_ASSIGN(const Tile tile, tile_at(place.latitude, place.longitude, zoom));
        CELLAR_TRY_ASSIGN(const std::string digits, quadkey(tile));
        region.rows.insert(bounds_row(digits));
      }
    }
  }
  return regions;
}

std::string geo_json(std::string_view name, const Box& box) {
  const auto point = [](double longitude, double latitude) {
    return "[" + number_text(longitude) + "," + number_text(latitude) + "]";
  };
  return "{\"type\":\"Feature\",\"id\":" + json_text(name) +
         ",\"properties\":{},\"geometry\":{\"type\":\"Polygon\",\"coordinates\":[[" +
         point(box.west, box.south) + "," + point(box.east, box.south) + "," + point(box.east, box.north) +
         "," + point(box.west, box.north) + "," + point(box.west, box.south) + "]]}}";
}

Status load_regions(Table& table, const Regions& regions) {
  for (const auto& [name, region] : regions) {
    const std::string value = geo_json(name, region.box);
    for (const std::string& row : region.rows)
      CELLAR_TRY(table.put(Put(row).add_at(name.substr(0, 1), name.substr(2), kWritten, value)));
  }
  CELLAR_TRY(table.flush());
  return table.major_compact();
}

// Returns a feature collection. The values are stored as they are sent, so none of them is parsed.
std::string collection_of(const RowView& row) {
  std::string json;
  for (const CellView& cell : row) append(json, cell.value_bytes());
  return "{\"type\":\"FeatureCollection\",\"features\":[" + json + "]}";
}

Status ask_about_regions(Table& table, const Regions& regions, Questions& questions) {
  questions.chapter("The regions that touch a tile");
  const auto ask = [&](std::string_view digits, std::string_view kinds, std::string_view only) -> Status {
    const std::string row = bounds_row(digits);
    ReadStats cost;
    Get get(row);
    get.stats(&cost);
    for (const char& kind : kinds) only.empty() ? get.family({&kind, 1}) : get.column({&kind, 1}, only);
    CELLAR_TRY_ASSIGN(const RowBatch found, table.get(get));
    std::string expected, names;
    for (const auto& [name, region] : regions) {
      if (kinds.find(name[0]) == std::string_view::npos || !region.rows.contains(row)) continue;
      if (!only.empty() && name.substr(2) != only) continue;
      append(expected, geo_json(name, region.box));
      append(names, name);
    }
    CELLAR_TRY(questions.same("the collection", collection_of(found.row()),
                              "{\"type\":\"FeatureCollection\",\"features\":[" + expected + "]}"));
    if (names.size() > 90) names = std::to_string(found.row().cells().size()) + " regions";
    questions.say("tile " + std::string(digits) + ", " + std::string(kinds) + ":" + std::string(only) +
                  " gives " + (names.empty() ? "nothing" : names));
    Questions::print(cost);
    return questions.holds("the families that are not named stay closed",
                           cost.files_considered == files_of(table, kinds));
  };
  CELLAR_TRY(ask("1202", "abc", ""));
  CELLAR_TRY(ask("12020322", "abc", ""));
  CELLAR_TRY(ask("12020322", "ab", ""));
  CELLAR_TRY(ask("12020322", "a", ""));
  CELLAR_TRY(ask("12020322", "a", "LU"));
  CELLAR_TRY(ask("33333333", "abc", ""));
  return {};
}

// Two- and three-byte rows lie among each other: a scan of tiles must leave out the rows of the other size.
Status ask_about_mixed_rows(Table& table, const Regions& regions, Questions& questions) {
  questions.chapter("Coarse tiles among fine ones");
  size_t fine = 0, coarse = 0, expected = 0;
  CELLAR_TRY_ASSIGN(const auto scanner,
                    table.scan(Scan({packed_digits("0000"), packed_digits("0020")}).family("a")));
  for (const RowView row : *scanner) ++(row.row().size() == 2 ? fine : coarse);
  CELLAR_TRY(scanner->status());
  std::set<std::string> rows;
  for (const auto& [name, region] : regions) {
    for (const std::string& row : region.rows)
      if (name[0] == 'a' && row.size() == 2 && row >= packed_digits("0000") && row < packed_digits("0020"))
        rows.insert(row);
  }
  expected = rows.size();
  CELLAR_TRY(questions.answer("tiles of zoom 8 within 0000 and 0001, in the arctic north west",
                              std::to_string(fine), std::to_string(expected)));
  questions.say(std::to_string(coarse) +
                " rows of the zooms 2, 4 and 6 lie among them: their first byte is the zoom,");
  questions.say(
      "which as digits reads 0002, 0010 or 0012. A table of their own, or the zoom in every row, avoids "
      "that");
  return questions.holds("coarse rows are in that range", coarse > 0);
}

Status run(const std::string& store, const std::vector<std::string>& files, Questions& questions) {
  if (files.size() != 1) return Status::invalid_argument("usage: example_places_tiles STORE FILE");
  CELLAR_TRY_ASSIGN(const std::vector<Place> places, read_places(files[0]));
  CELLAR_TRY_ASSIGN(const Regions regions, regions_of(places));
  CELLAR_TRY_ASSIGN(const auto engine, new_store(store));
  CELLAR_TRY_ASSIGN(
      const auto bounds,
      engine->create_table("tile_bounds", {.families = {{.name = "a"}, {.name = "b"}, {.name = "c"}}}));
  CELLAR_TRY(load_regions(*bounds, regions));
  CELLAR_TRY(ask_about_eleven(*engine, questions));
  CELLAR_TRY(ask_about_regions(*bounds, regions, questions));
  CELLAR_TRY(ask_about_mixed_rows(*bounds, regions, questions));
  return engine->close();
}

}  // namespace

int main(int argc, char** argv) { return run_application(argc, argv, "places_tiles_store", run); }
