// Memtable: sorted cells that are not yet on disk. Any thread may read; one thread may insert. A cell
// found here stays valid as long as the memtable is pinned.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "base/assert.h"
#include "base/pin.h"
#include "cell/cursor.h"
#include "cellar/plugin.h"

namespace cellar {

// MemtableSummary: figures of the inserted cells. Any thread may read them; each figure is exact once the
// inserter is done.
struct MemtableSummary {
  uint64_t cells = 0;
  uint64_t bytes = 0;  // memory of the cells and of the structure
  int64_t timestamp_min = INT64_MAX;
  int64_t timestamp_max = INT64_MIN;
  uint64_t sequence_min = UINT64_MAX;
  uint64_t sequence_max = 0;
  uint64_t deletes = 0;
  uint64_t family_deletes = 0;   // DeleteFamily and DeleteFamilyVersion
  uint64_t version_deletes = 0;  // Delete and DeleteFamilyVersion
  bool reaches_back = false;     // holds a DeleteColumn or DeleteFamily: matters for every older time range
  uint64_t tags = 0;             // number of cells with tags
  uint64_t cell_bytes = 0;       // keys, values and tags of all cells that were inserted
};

// Spot: where in a memtable a search ended. It may shorten the next search there. A plain value, which may
// outlive the memtable: each memtable knows its own spots.
struct Spot {
  uint64_t memtable = 0;  // the number of the memtable; 0: of none
  const void* at = nullptr;
};

// HeldMemory: the memory of memtables that left their store and that readers still pin. Any thread.
struct HeldMemory {
  std::atomic<int64_t> bytes{0};
  std::atomic<int64_t> memtables{0};
};

// MemtableSuccessor: the place of a memtable's cells after its flush. The engine derives from it.
struct MemtableSuccessor {
  virtual ~MemtableSuccessor() = default;
};

// Memtable: the interface of the sorted structures, which are made by name through Registry<Memtable>.
class Memtable : public Pinnable {
 public:
  ~Memtable() override {
    if (let_go_bytes_ < 0) return;
    held_->bytes.fetch_sub(let_go_bytes_, std::memory_order_relaxed);
    held_->memtables.fetch_sub(1, std::memory_order_relaxed);
  }
  // Sets where let_go() counts this memtable. Called once, before another thread knows of the memtable.
  void count_held_in(std::shared_ptr<HeldMemory> held) { held_ = std::move(held); }
  // Every cell of this memtable is also at this place, and readers may go on there. Called at most once, by a
  // holder of a pin.
  void set_successor(std::shared_ptr<const MemtableSuccessor> successor) {
    CELLAR_ASSERT(successor_owner_ == nullptr && successor != nullptr);
    successor_owner_ = std::move(successor);
    successor_.store(successor_owner_.get(), std::memory_order_release);
  }
  // Returns the place, or null. Any thread. It lives as long as the memtable is pinned.
  const MemtableSuccessor* successor() const { return successor_.load(std::memory_order_acquire); }
  // The store needs the memtable no more: its cells are in files, or were dropped. The bytes count as held
  // until the last pin ends. The caller has a pin. Called at most once.
  void let_go() {
    CELLAR_ASSERT(let_go_bytes_ < 0);
    if (held_ == nullptr) return;
    let_go_bytes_ = static_cast<int64_t>(bytes());
    held_->bytes.fetch_add(let_go_bytes_, std::memory_order_relaxed);
    held_->memtables.fetch_add(1, std::memory_order_relaxed);
  }

  // Inserts a copy of the cell (key, value, tags). The cell's sequence is part of its order. A cell that is
  // equal in the full order (same sequence) to one already here hides it: cursors meet the cell inserted
  // later first. One thread at a time, ordered by the caller (a lock or the writer's queue). Concurrent
  // readers see the cell completely or not at all. `spot` is empty, or of find(): with a target that is not
  // after the cell, and a result that is not before it.
  virtual void insert(const CellView& cell, const Spot& spot) = 0;
  void insert(const CellView& cell) { insert(cell, Spot()); }

  // Takes a copy of the cell, and inserts it at some time until settle(). The searches of several cells then
  // wait for memory together. Readers and figures may miss the cell until then. It counts as inserted by the
  // caller's thread. For cells that nobody reads yet: those of a batch, or of the log in a recovery.
  virtual void add(const CellView& cell) { insert(cell); }
  // Inserts what add() took.
  virtual void settle() {}

  // Returns a cursor that pins this memtable. It sees at least the cells inserted before it was made, and
  // may see later ones: readers filter by sequence. Any number of cursors, on any threads.
  virtual std::unique_ptr<RunCursor> cursor() const = 0;

  // Finds the first cell at or after `target`, as a cursor's seek would, without making a cursor. Returns
  // false if there is no such cell. The bytes of `found` live as long as the memtable is pinned. `spot` is
  // empty, or of the last search for an equal target. Afterwards it is this search's. Any thread.
  virtual bool find(const CellView& target, CellView& found, Spot& spot) const = 0;

  virtual MemtableSummary summary() const = 0;

  // Returns the number of bytes of memory held. Cheap; any thread.
  virtual uint64_t bytes() const = 0;

  // Returns false only if no cell of the row was inserted before the call. Cheap; any thread.
  virtual bool may_contain_row(std::string_view row) const = 0;

 private:
  std::shared_ptr<HeldMemory> held_;  // null: nobody counts
  int64_t let_go_bytes_ = -1;         // counted by let_go(); -1: not called
  std::shared_ptr<const MemtableSuccessor> successor_owner_;
  std::atomic<const MemtableSuccessor*> successor_{nullptr};
};

// Returns a memtable with the named structure: "blink" (the engine's default), "art", "vector" or "skip_list"
// (docs/memtables.md). Any other name: kInvalidArgument. The caller must put it into a Pin
// (Pin(made.release())) before any other use.
Result<std::unique_ptr<Memtable>> make_memtable(std::string_view name);

}  // namespace cellar
