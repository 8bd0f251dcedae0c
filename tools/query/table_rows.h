// Reads rows of a table for a command: prints them, or counts them.
#pragma once

#include <cstdint>

#include "cellar/table.h"
#include "tools/frame/cell_printer.h"
#include "tools/frame/read_cost.h"
#include "tools/frame/session.h"

namespace cellar {

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
