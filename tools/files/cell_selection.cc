// CellSelection: options of `dump` and its kin, and the walk that stops where nothing more can be wanted.
#include "tools/files/cell_selection.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "cell/cell_key.h"

namespace cellar {
namespace {

std::string plain(std::string_view name) {
  std::string text;
  for (const char c : name) {
    if (c != '_' && c != '-') text += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return text;
}

}  // namespace

void CellSelection::declare(Arguments& arguments) {
  arguments.option("--row", row_, "ROW", "only this row")
      .option("--start", start_, "ROW", "first row")
      .option("--stop", stop_, "ROW", "end of the rows; this row is not included")
      .option("--prefix", prefix_, "BYTES", "rows with this prefix")
      .option_list("--column", columns_, "COLUMN", "family:qualifier or family; may be repeated")
      .option("--time", time_text_, "A..B", "timestamps from A, before B; either may be left out")
      .option("--types", types_text_, "LIST", "kinds of cells, such as put,delete_family");
}

Status CellSelection::parse() {
  CELLAR_TRY_ASSIGN(start_, for_argument("--start", parse_bytes(start_)));
  CELLAR_TRY_ASSIGN(stop_, for_argument("--stop", parse_bytes(stop_)));
  CELLAR_TRY_ASSIGN(prefix_, for_argument("--prefix", parse_bytes(prefix_)));
  CELLAR_TRY_ASSIGN(row_, for_argument("--row", parse_bytes(row_)));
  for (const std::string& text : columns_) {
    CELLAR_TRY_ASSIGN(const ColumnOperand column, for_argument("--column", parse_column(text)));
    chosen_.push_back(column);
  }
  CELLAR_TRY(parse_types());
  if (!time_text_.empty()) {
    CELLAR_TRY_ASSIGN(const auto range, for_argument("--time", parse_time_range(time_text_)));
    time_from_ = range.first;
    if (range.second != kLatestTimestamp) time_until_ = range.second;  // else also cells at LATEST
    timed_ = true;
  }
  start_ = std::max({start_, prefix_, row_});
  return {};
}

Status CellSelection::parse_types() {
  for (const std::string& word : words_of(types_text_)) {
    const auto at = std::ranges::find_if(
        kStoredTypes, [&](CellType type) { return plain(type_name(type)) == plain(word); });
    if (at == std::end(kStoredTypes)) {
      return Status::invalid_argument(fmt::format("--types: unknown type \"{}\"", word))
          .hinting("put, delete, delete_family_version, delete_column, delete_family");
    }
    types_.push_back(*at);
  }
  return {};
}

// Returns true if neither this row nor a later one, in byte order, is selected.
bool CellSelection::beyond(std::string_view row) const {
  if (!stop_.empty() && row >= stop_) return true;
  if (!row_.empty() && row > row_) return true;
  return !prefix_.empty() && row > prefix_ && !row.starts_with(prefix_);
}

bool CellSelection::wanted(const CellView& cell) const {
  const std::string_view row = cell.row();
  if (row < start_ || beyond(row)) return false;
  if (timed_ && (cell.timestamp < time_from_ || (cell.timestamp >= time_until_ && time_until_ != INT64_MAX)))
    return false;
  if (!types_.empty() && std::ranges::find(types_, cell.cell_type) == types_.end()) return false;
  if (chosen_.empty()) return true;
  return std::ranges::any_of(chosen_, [&](const ColumnOperand& column) {
    return column.family == cell.family() && (!column.qualifier || *column.qualifier == cell.qualifier());
  });
}

uint64_t CellSelection::cells_of(const HFileReader& file) const {
  return row_.empty() && start_.empty() && stop_.empty() && prefix_.empty() ? file.cells() : 0;
}

Status CellSelection::walk(const HFileReader& file, Progress& progress,
                           const std::function<bool(const CellView&)>& take) const {
  uint64_t walked = 0;
  const std::unique_ptr<CellCursor> cursor = file.cursor({.fill_cache = false, .sequential = true});
  OwnedCell first;
  first_of_row(first, file.meta_order() ? std::string_view() : start_);
  for (const CellView* cell = cursor->seek(first.view()); cell != nullptr; cell = cursor->next()) {
    if (interrupted()) return {};
    ++walked;
    progress.step(walked, walked);
    if (!file.meta_order() && beyond(cell->row())) break;
    if (wanted(*cell) && !take(*cell)) return {};
  }
  return cursor->status();
}

}  // namespace cellar
