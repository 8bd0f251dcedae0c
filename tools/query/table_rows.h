// Reads rows of a table for a command: prints them, or counts them.
#pragma once

#include <cstdint>

#include "cellar/table.h"
#include "tools/frame/cell_printer.h"
#include "tools/frame/progress.h"
#include "tools/frame/read_cost.h"
#include "tools/frame/session.h"

namespace cellar {

// The progress of a scan: the cells that it has examined, of those that lie in its range by an estimate.
class ScanProgress {
 public:
  // Makes the scan count what it examines. `table` and the scan's statistics are borrowed.
  ScanProgress(const Session& session, std::string what, Table& table, Scan& scan);
  // `cells` were found. step() is cheap; show() is for callers that come seldom.
  void step(uint64_t cells);
  void show(uint64_t cells);
  int64_t micros() const { return progress_.micros(); }

 private:
  uint64_t examined() const { return stats_ == nullptr ? 0 : stats_->cells_examined; }

  Progress progress_;
  ReadStats own_;
  const ReadStats* stats_ = nullptr;
};

// Opens a scan that comes back every 100 ms, with a cursor if it has found nothing (RowView::is_cursor()).
Result<std::unique_ptr<Scanner>> paced_scan(Table& table, const Scan& asked);

// Gives every cell of the scan to `printer` and returns how many rows there were; the status of an interrupt
// after Ctrl-C. When it returns, `cost.micros` is set and whatever `scan` counts is complete.
Result<uint64_t> print_rows(Session& session, Table& table, const Scan& scan, CellPrinter& printer,
                            ReadCost& cost);

struct CountOptions {
  uint64_t interval = 0;     // a line on standard error every so many rows; 0: none
  ReadCost* cost = nullptr;  // its `micros` is set
};
// Prints how many rows and cells the scan meets (schema cellar.count/1). Long rows are read in parts where
// the scan's filter allows that.
Status print_count(Session& session, Table& table, const Scan& scan, const CountOptions& options = {});

}  // namespace cellar
