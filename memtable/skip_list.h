// SkipList: cells in a classic skip list; one inserter, wait-free readers. The measure for other structures.
//
// Memory order. A node is filled, then linked from the lowest level up, each pointer stored with release; a
// reader loads pointers with acquire and so sees a filled node. Nodes are never unlinked. A cell counts as
// inserted once it is linked at the lowest level; higher levels only lead there faster.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>

#include "base/arena.h"
#include "base/random.h"
#include "cellar/cell.h"
#include "memtable/cell_record.h"

namespace cellar {

// One thread inserts at a time, ordered by the caller; any thread reads. Records are borrowed and outlive the
// list.
class SkipList {
 private:
  struct Node;

 public:
  SkipList();
  SkipList(const SkipList&) = delete;
  SkipList& operator=(const SkipList&) = delete;

  // Inserts `record`, a copy of `cell`, before all cells equal to it.
  void insert(const CellView& cell, const CellRecord* record);

  // Nothing can be fetched ahead without the comparisons that need it.
  static constexpr size_t kPreparedMax = SIZE_MAX;
  void prepare_inserts(std::span<const CellView>) const {}

  // Bytes of nodes. Any thread.
  uint64_t bytes() const { return bytes_.load(std::memory_order_relaxed); }

  // Place: where a reader stands. A plain value, one thread at a time; valid as long as the list. Meets every
  // cell whose insert() returned before it got there.
  class Place {
   public:
    // Each returns the record it moved to, or null when there is none; then it stands nowhere until the next
    // seek.
    const CellRecord* seek(const SkipList& list, const CellView& target);         // first at or after
    const CellRecord* seek_before(const SkipList& list, const CellView& target);  // last before
    const CellRecord* next();
    // Null when it stands nowhere.
    const CellRecord* record() const;

   private:
    const Node* node_ = nullptr;
  };

 private:
  static constexpr uint32_t kLevelsMax = 16;

  Node* make_node(const CellRecord* record, uint64_t prefix, uint32_t levels);
  // Neighbours: what lies on both sides of a key at one instant.
  struct Neighbours {
    Node* before;       // the head when there is none
    Node* at_or_after;  // null when there is none
  };
  Neighbours find(const CellView& target, Node** path) const;
  uint32_t draw_levels();

  Arena first_nodes_{8 << 10};
  Arena nodes_{1 << 20};
  std::atomic<uint64_t> bytes_{0};
  std::atomic<uint32_t> levels_{1};
  Random random_{0x5eed};
  Node* head_;
};

}  // namespace cellar
