// MergingCursor: many sorted runs as one.
#pragma once

#include <memory>
#include <vector>

#include "cell/cursor.h"

namespace cellar {

// A source and its age: among equal cells the source with the smaller age (the younger one) comes first.
struct MergeSource {
  std::unique_ptr<CellCursor> cursor;
  uint32_t age = 0;
};

// The sources' cells in order, equal ones all of them, youngest first. One source needs no merge: it is
// returned itself. No source is an empty run. Fails when a source fails, with that source's status. A merge
// has no seek_before (aborts): whoever goes backward reverses the sources.
std::unique_ptr<CellCursor> make_merging_cursor(std::vector<MergeSource> sources);
// The same for sources that give rows backward (reverse_row_cursor.h), and so does the merge.
std::unique_ptr<CellCursor> make_backward_merging_cursor(std::vector<MergeSource> sources);

}  // namespace cellar
