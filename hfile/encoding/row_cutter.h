// add_row(): takes the cells of one row out of a block.
#pragma once

#include "base/assert.h"
#include "cellar/cell.h"
#include "hfile/block/row_keeper.h"
#include "hfile/encoding/plain_cells.h"

namespace cellar {

// Gives the keeper the cells of its row. The decoder stands before the row, and decodes into the two slots
// in turn. `index` points to the block. Returns false if the cells are not all in the block, not in order, or
// too many. The decoder may then be anywhere in the block. The read reports the faults that it meets itself.
template <class Decoder, class InOrder>
bool add_row(Decoder& decoder, typename Decoder::Slot& one, typename Decoder::Slot& other,
             const IndexCursor& index, const InOrder& in_order, RowKeeper& keeper) {
  CELLAR_DCHECK(&one != &other);
  typename Decoder::Slot* at = &one;
  for (const CellView* before = nullptr;; before = at, at = at == &one ? &other : &one) {
    const DecodeStep step = decoder.next(*at);
    if (step == DecodeStep::kBad) return false;
    if (step == DecodeStep::kEnd) return keeper.ends_in(index);
    if (before != nullptr && !in_order(*before, *at)) return false;
    const int order = at->row().compare(keeper.row());
    if (order > 0) return true;
    if (order == 0 && !keeper.add(*at)) return false;
  }
}

}  // namespace cellar
