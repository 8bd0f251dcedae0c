// BlinkTree: cells in a B-link tree whose nodes are published by one word; one inserter, wait-free
// readers.
//
//          ┌──────────── inner ───────────┐            prefix, separator and child of each entry
//          ▼               ▼              ▼
//        leaf ──next──▶  leaf ──next──▶ leaf           prefix and record of each entry
//
// `order` lists a node's slots by key (slot_order.h). An insert fills the next free slot and stores a new
// order. A published slot never changes, except for an inner node's child pointers. A reader that has loaded
// an order therefore has a consistent node for as long as it needs it.
//
// A full node is split into two new nodes. The old node stays unchanged (frozen) for readers that are in
// it. Only at the ends of the tree nothing is copied. Beyond the last cell, a new leaf is opened to the
// right of the last leaf. Before the first cell, one is opened to the left of the first leaf. This keeps
// the nodes of sequential inserts full.
//
// A search in a node counts the prefixes (key_prefix.h) below the target's prefix. It goes over the slots
// in their physical order, without a branch. Only entries whose prefix equals the target's are compared.
// A node keeps the shape of its prefixes when it splits, and takes a narrower shape when prefixes begin
// to coincide.
//
// Memory order. The inserter fills memory and then stores a pointer or order to it with release. A reader
// loads it with acquire, so it sees everything that was filled. In a split the inserter stores, in this
// sequence:
//  (1) The parent's order with the new right node. (2) The parent's child pointer from the old node to the
//  new left node. (3) The `next` of the leaf before.
// A reader that has taken a child pointer loads the parent's order again. If it saw (2), it sees (1),
// too, and looks again with the right node in place. (This happens at most once per free slot, because
// slots only fill up.) So a child's range always holds the target.
//
// Reader guarantees. Every node that a seek reaches was part of the tree at some instant after the seek
// began. `next` leads from such a node to another one, whose range begins where the range of the first
// ends. So a Place meets, in order, every cell whose insert() returned before the last seek of the Place.
// It may also meet later cells. Cells inserted meanwhile into the Place's node, or after that node was
// frozen, may be missed until the Place seeks again.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>

#include "base/arena.h"
#include "cellar/cell.h"
#include "memtable/cell_record.h"

namespace cellar {

// One thread inserts at a time, ordered by the caller; any thread reads. Records are borrowed and must
// outlive the tree.
class BlinkTree {
 public:
  BlinkTree();
  BlinkTree(const BlinkTree&) = delete;
  BlinkTree& operator=(const BlinkTree&) = delete;

  // Inserts `record`, a copy of `cell`, before all cells equal to it. `near` is null, or comes from aim() for
  // this cell, or from find(). The target of the find() is not after the cell, and its result not before it.
  void insert(const CellView& cell, const CellRecord* record, const void* near = nullptr);

  // Returns true if the last cells followed one another. The next one then needs no search. For the inserter.
  bool is_running() const { return running_; }

  // Sets near[i] to the leaf where cells[i] belongs, for insert(), or to null. The searches go down together,
  // so that they wait for memory at the same time. For the inserter.
  void aim(std::span<const CellView> cells, std::span<const void*> near) const;

  // Returns the first record at or after `target`, or null. Any thread. `near` is null, or comes from an
  // earlier call with an equal target, and is looked at first. Afterwards it is the leaf of the result, or
  // null.
  const CellRecord* find(const CellView& target, const void*& near) const;

  // Returns the bytes of all nodes, including frozen ones. Any thread.
  uint64_t bytes() const { return bytes_.load(std::memory_order_relaxed); }

 private:
  struct Node;
  struct Leaf;
  struct Inner;
  struct Path;
  struct Split;

 public:
  // Place: the position of a reader. A plain value; one thread at a time; valid as long as the tree.
  class Place {
   public:
    // seek(), seek_before() and next() return the record moved to, or null at the end. After null the Place
    // has no position until the next seek.
    const CellRecord* seek(const BlinkTree& tree, const CellView& target);  // first at or after `target`
    const CellRecord* seek_before(const BlinkTree& tree, const CellView& target);  // last before `target`
    const CellRecord* next();
    // Returns the current record, or null if the Place has no position.
    const CellRecord* record() const;

   private:
    const Leaf* leaf_ = nullptr;
    uint64_t order_ = 0;
    uint32_t index_ = 0;
  };

 private:
  static void prefetch_node(const Node* node);
  static const Node* child_for(const Inner& inner, const CellView& target);
  static const Leaf* leaf_for(const Node* node, const CellView& target);

  template <class T>
  T* make_node(uint8_t level);
  bool try_continue(const CellView& cell, const CellRecord* record);
  bool try_near(const CellView& cell, const CellRecord* record, const void* near);
  void descend(const CellView& cell, Path& path) const;
  void split_leaf(const Path& path, uint32_t index, const CellRecord* record);
  void open_right(const Path& path, const CellRecord* record);
  void open_left(const Path& path, const CellRecord* record);
  Leaf* build_leaf(const Split& split, uint32_t begin, uint32_t end, const CellRecord* low,
                   const CellRecord* high);
  Inner* build_inner(const Split& split, uint32_t begin, uint32_t end, const CellRecord* low,
                     const CellRecord* high);
  void add_child(const Path& path, uint32_t level, Node* left, const CellRecord* separator, Node* right);
  void rebuild_inner(const Path& path, uint32_t level, Node* left, const CellRecord* separator, Node* right);
  void replace_child(const Path& path, uint32_t level, Node* by);

  std::atomic<Node*> root_{nullptr};
  Arena first_nodes_{8 << 10};  // small blocks, so that small tables stay small
  Arena nodes_{1 << 20};

  // Position of the last inserted cell, and the upper bound of its leaf if it is the last cell there;
  // inserter only. A cell that follows it, as in a wide row or a sequence, needs no descent.
  struct Finger {
    Leaf* leaf = nullptr;  // null after a split
    uint32_t index = 0;
    const CellRecord* high = nullptr;
    bool high_is_known = true;
  };
  // Each insert stores here. Readers do not look here, and their lines of cache stay with them.
  alignas(64) Finger finger_;
  bool running_ = false;       // True if the last cells followed one another
  Leaf* last_leaf_ = nullptr;  // inserter only
  std::atomic<uint64_t> bytes_{0};
};

}  // namespace cellar
