// Nodes, searches and splits of BlinkTree.
#include "memtable/blink_tree.h"

#include <array>
#include <bit>
#include <new>
#include <utility>

#include "base/assert.h"
#include "base/fetch_lines.h"
#include "cell/cell_order.h"
#include "memtable/key_prefix.h"
#include "memtable/slot_order.h"

namespace cellar {

namespace {

// So many slots fit into one word with their count, and a leaf of them into three cache lines.
constexpr uint32_t kSlots = 14;
constexpr uint32_t kHalf = kSlots / 2;
constexpr uint32_t kDepthMax = 16;
constexpr uint64_t kSmallBytes = 32 << 10;  // nodes up to here come from small blocks

// Returns the order of `count` slots that were filled by key.
uint64_t straight_order(uint32_t count) {
  CELLAR_DCHECK(count > 0 && count <= kSlots);
  uint64_t order = 0;
  for (uint32_t i = 0; i < count; ++i) order = with_next_slot(order, i);
  return order;
}

// Returns where to cut the kSlots + 1 entries of a full leaf and a new one at `index`. The slots tell in
// which order the last entries came. If they ran up to the new one, or down to it, the run is expected to
// continue. Then the part that the run leaves is kept full.
uint32_t cut_for(uint64_t order, uint32_t index) {
  CELLAR_DCHECK(count_of(order) == kSlots && index > 0 && index <= kSlots);
  constexpr uint32_t kLast = kSlots - 1;
  const bool ascends =
      index >= 2 && slot_at(order, index - 1) == kLast && slot_at(order, index - 2) == kLast - 1;
  const bool descends =
      index + 1 < kSlots && slot_at(order, index) == kLast && slot_at(order, index + 1) == kLast - 1;
  if (ascends) return index > kHalf ? index : index + 1;
  if (descends && index < kHalf) return index + 1;
  return kHalf;
}

// Prefixes: the prefixes of a node's slots, two to a word, so that a few vector instructions compare all of
// them. One thread sets, any thread reads. Where a slot's prefix stands next to another one's, both are
// stored again.
class Prefixes {
 public:
  void set(uint32_t slot, uint32_t prefix) {
    CELLAR_DCHECK(slot < kSlots);
    std::atomic<uint64_t>& pair = pairs_[slot / 2];
    const uint64_t mask = uint64_t{UINT32_MAX} << shift_of(slot);
    const uint64_t other = pair.load(std::memory_order_relaxed) & ~mask;
    pair.store(other | uint64_t{as_signed(prefix)} << shift_of(slot), std::memory_order_relaxed);
  }
  uint32_t at(uint32_t slot) const {
    const uint64_t pair = pairs_[slot / 2].load(std::memory_order_relaxed);
    return as_signed(static_cast<uint32_t>(pair >> shift_of(slot)));
  }

  // Returns how many of the first `count` prefixes are smaller, without a branch. A processor cannot predict
  // which slots are in use and where the target lies. Reads all slots, also one that is being filled, which
  // does not count.
  uint32_t below(uint32_t count, uint32_t prefix) const {
    CELLAR_DCHECK(count <= kSlots);
    const auto wanted = static_cast<int32_t>(as_signed(prefix));
    const auto used = static_cast<int32_t>(count);
    const Lanes wanted_lanes = {wanted, wanted, wanted, wanted};
    const Lanes used_lanes = {used, used, used, used};
    const auto smaller = [&](const Lanes& prefixes, const Lanes& slots) {
      return (prefixes < wanted_lanes) & (slots < used_lanes);  // -1 for each
    };
    const Lanes found = smaller(lanes(pair(0), pair(1)), Lanes{0, 1, 2, 3}) +
                        smaller(lanes(pair(2), pair(3)), Lanes{4, 5, 6, 7}) +
                        smaller(lanes(pair(4), pair(5)), Lanes{8, 9, 10, 11}) +
                        smaller(lanes(pair(6), 0), Lanes{12, 13, 14, 15});
    return static_cast<uint32_t>(-(found[0] + found[1] + found[2] + found[3]));
  }

