// How rows become files: five rows in two families, 11 cells, and the two files that a flush writes.
//
//   example_storage_picture [STORE]
//
// The table has the form of a figure in the literature on HBase, with made-up values. Rows are r1 to r5,
// families CF1 and CF2, columns c1 to c7, timestamps 1 to 4. run.sh shows the files with the program cellar.
#include <algorithm>
#include <tuple>

#include "examples/application.h"

namespace {

using namespace example;

// The cells in the order in which they are written here: not the order of the files.
const std::vector<Cell> kCells = {
    {"r5", "CF2", "c7", 3, CellType::kPut, "value-11"}, {"r1", "CF1", "c1", 1, CellType::kPut, "value-1"},
    {"r3", "CF1", "c2", 4, CellType::kPut, "value-4"},  {"r5", "CF1", "c3", 4, CellType::kPut, "value-7"},
    {"r1", "CF2", "c6", 2, CellType::kPut, "value-9"},  {"r2", "CF1", "c3", 3, CellType::kPut, "value-3"},
    {"r4", "CF1", "c2", 1, CellType::kPut, "value-5"},  {"r3", "CF2", "c5", 4, CellType::kPut, "value-10"},
    {"r2", "CF1", "c1", 2, CellType::kPut, "value-2"},  {"r5", "CF1", "c1", 2, CellType::kPut, "value-6"},
    {"r1", "CF2", "c5", 1, CellType::kPut, "value-8"}};

template <class AnyCell>
std::string text_of(const AnyCell& cell, std::string_view row, std::string_view family,
                    std::string_view qualifier, std::string_view value) {
  return std::string(row) + ":" + std::string(family) + ":" + std::string(qualifier) + ":t" +
         std::to_string(cell.timestamp) + ":" + std::string(value);
}
std::string text_of(const Cell& cell) {
  return text_of(cell, cell.row, cell.family, cell.qualifier, cell.value);
}
std::string text_of(const CellView& cell) {
  return text_of(cell, cell.row(), cell.family(), cell.qualifier(), cell.value_bytes());
}

// The cells that `wanted` chooses in the order of the data model: row, family, qualifier, newest first. Found
// without Cellar.
std::string expected_cells(const std::function<bool(const Cell&)>& wanted) {
  std::vector<Cell> cells;
  std::ranges::copy_if(kCells, std::back_inserter(cells), wanted);
  std::ranges::sort(cells, {}, [](const Cell& cell) {
    return std::tuple(cell.row, cell.family, cell.qualifier, -cell.timestamp);
  });
  std::string list;
  for (const Cell& cell : cells) append(list, text_of(cell));
  return list;
}

Result<std::string> cells_of(Table& table, const Get& get) {
  CELLAR_TRY_ASSIGN(const RowBatch row, table.get(get));
  std::string list;
  for (const CellView& cell : row.row()) append(list, text_of(cell));
  return list;
}

Status ask_rows(Table& table, Questions& questions) {
  for (const std::string row : {"r5", "r4"}) {
    ReadStats cost;
    CELLAR_TRY_ASSIGN(const std::string found, cells_of(table, Get(row).stats(&cost)));
    CELLAR_TRY(questions.answer("The row " + row, found,
                                expected_cells([&](const Cell& cell) { return cell.row == row; }), &cost));
  }
  for (const std::string row : {"r1", "r2", "r3"}) {
    CELLAR_TRY_ASSIGN(const std::string found, cells_of(table, Get(row)));
    CELLAR_TRY(questions.same(row, found, expected_cells([&](const Cell& cell) { return cell.row == row; })));
  }
  CELLAR_TRY_ASSIGN(const std::string none, cells_of(table, Get("r6")));
  return questions.same("r6", none, "");
}

// Asks for one family, one column and one range of timestamps: some files stay closed.
Status ask_parts(Table& table, Questions& questions) {
  questions.chapter("Parts of the row r5, from the files");
  const auto ask = [&](const char* question, Get get,
                       const std::function<bool(const Cell&)>& wanted) -> Status {
    ReadStats cost;
    CELLAR_TRY_ASSIGN(const std::string found, cells_of(table, get.stats(&cost)));
    const auto of_row = [&](const Cell& cell) { return cell.row == "r5" && wanted(cell); };
    return questions.answer(question, found, expected_cells(of_row), &cost);
  };
  CELLAR_TRY(ask("Family CF2: the file of CF1 stays closed", Get("r5").family("CF2"),
                 [](const Cell& cell) { return cell.family == "CF2"; }));
  CELLAR_TRY(ask("Column CF1:c3", Get("r5").column("CF1", "c3"),
                 [](const Cell& cell) { return cell.family == "CF1" && cell.qualifier == "c3"; }));
  return ask("Timestamps before 3: both files have some, so both are read", Get("r5").time_range(0, 3),
             [](const Cell& cell) { return cell.timestamp < 3; });
}

// Reads each file without the engine, cell by cell, in the order of the file.
Status ask_files(const std::string& store, const Table& table, Questions& questions) {
  questions.chapter("The files after a flush, cell by cell");
  for (const std::string name : {"CF1", "CF2"}) {
    CELLAR_TRY_ASSIGN(const std::vector<StoreFileInfo> files, table.files(name));
    CELLAR_TRY(questions.same("files of " + name, std::to_string(files.size()), "1"));
    CELLAR_TRY_ASSIGN(const HFile file, HFile::open(store + "/" + files[0].path));
    HFileCells cells = file.cells();
    std::string list;
    while (const CellView* cell = cells.next()) append(list, text_of(*cell));
    CELLAR_TRY(cells.status());
    CELLAR_TRY(questions.answer("The file of " + name + ", " + std::to_string(file.facts().cells) + " cells",
                                list, expected_cells([&](const Cell& cell) { return cell.family == name; })));
  }
  return {};
}

Status run(const std::string& store, const std::vector<std::string>&, Questions& questions) {
  CELLAR_TRY_ASSIGN(const auto engine, new_store(store));
  CELLAR_TRY_ASSIGN(const auto table,
                    engine->create_table("figure", {.families = {{.name = "CF1"}, {.name = "CF2"}}}));
  for (const Cell& cell : kCells)
    CELLAR_TRY(table->put(Put(cell.row).add_at(cell.family, cell.qualifier, cell.timestamp, cell.value)));
  questions.chapter("Rows from memory, before a flush");
  CELLAR_TRY(ask_rows(*table, questions));
  CELLAR_TRY(engine->flush());
  questions.chapter("The same rows from files");
  CELLAR_TRY(ask_rows(*table, questions));
  CELLAR_TRY(ask_parts(*table, questions));
  CELLAR_TRY(ask_files(store, *table, questions));
  return engine->close();
}

}  // namespace

int main(int argc, char** argv) { return run_application(argc, argv, "storage_picture_store", run); }
