// Copies the cells of one table, range of rows by range of rows, and compares the two tables afterwards.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "cellar/table.h"
#include "tools/frame/session.h"
#include "tools/transfer/copy_sink.h"
#include "tools/transfer/copy_state.h"

namespace cellar {

// A part of a table to copy, and the portions in which it is copied.
struct CopyPlan {
  Scan scan;  // columns, times and rows, no prefix(); raw(): with delete markers and what they hide
  uint64_t portion_bytes = 32u << 20;  // of cells, after which a portion ends with its row
  uint64_t range_bytes = 32u << 20;    // of cells, after which a range that is compared ends with its row
  bool compare_tags = false;           // both tables show the tags of cells
  bool strict_versions = false;        // both tables can be read with Scan::strict_versions()
};

// Copies the cells from the row at which `progress` stands. After each portion the sink is finished,
// `progress` goes on, and `save` is called. A scan may meet cells of equal coordinates: the newest is copied.
// The markers of a row are copied after its other cells, unless the sink takes them in order.
// Errors: those of Scanner, of the sink and of `save`; kAborted after Ctrl-C; kNotSupported for a cell
// without a time. `progress` then tells from where the same call goes on.
//
// Cells that two such calls write twice do no harm. They and their markers have the timestamps that they had,
// so the second write stores what is there.
Status copy_cells(Session& session, Table& from, const CopyPlan& plan, CopySink& sink, CopyProgress& progress,
                  const std::function<Status()>& save);

// The rows and cells that a scan of a range returned, with a hash of the cells in their order.
struct RangeDigest {
  uint64_t rows = 0;
  uint64_t cells = 0;
  uint64_t hash = 0;
  bool operator==(const RangeDigest&) const = default;
};

// Rows from `start` to `stop`. Empty: open. The first range begins, and the last one ends, as the plan does.
struct RangeDifference {
  std::string start;
  std::string stop;
  bool start_inclusive = true;
  bool stop_inclusive = false;
  RangeDigest from;
  RangeDigest to;
};

struct CopyComparison {
  uint64_t ranges = 0;
  uint64_t rows = 0;   // of the table that was copied
  uint64_t cells = 0;  // of the same
  uint64_t different = 0;
  uint64_t surplus = 0;                      // ranges in which the second table has more cells
  std::vector<RangeDifference> differences;  // the first 1,000
};

// Compares what reads of the two tables show: all visible versions of the plan's cells. Delete markers and
// what they hide do not count, since a compaction of either table may drop them. Cells whose family lets them
// expire soon do not count either. A range that differs is read again, in case it changed in between. With a
// time range and CopyPlan::strict_versions it is read once more, without versions that a compaction would
// drop. One of the tables may have had that compaction. Errors: those of Scanner; kAborted after Ctrl-C.
Result<CopyComparison> compare_tables(Session& session, Table& from, Table& to, const CopyPlan& plan);

}  // namespace cellar
