// Memtable: cells not yet on disk, in order. Any thread may read; one may insert. A cell found here stays
// valid as long as the memtable is pinned.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "base/pin.h"
#include "cell/cursor.h"
#include "cellar/plugin.h"

namespace cellar {

// Figures of what was inserted; any thread may read them, each on its own is exact once the inserter is done.
struct MemtableSummary {
  uint64_t cells = 0;
  uint64_t bytes = 0;  // memory of the cells and the structure
  int64_t timestamp_min = INT64_MAX;
  int64_t timestamp_max = INT64_MIN;
  uint64_t sequence_min = UINT64_MAX;
  uint64_t sequence_max = 0;
  uint64_t deletes = 0;
  uint64_t family_deletes = 0;   // DeleteFamily and DeleteFamilyVersion
  uint64_t version_deletes = 0;  // Delete and DeleteFamilyVersion
  bool reaches_back = false;     // holds a DeleteColumn or DeleteFamily: matters for every older time range
  uint64_t tags = 0;             // cells with tags
};

// Memtable: the interface behind which sorted structures compete; made by name through Registry<Memtable>.
class Memtable : public Pinnable {
 public:
  // Inserts a copy of the cell (key, value, tags). The cell's sequence is part of its order. A cell equal to
  // one already here in all of order (same sequence) hides it: the later one inserted is met first. One
  // thread at a time, ordered by the caller (a lock or the writer's queue); readers meanwhile see it entirely
  // or not at all.
  virtual void insert(const CellView& cell) = 0;

  // As insert() of each, in this order. Faster for many: the structure may fetch memory for cells to come.
  virtual void insert_all(std::span<const CellView> cells) {
    for (const CellView& cell : cells) insert(cell);
  }

  // A cursor that pins this memtable. It sees at least the cells inserted before it was made, and may see
  // later ones: readers filter by sequence. Any number of cursors, any threads.
  virtual std::unique_ptr<CellCursor> cursor() const = 0;

  virtual MemtableSummary summary() const = 0;

  // Memory held, cheap; any thread.
  virtual uint64_t bytes() const = 0;

  // False only when no cell of the row was inserted before the call. Cheap; any thread.
  virtual bool may_contain_row(std::string_view row) const = 0;
};

// A memtable of the named structure: "blink" (the default of the engine) or "skip_list". Whoever takes it
// puts it into a Pin (Pin(made.release())) before anything else does.
Result<std::unique_ptr<Memtable>> make_memtable(std::string_view name);

}  // namespace cellar
