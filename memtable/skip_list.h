// SkipList: cells in a classic skip list; one inserter, wait-free readers. The baseline for other
// structures.
//
// Memory order. A node is filled, then linked from the lowest level up, each pointer being stored with
// release. A reader loads pointers with acquire and so sees a filled node. Nodes are never unlinked. A
// cell counts as inserted once it is linked at the lowest level; higher levels only speed up the search.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/arena.h"
#include "base/random.h"
#include "cellar/cell.h"
#include "memtable/cell_record.h"

namespace cellar {

// One thread inserts at a time, ordered by the caller; any thread reads. Records are borrowed and must
// outlive the list.
class SkipList {
 private:
  struct Node;

 public:
  SkipList();
  SkipList(const SkipList&) = delete;
  SkipList& operator=(const SkipList&) = delete;

  // Inserts `record`, a copy of `cell`, before all cells equal to it.
  void insert(const CellView& cell, const CellRecord* record, const void* near = nullptr);

  // Returns the first record at or after `target`, or null. Any thread. Sets `near` to null: unlike a leaf of
  // a BlinkTree, a node of the list does not shorten a later search.
  const CellRecord* find(const CellView& target, const void*& near) const;

  // Returns the bytes of all nodes. Any thread.
  uint64_t bytes() const { return bytes_.load(std::memory_order_relaxed); }

  // Place: the position of a reader. A plain value; one thread at a time; valid as long as the list. It
  // meets every cell whose insert() returned before the Place reached its position.
  class Place {
   public:
    // seek(), seek_before() and next() return the record moved to, or null at the end. After null the Place
    // has no position until the next seek.
    const CellRecord* seek(const SkipList& list, const CellView& target);  // first at or after `target`
    const CellRecord* seek_before(const SkipList& list, const CellView& target);  // last before `target`
    const CellRecord* next();
    // Returns the current record, or null if the Place has no position.
    const CellRecord* record() const;

   private:
    const Node* node_ = nullptr;
  };

 private:
  static constexpr uint32_t kLevelsMax = 16;

  Node* make_node(const CellRecord* record, uint64_t prefix, uint32_t levels);
  // Neighbours: the nodes on both sides of a key at one instant.
  struct Neighbours {
    Node* before;       // the head if there is no node before the key
    Node* at_or_after;  // null if there is no such node
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
