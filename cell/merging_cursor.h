// MergingCursor: merges several sorted runs into one.
#pragma once

#include <memory>
#include <vector>

#include "cell/cursor.h"

namespace cellar {

// MergeSource: a source and its age. Among equal cells the source with the smaller age (the younger one)
// comes first.
struct MergeSource {
  std::unique_ptr<CellCursor> cursor;
  uint32_t age = 0;
};

// Returns a cursor over the cells of all sources in order; equal cells all appear, youngest first. With
// one source it returns that source; with no sources it returns an empty cursor. The cursor fails when a
// source fails, with that source's status. Leaves `sources` empty, with its memory.
std::unique_ptr<CellCursor> make_merging_cursor(std::vector<MergeSource>&& sources);
// Does the same for sources that give rows backward (reverse_row_cursor.h); the result gives rows
// backward, too.
std::unique_ptr<CellCursor> make_backward_merging_cursor(std::vector<MergeSource>&& sources);

}  // namespace cellar
