// Weather by tile of the map: records of large and small tiles in one table, found by the next row.
//
//   example_weather [STORE]
//
// Table forecast: row = digits of a tile, padded with "~" to nine. A tile of zoom 7 is one row, not sixteen
// of zoom 9. The tiles do not overlap. "~" sorts after the digits, so the record of a tile is the next row
// from it on.
#include "examples/weather/tiles.h"

namespace {

using namespace example;

// Returns the row of the next record from a tile on, or nothing after the last one.
Result<std::string> next_row(Table& table, std::string_view tile, ReadStats* cost = nullptr) {
  CELLAR_TRY_ASSIGN(const RowBatch found, table.row_at_or_after(tile, Scan().stats(cost)));
  return found.empty() ? "nothing" : std::string(found.row().row());
}
// The same, unless that record speaks for other tiles.
Result<std::string> record_of(Table& table, std::string_view tile) {
  CELLAR_TRY_ASSIGN(const std::string row, next_row(table, tile));
  return contains(row, tile) ? row : "nothing";
}
// Returns the records within a tile, and the one of a larger tile that covers it.
Result<std::string> records_within(Table& table, const std::string& tile) {
  CELLAR_TRY_ASSIGN(const auto scanner, table.scan(Scan({tile, tile + "~"})));
  std::string list;
  for (const RowView row : *scanner) append(list, row.row());
  CELLAR_TRY(scanner->status());
  CELLAR_TRY_ASSIGN(const std::string larger, record_of(table, tile + "~"));
  if (larger != "nothing") append(list, larger);
  return list;
}

Result<std::shared_ptr<Table>> forecast(Engine& engine, const std::string& name,
                                        const std::vector<std::string>& tiles) {
  CELLAR_TRY_ASSIGN(auto table, engine.create_table(name, {.families = {{.name = "w"}}}));
  for (const std::string& tile : tiles)
    CELLAR_TRY(table->put(Put(padded(tile, 9)).add_at("w", "", kBegin, "rain")));
  CELLAR_TRY(table->flush());
  return table;
}

Status ask_next(Engine& engine, Questions& questions) {
  questions.chapter("The next record");
  const std::vector<std::string> tiles = {"0111230",   "011123100", "011123101", "011123102",
                                          "011123103", "01112311",  "01112312",  "01112313",
                                          "0111232",   "0111233",   "011130",    "011131"};
  CELLAR_TRY_ASSIGN(const auto table, forecast(engine, "forecast", tiles));
  for (const auto& [tile, expected] : {std::pair{"011123012", "0111230~~"},
                                       {"011123110", "01112311~"},
                                       {"011123102", "011123102"},
                                       {"011130213", "011130~~~"}}) {
    ReadStats cost;
    CELLAR_TRY_ASSIGN(const std::string row, next_row(*table, tile, &cost));
    CELLAR_TRY(questions.answer(std::string("from ") + tile + " on", row, expected, &cost));
    CELLAR_TRY(questions.holds("it speaks for the tile", contains(row, tile)));
  }
  uint64_t dense = 0;  // rows of a table that has a row for each tile of zoom 9
  for (const std::string& tile : tiles) dense += uint64_t{1} << (2 * (9 - tile.size()));
  questions.say(std::to_string(tiles.size()) + " rows speak for " + std::to_string(dense) +
                " tiles of zoom 9");
  std::string all, list;
  for (size_t i = 0; i < 10; ++i) append(all, padded(tiles[i], 9));
  CELLAR_TRY_ASSIGN(const auto scanner, table->scan(Scan({"011123000", "011123~"})));
  for (const RowView row : *scanner) append(list, row.row());
  CELLAR_TRY(questions.answer("from 011123000 up to 011123~: all records within 011123", list, all));

  questions.chapter("Faults of the next record");
  CELLAR_TRY_ASSIGN(const auto coarse, forecast(engine, "coarse", {"01112", "011130"}));
  CELLAR_TRY_ASSIGN(const auto none, coarse->scan(Scan({"011123000", "011123~"})));
  CELLAR_TRY(questions.answer("01112 is one record: it lies after the range of 011123",
                              none->next() ? "a row" : "nothing", "nothing"));
  CELLAR_TRY_ASSIGN(std::string answer, records_within(*coarse, "011123"));
  CELLAR_TRY(questions.answer("one more look, from 011123~ on, finds it", answer, "01112~~~~"));
  CELLAR_TRY_ASSIGN(const auto hole, forecast(engine, "hole", {"01112310", "01112312", "01112313"}));
  CELLAR_TRY_ASSIGN(answer, next_row(*hole, "011123110"));
  CELLAR_TRY(questions.answer("01112311 is missing: the next record is a neighbour", answer, "01112312~"));
  CELLAR_TRY_ASSIGN(answer, record_of(*hole, "011123110"));
  CELLAR_TRY(questions.answer("unless it must contain the tile", answer, "nothing"));
  CELLAR_TRY_ASSIGN(const auto nested, forecast(engine, "nested", {"01112", "011123112"}));
  CELLAR_TRY_ASSIGN(answer, record_of(*nested, "011123110"));
  CELLAR_TRY(
      questions.answer("01112 and a tile within it: the small one hides the large one", answer, "nothing"));
  ReadStats cost;
  std::vector<Get> gets;  // the tile and all tiles that contain it
  for (size_t n = 1; n <= 9; ++n)
    gets.push_back(Get(padded(std::string("011123110").substr(0, n), 9)).stats(&cost));
  CELLAR_TRY_ASSIGN(const std::vector<RowBatch> found, nested->get_many(gets));
  answer.clear();
  for (const RowBatch& each : found)
    if (!each.empty()) append(answer, each.row().row());
  return questions.answer("tiles that overlap need a get of each size", answer, "01112~~~~", &cost);
}

Status run(const std::string& store, const std::vector<std::string>& files, Questions& questions) {
  if (!files.empty()) return Status::invalid_argument("usage: example_weather [STORE]");
  CELLAR_TRY_ASSIGN(const auto engine, new_store(store));
  CELLAR_TRY(ask_next(*engine, questions));
  return engine->close();
}

}  // namespace

int main(int argc, char** argv) { return run_application(argc, argv, "weather_store", run); }