 private:
  using Lanes [[gnu::vector_size(16)]] = int32_t;
  using Words [[gnu::vector_size(16)]] = uint64_t;

  // Vectors compare signed numbers, so prefixes are stored with their highest bit inverted.
  static uint32_t as_signed(uint32_t prefix) { return prefix ^ (uint32_t{1} << 31); }
  static uint32_t shift_of(uint32_t slot) { return 32 * (slot % 2); }
  static Lanes lanes(uint64_t first, uint64_t second) {
    const Words words = {first, second};
    return reinterpret_cast<Lanes>(words);
  }
  uint64_t pair(size_t index) const { return pairs_[index].load(std::memory_order_relaxed); }

  std::atomic<uint64_t> pairs_[kSlots / 2];
};
static_assert(kSlots % 2 == 0 && kSlots <= kOrderSlotsMax && std::endian::native == std::endian::little);

}  // namespace

struct BlinkTree::Node {
  std::atomic<uint64_t> order{0};
  PrefixShape shape;
  uint8_t level = 0;  // 0 is a leaf
};

struct alignas(64) BlinkTree::Leaf : Node {
  std::atomic<Leaf*> next{nullptr};
  Prefixes prefixes;
  const CellRecord* keys[kSlots];

  void fill(uint32_t slot, uint32_t prefix, const CellRecord* record) {
    prefixes.set(slot, prefix);
    keys[slot] = record;
  }
  uint32_t prefix_at(uint64_t order_, uint32_t index) const { return prefixes.at(slot_at(order_, index)); }
};

// `first` is the child to the left of all separators. children[s] holds the cells from keys[s] on. A cell
// equal to a separator may be at the end of the child before it: searches for the cell begin there.
struct alignas(64) BlinkTree::Inner : Node {
  std::atomic<Node*> first{nullptr};
  Prefixes prefixes;
  std::atomic<Node*> children[kSlots];
  const CellRecord* keys[kSlots];

  void fill(uint32_t slot, uint32_t prefix, const CellRecord* separator, Node* child) {
    prefixes.set(slot, prefix);
    keys[slot] = separator;
    children[slot].store(child, std::memory_order_relaxed);
  }
  uint32_t prefix_at(uint64_t order_, uint32_t index) const { return prefixes.at(slot_at(order_, index)); }
  std::atomic<Node*>& child_at(uint64_t order_, uint32_t index) {
    return index == 0 ? first : children[slot_at(order_, index - 1)];
  }
  const std::atomic<Node*>& child_at(uint64_t order_, uint32_t index) const {
    return index == 0 ? first : children[slot_at(order_, index - 1)];
  }
};

static_assert(std::atomic<uint64_t>::is_always_lock_free);

// Path: the inserter's descent: the inner nodes, the root first, and the child taken in each.
struct BlinkTree::Path {
  struct Step {
    Inner* node;
    uint64_t order;
    uint32_t index;
  };
  std::array<Step, kDepthMax> steps;
  uint32_t depth = 0;
  Leaf* leaf = nullptr;

  void add(Inner* node, uint64_t order, uint32_t index) {
    CELLAR_ASSERT(depth < kDepthMax);
    steps[depth++] = {node, order, index};
  }

  // Return the bounds, both included, of the range below the first `level` steps; null if the range is
  // open there.
  const CellRecord* low(uint32_t level) const {
    CELLAR_DCHECK(level <= depth);
    while (level-- > 0) {
      const Step& step = steps[level];
      if (step.index > 0) return step.node->keys[slot_at(step.order, step.index - 1)];
    }
    return nullptr;
  }
  const CellRecord* high(uint32_t level) const {
    CELLAR_DCHECK(level <= depth);
    while (level-- > 0) {
      const Step& step = steps[level];
      if (step.index < count_of(step.order)) return step.node->keys[slot_at(step.order, step.index)];
    }
    return nullptr;
  }

