// Scans of hbase:meta, whose rows have an order of their own.
#pragma once

#include <memory>
#include <string_view>

#include "cellar/query.h"
#include "cellar/scanner.h"
#include "cellar/table.h"

namespace cellar::hbase::wire {
class WireScan;
}

namespace cellar::hbase::serve {

// Returns a negative number, 0 or a positive one, as row `a` of hbase:meta stands before, at or after row
// `b`. A row is "table,first row,id": the three parts are compared one after the other. So "t,," stands
// before "t,\0,", though its bytes are greater. HBase: MetaCellComparator.
int compare_meta_rows(std::string_view a, std::string_view b);

// Opens a scan of the rows that `table` has now. `scan` has the ends and the direction, `asked` all else. A
// filter is asked about each row by itself. The cells are those at the time of each step.
Result<std::unique_ptr<Scanner>> scan_meta(const std::shared_ptr<Table>& table, const Scan& scan,
                                           const wire::WireScan& asked);

}  // namespace cellar::hbase::serve
