// RadixTree: cells in an adaptive radix tree (V. Leis, A. Kemper, T. Neumann, 2013); one inserter, wait-free
// readers.
//
// A node has one child for each symbol (radix_key.h) that follows the part of the key that its cells share.
// Nodes come in four sizes and grow. A path on which nothing branches has no nodes: a node names the position
// of the symbol that it looks at. A cell hangs at the first node at which it is alone. So the depth is that
// of the branches, however long the keys are.
//
// A search verifies what it skips. A node keeps the skipped bytes if they are at most 8 bytes of a row.
// Otherwise it names one of its cells, and the search compares with that.
//
// Memory order. A node's position and skipped bytes never change. A child is stored before the word that
// makes it known: the `order` of a small node, the `present` of a wide one. That word is stored with release
// and loaded with acquire. So is every pointer to a child. Three changes replace a child of a node, or the
// root, by one store:
//  - A full node is copied into a larger one. The old node stays unchanged (frozen) for readers in it.
//  - Where a new cell leaves the path to a node, or to a single cell, a node for the two comes in between.
//  - Cells that are equal in every symbol become a chain, the one inserted last first.
//
// Reader guarantees. A search meets every cell whose insert() returned before it began, because each step
// loads what is current. A Place keeps the nodes of its path. A node on it shows every cell that was below it
// when the search took it, frozen or not. So a Place meets, in order, every cell whose insert() returned
// before its last seek. It may meet or miss later ones. A Place remembers only the last nodes of a deep path.
// Beyond them it searches from the root again.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "base/arena.h"
#include "cellar/cell.h"
#include "memtable/cell_record.h"

namespace cellar {

// One thread inserts at a time, ordered by the caller; any thread reads. Records are borrowed and must
// outlive the tree.
class RadixTree {
 public:
  RadixTree() = default;
  RadixTree(const RadixTree&) = delete;
  RadixTree& operator=(const RadixTree&) = delete;

  // Inserts `record`, a copy of `cell`, before all cells equal to it. `near` is null.
  void insert(const CellView& cell, const CellRecord* record, const void* near = nullptr);

  // Returns the first record at or after `target`, or null. Any thread. Sets `near` to null: a search that
  // begins at a node would not see what replaced the node.
  const CellRecord* find(const CellView& target, const void*& near) const;

  // Returns the bytes of all nodes, including frozen ones. Any thread.
  uint64_t bytes() const { return bytes_.load(std::memory_order_relaxed); }

  // Shape: the number of nodes of each size that a walk meets, for tests. Any thread.
  struct Shape {
    std::array<uint64_t, 4> nodes = {};  // of 4, 14, 48 and all children
    uint64_t chains = 0;
  };
  Shape shape() const;

 private:
  enum class Kind : uint8_t { kNode4, kNode14, kNode48, kNode256 };
  struct Node;
  template <uint32_t kSlots>
  struct SmallNode;
  using Node4 = SmallNode<4>;
  using Node14 = SmallNode<14>;
  struct WideNode;
  struct Node48;
  struct Node256;
  struct Chain;
  struct Branch;
  enum class Side;

  // Child: a pointer to a node, a record or a chain. Its lowest bits tell which. 0 stands for no child.
  using Child = uintptr_t;
  static constexpr Child kTagMask = 3;
  static constexpr Child kNodeTag = 0;
  static constexpr Child kRecordTag = 1;
  static constexpr Child kChainTag = 2;

 public:
  // Place: the position of a reader. A plain value; one thread at a time; valid as long as the tree.
  class Place {
   public:
    // seek(), seek_before() and next() return the record moved to, or null at the end. After null the Place
    // has no position until the next seek.
    const CellRecord* seek(const RadixTree& tree, const CellView& target);  // first at or after `target`
    const CellRecord* seek_before(const RadixTree& tree, const CellView& target);  // last before `target`
    const CellRecord* next();
    // Returns the current record, or null if the Place has no position.
    const CellRecord* record() const { return record_; }

   private:
    enum class Way { kForward, kBackward };
    static constexpr uint32_t kStepsMax = 16;

    struct Step {
      const Node* node;
      int32_t symbol;  // of the child taken
    };
    template <Way kWay>
    const CellRecord* search(const CellView& target);
    template <Way kWay>
    const CellRecord* turn(const CellView& from);
    template <Way kWay>
    const CellRecord* turn_from_root(const CellView& from);
    template <Way kWay>
    const CellRecord* land(Child child);
    template <Way kWay>
    static Branch branch(const Node& node, int32_t symbol);
    static void prefetch_after(const Node& node, const Branch& child);
    void push(const Node* node, int32_t symbol);
    const CellRecord* nowhere();

    const RadixTree* tree_ = nullptr;
    const CellRecord* record_ = nullptr;
    const Chain* chain_ = nullptr;  // of the record, or null
    uint32_t depth_ = 0;
    bool forgot_ = false;  // there are nodes above the first step
    std::array<Step, kStepsMax> steps_;
  };

 private:
  static bool is_node(Child child) { return (child & kTagMask) == kNodeTag; }
  static const Node& node_of(Child child) { return *reinterpret_cast<const Node*>(child); }
  static const Chain* chain_of(Child child);  // null for a single record
  static const CellRecord* newest_of(Child child);
  static Child child_of(const void* pointer, Child tag);
  static void prefetch_node(const Node& node);
  static void prefetch(Child child);
  static void prefetch_children(const Node& node);
  static Branch at_or_after(const Node& node, int32_t symbol);
  static Branch at_or_before(const Node& node, int32_t symbol);
  static Side side_of(Child child, const CellView& target, uint32_t from);
  template <class N, class Visit>
  static auto as_kind(N& node, const Visit& visit);

  char* allocate(size_t bytes, size_t alignment);
  template <class T>
  T* make_node(uint32_t position);
  void add_child(std::atomic<Child>& place, Node& node, int32_t symbol, Child child);
  void branch_off(std::atomic<Child>& place, uint32_t from, uint32_t position, int32_t old_symbol,
                  const CellRecord* record);
  void add_equal(std::atomic<Child>& place, const CellRecord* record);

  Arena first_nodes_{8 << 10};  // small blocks, so that small tables stay small
  Arena nodes_{1 << 20};
  std::atomic<uint64_t> bytes_{0};
  std::atomic<Child> root_{0};
};

}  // namespace cellar
