// newest_in_memory: the current cell of a column, where the active memtable alone can tell it.
#pragma once

#include <memory>
#include <string_view>

#include "cellar/cell.h"
#include "engine/store/mvcc.h"
#include "engine/store/store.h"

namespace cellar {

// NewestCell: a cell, and the view that keeps its bytes. A newer cell of its column is best inserted at the
// spot.
struct NewestCell {
  std::shared_ptr<const StoreView> view;
  CellView cell;
  Spot spot;
};

// Looks for the cell that a get of the column's newest version would return now. Returns true, and sets
// `found`, if the active memtable holds that cell. Nothing in older memtables or in files can hide it then. A
// counter that was just incremented is such a cell. Returns false if only a get can
// tell. For a thread that has locked the row, so that no cell of it is being written.
bool newest_in_memory(const Store& store, std::string_view row, std::string_view qualifier, Mvcc& mvcc,
                      NewestCell& found);

}  // namespace cellar
