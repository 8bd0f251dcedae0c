// The features of a tile by class: a family for each class, and codes whose prefix is their kind.
//
//   example_places_features [STORE [FILE]]
//
// Table tile_features: row = tile of zoom 5 (digits); family = class of GeoNames (p, s, h, t); qualifier =
// code, a point, id. The populated places are those of FILE. Schools, lakes and mountains are made up around
// them.
#include "examples/places/places.h"

namespace {

using namespace example;

// A feature of a tile: family and qualifier, such as "h:LKC.000042".
using Features = std::map<std::string, std::set<std::string>>;  // tile → features

// The populated places, and five made-up features for each, with codes of GeoNames. LKC, a crater lake, is a
// kind of lake, so its code begins with LK.
Result<Features> features_of(const std::vector<Place>& places) {
  const std::vector<std::vector<std::string>> codes = {
      {"s:SCH", "s:HTL"},
      {"s:MUS", "s:CH", "s:HTL"},
      {"s:HTL", "s:SCH", "s:PRK", "s:MUS"},
      {"h:LK", "h:STM", "h:LKC", "h:STM", "h:LKS", "h:SPNG", "h:BAY"},
      {"t:MT", "t:HLL", "t:MTS", "t:VLC", "t:PK"}};
  Features features;
  for (const Place& place : places) {
    CELLAR_TRY_ASSIGN(const Tile tile, tile_at(place.latitude, place.longitude, 5));
    CELLAR_TRY_ASSIGN(const std::string digits, quadkey(tile));
    char id[16];
    std::snprintf(id, sizeof id, ".%06d", place.id);
    features[digits].insert(std::string("p:PPL") + id);
    for (const std::vector<std::string>& kind : codes)
      features[digits].insert(kind[static_cast<size_t>(place.id) % kind.size()] + id);
  }
  return features;
}

Status load_features(Table& table, const Features& features) {
  for (const auto& [tile, names] : features) {
    Put put(tile);
    for (const std::string& name : names) put.add_at(name.substr(0, 1), name.substr(2), kWritten, "made up");
    CELLAR_TRY(table.put(put));
  }
  CELLAR_TRY(table.flush());
  return table.major_compact();
}

Status ask_about_features(Table& table, const Features& features, Questions& questions) {
  questions.chapter("The features of a tile, by class and code");
  const std::string tile =
      std::ranges::max_element(features, {}, [](const auto& each) { return each.second.size(); })->first;
  const auto ask = [&](std::string_view question, std::string_view family, std::string_view code) -> Status {
    ReadStats cost;
    Get get(tile);
    get.stats(&cost);
    if (!family.empty()) get.family(family);
    if (!code.empty()) get.filter(column_prefix_filter(code));
    CELLAR_TRY_ASSIGN(const RowBatch found, table.get(get));
    std::string names, expected;
    for (const CellView& cell : found.row())
      append(names, std::string(cell.family()) + ":" + std::string(cell.qualifier()));
    for (const std::string& name : features.at(tile))
      if (name.starts_with(family) && name.substr(2).starts_with(code)) append(expected, name);
    CELLAR_TRY(questions.same(question, names, expected));
    questions.say(std::string(question) + ": " + std::to_string(cost.cells_returned));
    Questions::print(cost);
    const bool one_run = !family.empty() && !code.empty();
    return questions.holds("the filter seeks past the columns with other codes",
                           !one_run || cost.cells_examined <= cost.cells_returned + 8);
  };
  CELLAR_TRY(ask("everything in tile " + tile, "", ""));
  CELLAR_TRY(ask("waters: family h", "h", ""));
  CELLAR_TRY(ask("lakes of all kinds: family h, columns LK…", "h", "LK"));
  CELLAR_TRY(ask("lakes alone: columns LK.…", "h", "LK."));
  CELLAR_TRY(ask("crater lakes: columns LKC", "h", "LKC"));
  return ask("a code that no feature has", "h", "GLCR");
}

Status run(const std::string& store, const std::vector<std::string>& files, Questions& questions) {
  if (files.size() != 1) return Status::invalid_argument("usage: example_places_features STORE FILE");
  CELLAR_TRY_ASSIGN(const std::vector<Place> places, read_places(files[0]));
  CELLAR_TRY_ASSIGN(const Features features, features_of(places));
  CELLAR_TRY_ASSIGN(const auto engine, new_store(store));
  const TableOptions options = {.families = {{.name = "p"}, {.name = "s"}, {.name = "h"}, {.name = "t"}}};
  CELLAR_TRY_ASSIGN(const auto table, engine->create_table("tile_features", options));
  CELLAR_TRY(load_features(*table, features));
  CELLAR_TRY(ask_about_features(*table, features, questions));
  return engine->close();
}

}  // namespace

int main(int argc, char** argv) { return run_application(argc, argv, "places_features_store", run); }