  // Returns the leaf before this one, or null.
  Leaf* leaf_before() const {
    uint32_t level = depth;
    while (level > 0 && steps[level - 1].index == 0) --level;
    if (level == 0) return nullptr;
    const Step& step = steps[level - 1];
    Node* node = step.node->child_at(step.order, step.index - 1).load(std::memory_order_relaxed);
    while (node->level > 0) {
      auto* inner = static_cast<Inner*>(node);
      const uint64_t order = inner->order.load(std::memory_order_relaxed);
      node = inner->child_at(order, count_of(order)).load(std::memory_order_relaxed);
    }
    CELLAR_DCHECK(node != leaf);
    return static_cast<Leaf*>(node);
  }
};

// Split: the entries of a node by key, including a new entry, to be built into new nodes.
struct BlinkTree::Split {
  uint32_t count = 0;
  uint8_t level = 0;
  PrefixShape shape;
  bool keep_shape = false;
  std::array<uint32_t, kSlots + 1> prefixes;
  std::array<const CellRecord*, kSlots + 1> keys;
  std::array<Node*, kSlots + 2> children;  // inner nodes only

  template <class T>
  Split(const T& node, uint64_t order, uint32_t index, const CellRecord* record)
      : level(node.level), shape(node.shape) {
    const uint32_t old_count = count_of(order);
    CELLAR_ASSERT(index <= old_count && old_count <= kSlots);
    for (uint32_t i = 0; i < old_count; ++i) {
      const uint32_t slot = slot_at(order, i);
      const uint32_t to = i < index ? i : i + 1;
      prefixes[to] = node.prefix_at(order, i);
      keys[to] = node.keys[slot];
    }
    count = old_count + 1;
    keys[index] = record;
    // The shape of a node in the middle of the tree fits its parts. The shape stays as long as it
    // distinguishes the entries.
    keep_shape = !shape.checked;
    if (!keep_shape) return;
    prefixes[index] = prefix_of(shape, record->view());
    for (uint32_t i = 1; i < count; ++i) keep_shape = keep_shape && prefixes[i - 1] != prefixes[i];
  }

