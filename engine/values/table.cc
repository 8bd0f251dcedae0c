// Table and Transaction: what follows from the functions that every kind of table and transaction has.
#include "cellar/table.h"
#include "base/assert.h"
#include "base/bytes.h"

#include <fmt/format.h>

#include "cellar/filter.h"
#include "cellar/transaction.h"

namespace cellar {
namespace {

Result<RowBatch> nearest_row(Table& table, std::string_view row, const Scan& asked, bool reversed) {
  Scan scan = asked;
  scan.start(row).reversed(reversed).limit(1).cursor_after_cells(0).cursor_after_ms(0);
  CELLAR_TRY_ASSIGN(const std::unique_ptr<Scanner> scanner, table.scan(scan));
  RowBatch found;
  scanner->next_batch(found, 1);
  CELLAR_TRY(scanner->status());
  CELLAR_ASSERT(found.size() <= 1);
  return found;
}

}  // namespace

Result<std::vector<StoreFileInfo>> Table::files(std::string_view family) const {
  TableInfo all = info();
  for (FamilyInfo& each : all.families)
    if (each.options.name == family) return std::move(each.files);
  return Status::invalid_argument(
      fmt::format("table {} has no family \"{}\"", escaped(name()), escaped(family)));
}

Result<int64_t> Table::increment_one(std::string_view row, std::string_view family,
                                     std::string_view qualifier, int64_t amount,
                                     const WriteOptions& options) {
  CELLAR_TRY_ASSIGN(const std::vector<int64_t> sums,
                    increment(Increment(row).add(family, qualifier, amount), options));
  CELLAR_ASSERT(sums.size() == 1);
  return sums.front();
}

Result<Row> Table::get_row(const Get& get) {
  CELLAR_TRY_ASSIGN(const RowBatch batch, this->get(get));
  return batch.empty() ? Row{get.row(), {}} : batch.row().to_row();
}

Result<std::vector<std::string>> Table::region_starts() { return std::vector<std::string>(1); }

Result<RowBatch> Table::row_at_or_after(std::string_view row, const Scan& asked) {
  return nearest_row(*this, row, asked, false);
}

Result<RowBatch> Table::row_at_or_before(std::string_view row, const Scan& asked) {
  if (row.empty()) return RowBatch();  // to a reversed scan it would be the end of the table
  return nearest_row(*this, row, asked, true);
}

// A wide row is counted in parts, so that it need not fit into memory; but a filter may drop it at its end.
Result<RangeCount> Table::count(const Scan& asked, const std::function<bool(const RangeCount&)>& on_way) {
  constexpr uint32_t kCellsAtOnce = 1000;
  const bool whole_rows = asked.filter() != nullptr;
  Scan scan = asked;
  scan.batch(whole_rows ? 0 : kCellsAtOnce).max_result_bytes(0);
  // While a filter lets nothing pass, cursors let the caller stop the count.
  constexpr uint32_t kToldEveryMs = 100;
  scan.cursor_after_cells(0).cursor_after_ms(on_way ? kToldEveryMs : 0);
  CELLAR_TRY_ASSIGN(const std::unique_ptr<Scanner> scanner, this->scan(scan));
  RangeCount count;
  while (scanner->next()) {
    const RowView row = scanner->row();
    count.cells += row.cells().size();
    count.rows += row.more_cells_in_row() || row.is_cursor() ? 0 : 1;
    if (on_way && !on_way(count))
      return Status::with_code(Code::kAborted, fmt::format("stopped at {} rows", count.rows));
  }
  CELLAR_ASSERT(count.rows <= count.cells);  // a row without cells is not returned
  CELLAR_TRY(scanner->status());
  return count;
}

// The scanner keeps the instant: rows that are put meanwhile stay.
Result<uint64_t> Table::erase_rows(const Scan& which, const std::function<bool(uint64_t)>& on_way,
                                   const WriteOptions& options) {
  constexpr size_t kRowsAtOnce = 256;
  if (which.time_from() > 0)
    return Status::invalid_argument("the time range of rows to delete has a beginning, and markers have none")
        .hinting("give only the end of the range");
  const int64_t until = which.time_until() == kLatestTimestamp ? kNow : which.time_until() - 1;
  Scan scan = which;
  scan.raw(false).versions(1).batch(0).max_result_bytes(0).cursor_after_cells(0).cursor_after_ms(0);
  if (which.filter() == nullptr)
    scan.max_per_family(1).family_offset(0);  // a cell tells that the row is there
  CELLAR_TRY_ASSIGN(const std::unique_ptr<Scanner> scanner, this->scan(scan));
  uint64_t rows = 0;
  for (bool more = true; more;) {
    std::vector<Action> deletes;
    while (deletes.size() < kRowsAtOnce && (more = scanner->next())) {
      Delete erase(scanner->row().row(), until);
      which.for_each_family([&](std::string_view family, std::span<const std::string> qualifiers) {
        if (qualifiers.empty()) erase.family(family);
        for (const std::string& qualifier : qualifiers) erase.column(family, qualifier);
      });
      deletes.emplace_back(std::move(erase));
    }
    if (deletes.empty()) break;
    for (const Result<ActionResult>& each : batch(deletes, options)) CELLAR_TRY(each);
    rows += deletes.size();
    if (on_way && !on_way(rows))
      return Status::with_code(Code::kAborted, fmt::format("stopped after {} deleted rows", rows));
  }
  CELLAR_TRY(scanner->status());
  return rows;
}

Result<Row> Transaction::get_row(const std::shared_ptr<Table>& table, const Get& get) {
  CELLAR_TRY_ASSIGN(const RowBatch batch, this->get(table, get));
  return batch.empty() ? Row{get.row(), {}} : batch.row().to_row();
}

Result<bool> Transaction::exists(const std::shared_ptr<Table>& table, const Get& get) {
  CELLAR_TRY_ASSIGN(const RowBatch batch, this->get(table, get));
  return !batch.empty();
}

// All see the transaction's instant, so they may be read one after the other.
Result<std::vector<RowBatch>> Transaction::get_many(const std::shared_ptr<Table>& table,
                                                    std::span<const Get> gets) {
  std::vector<RowBatch> rows;
  rows.reserve(gets.size());
  for (const Get& each : gets) {
    CELLAR_TRY_ASSIGN(RowBatch row, get(table, each));
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace cellar
