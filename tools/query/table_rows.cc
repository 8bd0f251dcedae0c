// print_rows and print_count: the loop over a scan that commands and the shell share.
#include "tools/query/table_rows.h"

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "base/bytes.h"

namespace cellar {
namespace {

constexpr uint32_t kCursorAfterMs =
    100;  // so that progress is drawn, and Ctrl-C noticed, whatever a filter drops

// How many cells lie in the range of the scan, by an estimate; 0 if nobody knows where the scan ends.
uint64_t cells_in_range(Table& table, const Scan& scan) {
  if (scan.limit() > 0) return 0;
  KeyRange range{scan.start(), scan.stop()};
  if (scan.reversed()) std::swap(range.start, range.stop);
  if (!scan.prefix().empty()) range = keys_with_prefix(scan.prefix());
  std::vector<std::string> families;
  scan.for_each_family([&](std::string_view family, const auto&) { families.emplace_back(family); });
  const Result<RangeEstimate> estimate = table.estimate(range, families);
  return estimate.ok() ? estimate->cells.estimate : 0;
}

}  // namespace

ScanProgress::ScanProgress(const Session& session, std::string what, Table& table, Scan& scan)
    : progress_(session, std::move(what), 0, Progress::Unit::kCells) {
  if (!Progress::is_shown(session)) return;
  if (scan.stats() == nullptr) scan.stats(&own_);
  stats_ = scan.stats();
  // The cells that were examined are told on the way only by a scan that is not explained.
  if (scan.explain() == nullptr) progress_.find_total([&table, scan] { return cells_in_range(table, scan); });
}

void ScanProgress::step(uint64_t cells) { progress_.step(examined(), cells); }
void ScanProgress::show(uint64_t cells) { progress_.show(examined(), cells); }

Result<std::unique_ptr<Scanner>> paced_scan(Table& table, const Scan& asked) {
  Scan scan = asked;
  scan.cursor_after_ms(kCursorAfterMs);
  return table.scan(scan);
}

Result<uint64_t> print_rows(Session& session, Table& table, const Scan& asked, CellPrinter& printer,
                            ReadCost& cost) {
  Scan scan = asked;
  ScanProgress progress(session, "scan", table, scan);
  CELLAR_TRY_ASSIGN(std::unique_ptr<Scanner> scanner, paced_scan(table, scan));
  uint64_t rows = 0;
  while (!session.stopping() && scanner->next()) {
    const RowView row = scanner->row();
    if (row.is_cursor()) {
      progress.show(printer.cells());
      continue;
    }
    for (const CellView& cell : row) printer.add(cell);
    rows += row.more_cells_in_row() ? 0 : 1;
    progress.step(printer.cells());
  }
  CELLAR_TRY(scanner->status());
  scanner.reset();  // what it cost is complete now
  cost.micros = progress.micros();
  if (interrupted()) return interrupted_status(counted(rows, "row") + " printed");
  return rows;
}

Status print_count(Session& session, Table& table, const Scan& asked, const CountOptions& options) {
  Scan scan = asked;
  uint64_t rows = 0;
  Result<RangeCount> counted = RangeCount{};
  {
    ScanProgress progress(session, "count", table, scan);
    counted = table.count(scan, [&](const RangeCount& so_far) {
      const bool row_done = so_far.rows > std::exchange(rows, so_far.rows);
      row_done ? progress.step(so_far.cells) : progress.show(so_far.cells);
      if (row_done && options.interval > 0 && rows % options.interval == 0)
        session.talk(fmt::format("counted {} so far", cellar::counted(rows, "row")));
      return !session.stopping();
    });
    if (options.cost != nullptr) options.cost->micros = progress.micros();
  }
  if (interrupted()) return interrupted_status(cellar::counted(rows, "row") + " counted");
  if (session.stopping()) return {};  // nobody reads the answer
  CELLAR_TRY(counted.status());
  Records records(session.out(), session.format(), "cellar.count/1", "counts");
  records.count("rows", counted->rows).count("cells", counted->cells).add();
  records.finish();
  return {};
}

}  // namespace cellar