  // Returns the shape for a node with the entries [begin, end) that lies between `low` and `high`.
  PrefixShape shape_for(uint32_t begin, uint32_t end, const CellRecord* low, const CellRecord* high) const {
    CELLAR_DCHECK(begin < end && end <= count);
    if (keep_shape) return shape;
    if (low != nullptr && high != nullptr) return shape_between(low->view(), high->view());
    const CellRecord* first = low != nullptr ? low : keys[begin];
    const CellRecord* last = high != nullptr ? high : keys[end - 1];
    return open_shape_between(first->view(), last->view());
  }
  uint32_t prefix_for(PrefixShape its_shape, uint32_t i, uint32_t begin) const {
    if (keep_shape) return prefixes[i];
    const CellView cell = keys[i]->view();
    return its_shape.checked ? checked_prefix_of(its_shape, cell, keys[begin]->view())
                             : prefix_of(its_shape, cell);
  }
};

namespace {

// Returns the checked prefix of `cell`. The node's common part is that of its first published cell.
template <class T>
uint32_t checked_prefix_in(const T& node, uint64_t order, const CellView& cell) {
  const bool nothing_to_check = node.shape.part == PrefixPart::kRow && node.shape.skip == 0;
  if (nothing_to_check || count_of(order) == 0) return prefix_of(node.shape, cell);
  return checked_prefix_of(node.shape, cell, node.keys[0]->view());
}

// Returns the prefix of a cell in the node's range.
template <class T>
uint32_t prefix_in(const T& node, uint64_t order, const CellView& cell) {
  return node.shape.checked ? checked_prefix_in(node, order, cell) : prefix_of(node.shape, cell);
}

// Returns the number of entries of the node that are before `target`.
template <class T>
uint32_t entries_before(const T& node, uint64_t order, const CellView& target, uint32_t prefix) {
  const uint32_t count = count_of(order);
  uint32_t below = node.prefixes.below(count, prefix);
  uint32_t up_to = below;
  while (up_to < count && node.prefix_at(order, up_to) == prefix) ++up_to;
  while (below < up_to) {
    const uint32_t middle = (below + up_to) / 2;
    if (compare_cells(node.keys[slot_at(order, middle)]->view(), target) < 0) {
      below = middle + 1;
    } else {
      up_to = middle;
    }
  }
  return below;
}

// Returns whether the cell belongs at `index` of the node: after all smaller entries and before all others.
template <class T>
[[maybe_unused]] bool in_order(const T& node, uint64_t order, uint32_t index, const CellView& cell) {
  const auto compare = [&](uint32_t at) {
    return compare_cells(node.keys[slot_at(order, at)]->view(), cell);
  };
  return (index == 0 || compare(index - 1) < 0) && (index == count_of(order) || compare(index) >= 0);
}

}  // namespace

// ---- Reading ----

// Fetches the cache lines that a search of the node reads: prefixes and children, or the whole leaf.
void BlinkTree::prefetch_node(const Node* node) { fetch_lines(node, 3); }

const BlinkTree::Node* BlinkTree::child_for(const Inner& inner, const CellView& target) {
  for (;;) {
    const uint64_t order = inner.order.load(std::memory_order_acquire);
    const uint32_t index = entries_before(inner, order, target, prefix_in(inner, order, target));
    const Node* child = inner.child_at(order, index).load(std::memory_order_acquire);
    CELLAR_DCHECK(child != nullptr && child->level < inner.level);
    // The child may be the left part of a node whose right part was not yet in the order: look again.
    if (inner.order.load(std::memory_order_relaxed) == order) return child;
  }
}

const BlinkTree::Leaf* BlinkTree::leaf_for(const Node* node, const CellView& target) {
  while (node->level > 0) {
    node = child_for(static_cast<const Inner&>(*node), target);
    prefetch_node(node);
  }
  return static_cast<const Leaf*>(node);
}

const CellRecord* BlinkTree::Place::record() const {
  CELLAR_DCHECK(leaf_ == nullptr || index_ < count_of(order_));
  return leaf_ == nullptr ? nullptr : leaf_->keys[slot_at(order_, index_)];
}

const CellRecord* BlinkTree::Place::seek(const BlinkTree& tree, const CellView& target) {
  leaf_ = leaf_for(tree.root_.load(std::memory_order_acquire), target);
  order_ = leaf_->order.load(std::memory_order_acquire);
  index_ = entries_before(*leaf_, order_, target, prefix_in(*leaf_, order_, target));
  while (index_ == count_of(order_)) {
    leaf_ = leaf_->next.load(std::memory_order_acquire);
    if (leaf_ == nullptr) return nullptr;
    // Usually the first cell of the leaf is the result. But the leaf before may have been the last one,
    // with new leaves added since the descent.
    order_ = leaf_->order.load(std::memory_order_acquire);
    index_ = entries_before(*leaf_, order_, target, checked_prefix_in(*leaf_, order_, target));
  }
  return record();
}

const CellRecord* BlinkTree::find(const CellView& target, const void*& near) const {
  if (near != nullptr) {
    const Leaf& leaf = *static_cast<const Leaf*>(near);
    const uint64_t order = leaf.order.load(std::memory_order_acquire);
    const uint32_t index = entries_before(leaf, order, target, prefix_in(leaf, order, target));
    if (count_of(order) < kSlots && index < count_of(order)) return leaf.keys[slot_at(order, index)];
  }
  const Leaf* leaf = leaf_for(root_.load(std::memory_order_acquire), target);
  const uint64_t order = leaf->order.load(std::memory_order_acquire);
  const uint32_t index = entries_before(*leaf, order, target, prefix_in(*leaf, order, target));
  if (index < count_of(order)) {
    near = leaf;
    return leaf->keys[slot_at(order, index)];
  }
  near = nullptr;
  Place place;
  return place.seek(*this, target);
}

const CellRecord* BlinkTree::Place::seek_before(const BlinkTree& tree, const CellView& target) {
  leaf_ = leaf_for(tree.root_.load(std::memory_order_acquire), target);
  order_ = leaf_->order.load(std::memory_order_acquire);
  uint32_t before = entries_before(*leaf_, order_, target, prefix_in(*leaf_, order_, target));
  while (before == count_of(order_)) {
    const Leaf* next = leaf_->next.load(std::memory_order_acquire);
    if (next == nullptr) break;
    const uint64_t order = next->order.load(std::memory_order_acquire);
    const uint32_t there = entries_before(*next, order, target, checked_prefix_in(*next, order, target));
    if (there == 0) break;
    leaf_ = next;
    order_ = order;
    before = there;
  }
  // A leaf holds the cell that separates it from the leaf before. That cell is before the target, or the
  // descent would have gone to the left of it. So only the first leaf can have no cell before the target;
  // then there is no such cell at all.
  if (before == 0) {
    leaf_ = nullptr;
    return nullptr;
  }
  index_ = before - 1;
  return record();
}

const CellRecord* BlinkTree::Place::next() {
  if (leaf_ == nullptr) return nullptr;
  constexpr uint32_t kAhead = 4;
  constexpr size_t kLines = 3;  // of a record with a value of some hundred bytes, which readers copy
  if (++index_ < count_of(order_)) {
    if (index_ + kAhead < count_of(order_))
      fetch_lines(leaf_->keys[slot_at(order_, index_ + kAhead)], kLines);
    return record();
  }
  leaf_ = leaf_->next.load(std::memory_order_acquire);
  if (leaf_ == nullptr) return nullptr;
  order_ = leaf_->order.load(std::memory_order_acquire);
  index_ = 0;
  for (uint32_t i = 0; i < kAhead && i < count_of(order_); ++i)
    fetch_lines(leaf_->keys[slot_at(order_, i)], kLines);
  if (const Leaf* after = leaf_->next.load(std::memory_order_acquire)) prefetch_node(after);
  return record();
}

// ---- Inserting ----

BlinkTree::BlinkTree() {
  last_leaf_ = make_node<Leaf>(0);
  root_.store(last_leaf_, std::memory_order_release);
}

template <class T>
T* BlinkTree::make_node(uint8_t level) {
  CELLAR_ASSERT(level < kDepthMax);
  Arena& arena = bytes() < kSmallBytes ? first_nodes_ : nodes_;
  T* node = new (arena.allocate(sizeof(T), alignof(T))) T;
  node->level = level;
  bytes_.store(bytes() + sizeof(T), std::memory_order_relaxed);
  return node;
}

void BlinkTree::insert(const CellView& cell, const CellRecord* record, const void* near) {
  CELLAR_DCHECK(compare_cells(record->view(), cell) == 0);  // the record is a copy of the cell
  if (near != nullptr && try_near(cell, record, near)) return;
  if (running_ && finger_.leaf != nullptr) {
    if (try_continue(cell, record)) return;
    // A full leaf only interrupts the run.
    running_ = count_of(finger_.leaf->order.load(std::memory_order_relaxed)) == kSlots;
  }
  Path path;
  descend(cell, path);
  Leaf& leaf = *path.leaf;
  const uint64_t order = leaf.order.load(std::memory_order_relaxed);
  const uint32_t prefix = prefix_in(leaf, order, cell);
  const uint32_t index = entries_before(leaf, order, cell, prefix);
  const uint32_t count = count_of(order);
  CELLAR_DCHECK(in_order(leaf, order, index, cell));
  if (count < kSlots) {
    leaf.fill(count, prefix, record);
    leaf.order.store(with_next_slot(order, index), std::memory_order_release);
    if (finger_.leaf != nullptr) running_ = finger_.leaf == &leaf && finger_.index + 1 == index;
    finger_ = {&leaf, index, index == count ? path.high(path.depth) : nullptr};
    return;
  }
  finger_.leaf = nullptr;
  if (&leaf == last_leaf_ && index == count) {
    open_right(path, record);
  } else if (index == 0) {
    CELLAR_DCHECK(path.low(path.depth) == nullptr);
    open_left(path, record);
  } else {
    split_leaf(path, index, record);
  }
}

// Inserts a cell that follows the last one without searching. Returns false if the cell does not follow
// it, or if the leaf has no room.
bool BlinkTree::try_continue(const CellView& cell, const CellRecord* record) {
  Leaf& leaf = *finger_.leaf;
  const uint64_t order = leaf.order.load(std::memory_order_relaxed);
  const uint32_t count = count_of(order);
  CELLAR_DCHECK(finger_.index < count);
  if (count == kSlots) return false;
  if (compare_cells(leaf.keys[slot_at(order, finger_.index)]->view(), cell) >= 0) return false;
  const uint32_t index = finger_.index + 1;
  if (index == count && !finger_.high_is_known) return false;
  const CellRecord* after = index < count ? leaf.keys[slot_at(order, index)] : finger_.high;
  if (after != nullptr && compare_cells(after->view(), cell) < 0) return false;
  CELLAR_DCHECK(in_order(leaf, order, index, cell));
  leaf.fill(count, prefix_in(leaf, order, cell), record);
  leaf.order.store(with_next_slot(order, index), std::memory_order_release);
  finger_.index = index;
  return true;
}

// Inserts a cell into the leaf where aim() ended, or where find() met the cell that follows. The leaf holds
// both the target of the search, which is not after the cell, and what it found, which is not before it. So
// the cell's place is in the leaf, as long as it is not full: only a full leaf is ever replaced. Returns
// false if it is.
bool BlinkTree::try_near(const CellView& cell, const CellRecord* record, const void* near) {
  Leaf& leaf = *static_cast<Leaf*>(const_cast<void*>(near));
  const uint64_t order = leaf.order.load(std::memory_order_relaxed);
  const uint32_t count = count_of(order);
  if (count == kSlots) return false;
  const uint32_t prefix = prefix_in(leaf, order, cell);
  const uint32_t index = entries_before(leaf, order, cell, prefix);
  CELLAR_DCHECK(in_order(leaf, order, index, cell));
  leaf.fill(count, prefix, record);
  leaf.order.store(with_next_slot(order, index), std::memory_order_release);
  running_ = finger_.leaf == &leaf && finger_.index + 1 == index;
  finger_ = {&leaf, index, nullptr, index < count};
  return true;
}

// All searches are on the same level at any time. A sequence of cells needs no search.
void BlinkTree::aim(std::span<const CellView> cells, std::span<const void*> near) const {
  CELLAR_ASSERT(cells.size() == near.size());
  const Node* const root = root_.load(std::memory_order_relaxed);
  const bool searches = !running_ && root->level > 0;
  std::ranges::fill(near, searches ? root : nullptr);
  if (!searches) return;
  for (uint8_t level = root->level; level > 0; --level)
    for (size_t i = 0; i < cells.size(); ++i) {
      const Inner& inner = *static_cast<const Inner*>(near[i]);
      CELLAR_DCHECK(inner.level == level);
      const Node* const child = child_for(inner, cells[i]);
      prefetch_node(child);
      near[i] = child;
    }
}

void BlinkTree::descend(const CellView& cell, Path& path) const {
  Node* node = root_.load(std::memory_order_relaxed);
  while (node->level > 0) {
    auto* inner = static_cast<Inner*>(node);
    const uint64_t order = inner->order.load(std::memory_order_relaxed);
    const uint32_t index = entries_before(*inner, order, cell, prefix_in(*inner, order, cell));
    path.add(inner, order, index);
    node = inner->child_at(order, index).load(std::memory_order_relaxed);
    prefetch_node(node);
  }
  path.leaf = static_cast<Leaf*>(node);
}

// Opens a new last leaf, which begins with `record`; the full leaf stays.
void BlinkTree::open_right(const Path& path, const CellRecord* record) {
  Leaf* old = path.leaf;
  const uint64_t order = old->order.load(std::memory_order_relaxed);
  CELLAR_ASSERT(old == last_leaf_ && count_of(order) == kSlots);
  CELLAR_ASSERT(old->next.load(std::memory_order_relaxed) == nullptr);
  Leaf* leaf = make_node<Leaf>(0);
  leaf->shape = open_shape_between(old->keys[slot_at(order, 0)]->view(), record->view());
  leaf->fill(0, checked_prefix_of(leaf->shape, record->view(), record->view()), record);
  leaf->order.store(straight_order(1), std::memory_order_relaxed);
  old->next.store(leaf, std::memory_order_release);
  last_leaf_ = leaf;
  add_child(path, path.depth, nullptr, record, leaf);
}

// Opens a new first leaf with only `record`; the full leaf stays.
void BlinkTree::open_left(const Path& path, const CellRecord* record) {
  Leaf* old = path.leaf;
  const uint64_t order = old->order.load(std::memory_order_relaxed);
  CELLAR_ASSERT(count_of(order) == kSlots && path.leaf_before() == nullptr);
  Leaf* leaf = make_node<Leaf>(0);
  leaf->shape = open_shape_between(record->view(), old->keys[slot_at(order, kSlots - 1)]->view());
  leaf->fill(0, checked_prefix_of(leaf->shape, record->view(), record->view()), record);
  leaf->order.store(straight_order(1), std::memory_order_relaxed);
  leaf->next.store(old, std::memory_order_relaxed);
  add_child(path, path.depth, leaf, old->keys[slot_at(order, 0)], old);
}

void BlinkTree::split_leaf(const Path& path, uint32_t index, const CellRecord* record) {
  Leaf* old = path.leaf;
  const uint64_t order = old->order.load(std::memory_order_relaxed);
  Leaf* before = path.leaf_before();
  CELLAR_ASSERT(count_of(order) == kSlots);
  CELLAR_ASSERT(before == nullptr || before->next.load(std::memory_order_relaxed) == old);
  const Split split(*old, order, index, record);
  const uint32_t cut = cut_for(order, index);
  CELLAR_ASSERT(cut > 0 && cut < split.count);  // neither part is empty
  const CellRecord* separator = split.keys[cut];
  __builtin_prefetch(separator);  // needed for its prefix in the parent
  Leaf* right = build_leaf(split, cut, split.count, separator, path.high(path.depth));
  Leaf* left = build_leaf(split, 0, cut, path.low(path.depth), separator);
  right->next.store(old->next.load(std::memory_order_relaxed), std::memory_order_relaxed);
  left->next.store(right, std::memory_order_relaxed);
  if (last_leaf_ == old) last_leaf_ = right;
  add_child(path, path.depth, left, separator, right);
  if (before != nullptr) before->next.store(left, std::memory_order_release);
}

BlinkTree::Leaf* BlinkTree::build_leaf(const Split& split, uint32_t begin, uint32_t end,
                                       const CellRecord* low, const CellRecord* high) {
  CELLAR_ASSERT(begin < end && end - begin <= kSlots);
  Leaf* leaf = make_node<Leaf>(0);
  leaf->shape = split.shape_for(begin, end, low, high);
  for (uint32_t i = begin; i < end; ++i) {
    leaf->fill(i - begin, split.prefix_for(leaf->shape, i, begin), split.keys[i]);
  }
  leaf->order.store(straight_order(end - begin), std::memory_order_relaxed);
  return leaf;
}

BlinkTree::Inner* BlinkTree::build_inner(const Split& split, uint32_t begin, uint32_t end,
                                         const CellRecord* low, const CellRecord* high) {
  CELLAR_ASSERT(begin < end && end - begin <= kSlots && split.level > 0);
  Inner* inner = make_node<Inner>(split.level);
  inner->shape = split.shape_for(begin, end, low, high);
  inner->first.store(split.children[begin], std::memory_order_relaxed);
  for (uint32_t i = begin; i < end; ++i) {
    inner->fill(i - begin, split.prefix_for(inner->shape, i, begin), split.keys[i], split.children[i + 1]);
  }
  inner->order.store(straight_order(end - begin), std::memory_order_relaxed);
  return inner;
}

// Adds `right`, which begins at `separator`, after the child below the path's first `level` steps.
// Replaces that child by `left`, unless `left` is null.
void BlinkTree::add_child(const Path& path, uint32_t level, Node* left, const CellRecord* separator,
                          Node* right) {
  if (level == 0) {
    Node* old = root_.load(std::memory_order_relaxed);
    CELLAR_ASSERT(path.depth == 0 || path.steps[0].node == old);
    Inner* root = make_node<Inner>(static_cast<uint8_t>(old->level + 1));
    const uint64_t order = old->order.load(std::memory_order_relaxed);
    const auto* keys = old->level == 0 ? static_cast<Leaf*>(old)->keys : static_cast<Inner*>(old)->keys;
    root->shape =
        open_shape_between(keys[slot_at(order, 0)]->view(), keys[slot_at(order, kSlots - 1)]->view());
    root->first.store(left != nullptr ? left : old, std::memory_order_relaxed);
    root->fill(0, checked_prefix_of(root->shape, separator->view(), separator->view()), separator, right);
    root->order.store(straight_order(1), std::memory_order_relaxed);
    root_.store(root, std::memory_order_release);
    return;
  }
  const auto& [parent, order, index] = path.steps[level - 1];
  CELLAR_ASSERT(parent->order.load(std::memory_order_relaxed) == order);  // as on the way down
  const CellView cell = separator->view();
  const bool outside =
      parent->shape.checked && compare_common_part(parent->shape, cell, parent->keys[0]->view()) != 0;
  const uint32_t count = count_of(order);
  if (count == kSlots || outside) return rebuild_inner(path, level, left, separator, right);
  parent->fill(count, prefix_of(parent->shape, cell), separator, right);
  parent->order.store(with_next_slot(order, index), std::memory_order_release);
  if (left != nullptr) parent->child_at(order, index).store(left, std::memory_order_release);
}

// Does the same for a parent that is full, or whose shape does not fit the new separator.
void BlinkTree::rebuild_inner(const Path& path, uint32_t level, Node* left, const CellRecord* separator,
                              Node* right) {
  const auto& [parent, order, index] = path.steps[level - 1];
  Split split(*parent, order, index, separator);
  for (uint32_t i = 0; i < split.count; ++i) {  // there is one child more than separators
    const uint32_t to = i <= index ? i : i + 1;
    split.children[to] = parent->child_at(order, i).load(std::memory_order_relaxed);
  }
  if (left != nullptr) split.children[index] = left;
  split.children[index + 1] = right;

  CELLAR_DCHECK(split.level == right->level + 1);
  const CellRecord* low = path.low(level - 1);
  const CellRecord* high = path.high(level - 1);
  if (split.count <= kSlots)
    return replace_child(path, level - 1, build_inner(split, 0, split.count, low, high));
  uint32_t cut = kHalf;
  if (index == kSlots && high == nullptr) cut = kSlots - 1;
  if (index == 0 && low == nullptr) cut = 1;
  const CellRecord* middle = split.keys[cut];
  Inner* upper = build_inner(split, cut + 1, split.count, middle, high);
  Inner* lower = build_inner(split, 0, cut, low, middle);
  add_child(path, level - 1, lower, middle, upper);
}

void BlinkTree::replace_child(const Path& path, uint32_t level, Node* by) {
  if (level == 0) return root_.store(by, std::memory_order_release);
  const auto& [parent, order, index] = path.steps[level - 1];
  CELLAR_ASSERT(parent->level == by->level + 1);
  parent->child_at(order, index).store(by, std::memory_order_release);
}

}  // namespace cellar
