// A file that HBase wrote: what it is, whether it is sound, its cells, and the same cells in a store of one's
// own.
//
//   example_read_hbase_file [HFILE [STORE]]
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>

#include "cellar/cellar.h"
#include "cellar/hfile.h"

namespace {

using namespace cellar;

Status look(const std::string& path) {
  CELLAR_TRY_ASSIGN(const HFile file, HFile::open(path));
  const HFileFacts& facts = file.facts();
  std::printf("HFile v%s, %s, %s: %llu cells, rows %s to %s\n", facts.version.c_str(),
              facts.compression.c_str(), facts.encoding.c_str(), static_cast<unsigned long long>(facts.cells),
              facts.first_row.c_str(), facts.last_row.c_str());
  std::printf("row-007 %s, row-700 %s\n", file.may_contain_row("row-007") ? "may be in it" : "is not in it",
              file.may_contain_row("row-700") ? "may be in it" : "is not in it");

  CELLAR_TRY_ASSIGN(std::unique_ptr<ReadableFile> bytes, posix_file_system().open_file(path));
  const HFileCheck check = HFile::verify(std::move(bytes), HFileCheckLevel::kDeep);
  std::printf("%s: %llu blocks, %llu cells\n", check.sound ? "sound" : "damaged",
              static_cast<unsigned long long>(check.blocks), static_cast<unsigned long long>(check.cells));
  for (const HFileProblem& problem : check.problems)
    std::printf("  %s %s\n", problem.code.c_str(), problem.text.c_str());
  if (!check.sound) return Status::corruption(path + " is damaged");

  HFileCells cells = file.cells({.start = "row-007", .stop = "row-008"});
  std::string line;
  while (const CellView* cell = cells.next()) {
    line.clear();
    append_json(line, *cell, true);
    std::printf("%s\n", line.c_str());
  }
  return cells.status();
}

// Every version and every delete marker, as they are: the table then answers as HBase would.
Status adopt(const std::string& path, const std::string& store) {
  std::filesystem::remove_all(store);
  CELLAR_TRY_ASSIGN(const HFile file, HFile::open(path));
  CELLAR_TRY_ASSIGN(const auto engine, Engine::open(store, {.create_if_missing = true}));
  std::shared_ptr<Table> table;
  HFileCells cells = file.cells();
  Batch batch;
  while (const CellView* cell = cells.next()) {
    if (table == nullptr) {
      const FamilyOptions family = {.name = std::string(cell->family()), .max_versions = 10};
      CELLAR_TRY_ASSIGN(table, engine->create_table("adopted", {.families = {family}}));
    }
    batch.cell(table, *cell);
  }
  CELLAR_TRY(cells.status());
  if (table == nullptr) return engine->close();
  CELLAR_TRY(engine->write(batch));
  CELLAR_TRY(table->flush());
  CELLAR_TRY_ASSIGN(const auto scanner, table->scan(Scan().versions(10)));
  size_t rows = 0;
  size_t visible = 0;
  for (const RowView row : *scanner) {
    ++rows;
    visible += row.cells().size();
  }
  CELLAR_TRY(scanner->status());
  std::printf("adopted: %zu mutations, %zu rows with %zu visible cells\n", batch.mutations(), rows, visible);
  return {};
}

// A file of examples/data: looked for here and in the directories above, for programs run inside a build
// directory.
std::string sample(const std::string& name) {
  std::filesystem::path place = std::filesystem::current_path();
  while (!std::filesystem::exists(place / "examples" / "data" / name) && place.has_relative_path())
    place = place.parent_path();
  return (place / "examples" / "data" / name).string();
}

}  // namespace

int main(int argc, char** argv) {
  const std::string path = argc > 1 ? argv[1] : sample("versions.hfile");
  Status status = look(path);
  if (status.ok()) status = adopt(path, argc > 2 ? argv[2] : "read_hbase_file_store");
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.to_text().c_str());
  return status.ok() ? 0 : 1;
}
