// A file for HBase's bulk load: lines of a CSV file become rows of one family, sorted as HBase sorts them.
//
//   example_write_hbase_file [CSV [DIRECTORY]]
//
// The CSV file names its columns in its first line; the first column is the row's key.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "cellar/hfile.h"
#include "cellar/hfile_builder.h"

namespace {

using namespace cellar;
namespace fs = std::filesystem;

constexpr char kFamily[] = "d";
constexpr int64_t kTimestamp = 1'700'000'000'000;

std::vector<std::string> fields_of(const std::string& line) {
  std::vector<std::string> fields;
  std::stringstream rest(line);
  for (std::string field; std::getline(rest, field, ',');) fields.push_back(field);
  return fields;
}

Result<std::vector<Cell>> cells_of(std::istream& csv) {
  std::string line;
  std::getline(csv, line);
  const std::vector<std::string> columns = fields_of(line);
  std::vector<Cell> cells;
  while (std::getline(csv, line)) {
    const std::vector<std::string> fields = fields_of(line);
    if (fields.size() != columns.size()) return Status::invalid_argument("another number of fields: " + line);
    for (size_t i = 1; i < fields.size(); ++i)
      cells.emplace_back(fields[0], kFamily, columns[i], kTimestamp, CellType::kPut, fields[i]);
  }
  // All versions and types being the same, rows and then columns in the order of their bytes are HBase's
  // order.
  std::sort(cells.begin(), cells.end(), [](const Cell& a, const Cell& b) {
    return a.row != b.row ? a.row < b.row : a.qualifier < b.qualifier;
  });
  return cells;
}

Status write(std::istream& csv, const std::string& path) {
  CELLAR_TRY_ASSIGN(const std::vector<Cell> cells, cells_of(csv));
  HFileBuilderOptions options;
  options.compression = "gz";
  options.encoding = "fast_diff";
  options.replace = true;
  CELLAR_TRY_ASSIGN(HFileBuilder file, HFileBuilder::create(posix_file_system(), path, options));
  for (const Cell& cell : cells) CELLAR_TRY(file.add(cell));
  CELLAR_TRY(file.set_info("source", "example_write_hbase_file"));
  CELLAR_TRY_ASSIGN(const HFileFacts built, file.finish());
  std::printf("%llu cells in %llu rows, %s to %s\n", static_cast<unsigned long long>(built.cells),
              static_cast<unsigned long long>(built.rows.value_or(0)), built.first_row.c_str(),
              built.last_row.c_str());
  return {};
}

Status read_again(const std::string& path) {
  CELLAR_TRY_ASSIGN(const HFile file, HFile::open(path));
  HFileCells cells = file.cells({.start = "p-102"});
  while (const CellView* cell = cells.next())
    std::printf("%s  %s = %s\n", std::string(cell->row()).c_str(), std::string(cell->qualifier()).c_str(),
                std::string(cell->value_bytes()).c_str());
  return cells.status();
}

Status run(const std::string& csv, const std::string& folder) {
  // The shape of a bulk load: a directory per family, files named by 32 hex digits.
  std::error_code error;
  fs::create_directories(folder + "/" + kFamily, error);
  if (error) return Status::io_error("create directory " + folder + ": " + error.message());
  const std::string path = folder + "/" + kFamily + "/00000000000000000000000000000001";
  if (csv.empty()) {
    std::stringstream people("id,name,town\np-103,Ines,Porto\np-101,Ada,London\np-102,Kurt,Brno\n");
    CELLAR_TRY(write(people, path));
  } else {
    std::ifstream file(csv);
    if (!file) return Status::not_found("cannot open " + csv);
    CELLAR_TRY(write(file, path));
  }
  CELLAR_TRY(read_again(path));
  std::printf("now: hbase completebulkload %s TABLE\n", folder.c_str());
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  const Status status = run(argc > 1 ? argv[1] : "", argc > 2 ? argv[2] : "people-for-hbase");
  if (status.ok()) return 0;
  std::fprintf(stderr, "%s\n", status.to_text().c_str());
  return 1;
}
