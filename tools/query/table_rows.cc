// print_rows and print_count: the loop over a scan that commands and the shell share.
#include "tools/query/table_rows.h"

#include <fmt/format.h>

#include <utility>

#include "base/bytes.h"
#include "tools/frame/progress.h"

namespace cellar {

Result<uint64_t> print_rows(Session& session, Table& table, const Scan& scan, CellPrinter& printer,
                            ReadCost& cost) {
  Progress progress(session, "scan", 0);
  CELLAR_TRY_ASSIGN(std::unique_ptr<Scanner> scanner, table.scan(scan));
  uint64_t rows = 0;
  while (!session.stopping() && scanner->next()) {
    const RowView row = scanner->row();
    for (const CellView& cell : row) printer.add(cell);
    rows += row.more_cells_in_row() ? 0 : 1;
    progress.step(0, printer.cells());
  }
  CELLAR_TRY(scanner->status());
  scanner.reset();  // what it cost is complete now
  cost.micros = progress.micros();
  if (interrupted()) return interrupted_status(fmt::format("{} rows were printed", human_count(rows)));
  return rows;
}

Status print_count(Session& session, Table& table, const Scan& scan, const CountOptions& options) {
  uint64_t rows = 0;
  Result<RangeCount> counted = RangeCount{};
  {
    Progress progress(session, "count", 0);
    counted = table.count(scan, [&](const RangeCount& so_far) {
      progress.step(0, so_far.cells);
      const bool row_done = so_far.rows > std::exchange(rows, so_far.rows);
      if (row_done && options.interval > 0 && rows % options.interval == 0)
        session.talk(fmt::format("counted {} so far", cellar::counted(rows, "row")));
      return !session.stopping();
    });
    if (options.cost != nullptr) options.cost->micros = progress.micros();
  }
  if (interrupted()) return interrupted_status(fmt::format("{} rows were counted", human_count(rows)));
  if (session.stopping()) return {};  // nobody reads the answer
  CELLAR_TRY(counted.status());
  Records records(session.out(), session.format(), "cellar.count/1", "counts");
  records.count("rows", counted->rows).count("cells", counted->cells).add();
  records.finish();
  return {};
}

}  // namespace cellar
