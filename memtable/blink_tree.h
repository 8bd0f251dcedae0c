// BlinkTree: cells in a B-link tree whose nodes are published by one word; one inserter, wait-free readers.
//
//          ┌──────────── inner ───────────┐            prefix, separator and child of each entry
//          ▼               ▼              ▼
//        leaf ──next──▶  leaf ──next──▶ leaf           prefix and record of each entry
//
// A node's entries lie in slots in the order they came; `order` (Masstree's permutation) lists the slots by
// key: 4 bits of count, then 4 bits a slot. To insert is to fill the next free slot and store a new order. A
// slot once published never changes but for an inner node's child pointers, so whoever loaded an order has a
// consistent node for as long as it likes.
//
// A full node is split into two fresh ones and left as it was for readers that are in it (frozen). Only at
// the ends of the tree is there no copying: beyond the last cell a new leaf is opened to the right of the
// last one, before the first cell to the left of the first; that keeps the nodes of sequential inserts full.
//
// Searching a node counts the prefixes (key_prefix.h) below the target's, over the slots as they lie, without
// a branch; only entries with the target's very prefix are compared. Nodes keep the shape of their prefixes
// when they split, and take a narrower one when prefixes begin to coincide.
//
// Memory order. The inserter fills memory and then stores a pointer or order to it with release; a reader
// loads it with acquire and so sees all that was filled. In a split the inserter stores, in this sequence:
// (1) the parent's order with the new right node, (2) the parent's child pointer from the old node to the new
// left one, (3) the `next` of the leaf before. A reader that took a child pointer loads the parent's order
// again: if (2) was seen, so is (1), and the reader looks again with the right node in place. (At most once
// per free slot: slots only fill up.) So a child's range always holds the target.
//
// What a reader sees. Every node that a seek reaches was part of the tree at some instant after the seek
// began, and `next` leads from such a node to another such, whose range begins where the first one's ended.
// So a Place meets every cell whose insert() returned before its last seek, in order, and may meet later
// ones; cells inserted meanwhile into a node it stands in, or one frozen under it, may be missed until it
// seeks again.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>

#include "base/arena.h"
#include "cellar/cell.h"
#include "memtable/cell_record.h"

namespace cellar {

// One thread inserts at a time, ordered by the caller; any thread reads. Records are borrowed and outlive the
// tree.
class BlinkTree {
 public:
  BlinkTree();
  BlinkTree(const BlinkTree&) = delete;
  BlinkTree& operator=(const BlinkTree&) = delete;

  // Inserts `record`, a copy of `cell`, before all cells equal to it.
  void insert(const CellView& cell, const CellRecord* record);

  // Fetches the nodes that inserting these cells will need, all at once: a way down is a chain of cache
  // misses, but the ways of different cells are independent. At most kPreparedMax cells; inserter only.
  static constexpr size_t kPreparedMax = 16;
  void prepare_inserts(std::span<const CellView> cells) const;

  // Bytes of nodes, frozen ones included. Any thread.
  uint64_t bytes() const { return bytes_.load(std::memory_order_relaxed); }

 private:
  struct Node;
  struct Leaf;
  struct Inner;
  struct Path;
  struct Split;

 public:
  // Place: where a reader stands. A plain value, one thread at a time; valid as long as the tree.
  class Place {
   public:
    // Each returns the record it moved to, or null when there is none; then it stands nowhere until the next
    // seek.
    const CellRecord* seek(const BlinkTree& tree, const CellView& target);         // first at or after
    const CellRecord* seek_before(const BlinkTree& tree, const CellView& target);  // last before
    const CellRecord* next();
    // Null when it stands nowhere.
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

  Arena first_nodes_{8 << 10};  // small tables stay small
  Arena nodes_{1 << 20};
  std::atomic<uint64_t> bytes_{0};
  std::atomic<Node*> root_{nullptr};
  Leaf* last_leaf_ = nullptr;  // inserter only

  // Where the last cell was put, and the upper bound of its leaf if it is the last there; inserter only. A
  // cell that follows it, as in a wide row or a sequence, needs no way down.
  struct Finger {
    Leaf* leaf = nullptr;  // null after a split
    uint32_t index = 0;
    const CellRecord* high = nullptr;
  };
  Finger finger_;
  bool running_ = false;  // the last cells followed one another
};

}  // namespace cellar
