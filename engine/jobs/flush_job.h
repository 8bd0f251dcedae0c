// FlushJob: the recipe of a flush: frozen memtables become one durable store file.
#pragma once

#include <span>

#include "engine/jobs/store_work.h"

namespace cellar {

// Returns whether the store was dropped or replaced. The manifest knows it first, and refuses edits about the
// store from then on; the store itself is told a little later.
bool is_gone(const Disk& disk, const Store& store);

// Returns what the flush of these memtables adds to the totals of the family.
FamilyTotals flush_totals(std::span<const MemtableRef> memtables, const NewFiles& made);

// Flushes all frozen memtables of the store. Returns ok also if the store has none.
Status flush_store(const StoreWork& work, Store& store);

}  // namespace cellar
