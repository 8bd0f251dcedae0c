// Table: what follows from the functions that every kind of table has.
#include "cellar/table.h"

namespace cellar {
namespace {

Result<RowBatch> nearest_row(Table& table, std::string_view row, const Scan& asked, bool reversed) {
  Scan scan = asked;
  scan.start(row).reversed(reversed).limit(1).cursor_after_cells(0).cursor_after_ms(0);
  CELLAR_TRY_ASSIGN(const std::unique_ptr<Scanner> scanner, table.scan(scan));
  RowBatch found;
  scanner->next_batch(found, 1);
  CELLAR_TRY(scanner->status());
  return found;
}

}  // namespace

Result<RowBatch> Table::row_at_or_after(std::string_view row, const Scan& asked) {
  return nearest_row(*this, row, asked, false);
}

Result<RowBatch> Table::row_at_or_before(std::string_view row, const Scan& asked) {
  return nearest_row(*this, row, asked, true);
}

}  // namespace cellar
