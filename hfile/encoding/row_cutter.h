// Slices of rows: add_row() takes the cells of one row out of a block, and read_for_row() out of as little of
// a block as possible.
#pragma once

#include "base/assert.h"
#include "cell/cell_key.h"
#include "cellar/cell.h"
#include "cellar/read_stats.h"
#include "hfile/block/block_in_steps.h"
#include "hfile/block/file_parts.h"
#include "hfile/block/row_keeper.h"
#include "hfile/encoding/plain_cells.h"

namespace cellar {

// Gives the keeper the cells of its row. The decoder stands before the row, and decodes into the two slots
// in turn. `index` points to the block. `grow()` gives the decoder more of the block, and returns false if
// there is no more. Returns false if the cells are not all in the block, not in order, or too many. The
// decoder may then be anywhere in the block. The read reports the faults that it meets itself.
template <class Decoder, class InOrder, class Grow>
bool add_row(Decoder& decoder, typename Decoder::Slot& one, typename Decoder::Slot& other,
             const IndexCursor& index, const InOrder& in_order, RowKeeper& keeper, const Grow& grow) {
  CELLAR_DCHECK(&one != &other);
  typename Decoder::Slot* at = &one;
  for (const CellView* before = nullptr;; before = at, at = at == &one ? &other : &one) {
    DecodeStep step = decoder.next(*at);
    while (step != DecodeStep::kCell && grow()) step = decoder.next(*at);
    if (step == DecodeStep::kBad) return false;
    if (step == DecodeStep::kEnd) return keeper.ends_in(index);
    if (before != nullptr && !in_order(*before, *at)) return false;
    const int order = at->row().compare(keeper.row());
    if (order > 0) return true;
    if (order == 0 && !keeper.add(*at)) return false;
  }
}

// Makes a slice of the keeper's row, and decompresses no more of the block than that takes. Returns false if
// the row has no slice, or after a fault, which the read of the whole block meets again.
template <class Decoder, class InOrder>
bool cut_row_in_steps(const IndexCursor& index, Decoder& decoder, const InOrder& in_order, RowKeeper& keeper,
                      BlockInSteps& steps, bool has_priority) {
  thread_local OwnedCell first_key;
  first_of_row(first_key, keeper.row());
  if (!keeper.begins_in(index, first_key.view())) return false;
  const auto grow = [&] {
    if (steps.is_whole() || !steps.advance().ok()) return false;
    decoder.extend(steps.payload().data() + steps.payload().size());
    return true;
  };
  typename Decoder::Slot one;
  typename Decoder::Slot other;
  decoder.open(steps.payload());
  while (decoder.next(one) != DecodeStep::kCell) {
    if (!grow()) return false;
  }
  if (!index.check_first(one).ok()) return false;
  decoder.rewind();
  keeper.begin(steps.block());
  return add_row(decoder, one, other, index, in_order, keeper, grow) && keeper.finish(has_priority);
}

// Reads the block of `index` for the keeper's row. If the block need not enter the cache, tries to make a
// slice of the row. Returns null if the slice is made, otherwise the whole block. The file's codec works in
// steps.
template <class Decoder, class InOrder>
Result<Block*> read_for_row(const FileParts& parts, IndexCursor& index, ReadStats* stats, Decoder& decoder,
                            const InOrder& in_order, RowKeeper& keeper) {
  CELLAR_TRY_ASSIGN(BlockInSteps steps, parts.blocks->read_in_steps(index.offset(), index.disk_bytes(),
                                                                    parts.index->limit(), stats));
  const bool left_out = steps.block().kind() == Decoder::kBlockKind &&
                        keeper.leaves_out(index.slot(), steps.block()) &&
                        !keeper.missed_lately(index.block_id());
  if (left_out && keeper.take_turn() &&
      cut_row_in_steps(index, decoder, in_order, keeper, steps, parts.options.in_memory))
    return nullptr;
  Result<Block*> whole = steps.finish();
  if (!whole.ok()) return whole.status().at(parts.blocks->place(index.offset()));
  return whole;
}

}  // namespace cellar
