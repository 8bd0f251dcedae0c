// SkipList: nodes, search and insert.
#include "memtable/skip_list.h"

#include <array>
#include <new>

#include "base/assert.h"
#include "base/coding.h"
#include "cell/cell_order.h"

namespace cellar {

namespace {

constexpr uint64_t kBranching = 4;
constexpr uint64_t kSmallBlockBytes = 32 << 10;

// Returns the row's first 8 bytes, zero-padded. Equal results decide nothing; otherwise they have the
// order of the rows.
uint64_t first_row_bytes(const CellView& cell) {
  const uint64_t bytes = load_be64(cell.key + 2);  // a flat key always has this many bytes
  return cell.row_size >= 8 ? bytes : bytes & ~(~uint64_t{0} >> (8 * cell.row_size));
}

}  // namespace

// The pointers of the node's levels are stored in it and after it: `next` holds one, the others follow.
struct SkipList::Node {
  uint64_t prefix;  // the row's first 8 bytes
  const CellRecord* record;
  std::atomic<Node*> next[1];

  Node* after(uint32_t level) const { return next[level].load(std::memory_order_acquire); }

  bool is_before(const CellView& target, uint64_t target_prefix) const {
    if (prefix != target_prefix) return prefix < target_prefix;
    return compare_cells(record->view(), target) < 0;
  }
};

SkipList::SkipList() : head_(make_node(nullptr, 0, kLevelsMax)) {}

SkipList::Node* SkipList::make_node(const CellRecord* record, uint64_t prefix, uint32_t levels) {
  CELLAR_ASSERT(levels > 0 && levels <= kLevelsMax);
  const size_t size = sizeof(Node) + (levels - 1) * sizeof(std::atomic<Node*>);
  Arena& arena = bytes() < kSmallBlockBytes ? first_nodes_ : nodes_;
  Node* node = new (arena.allocate(size, alignof(Node))) Node;
  node->prefix = prefix;
  node->record = record;
  for (uint32_t i = 0; i < levels; ++i) new (&node->next[i]) std::atomic<Node*>(nullptr);
  bytes_.store(bytes() + size, std::memory_order_relaxed);
  return node;
}

uint32_t SkipList::draw_levels() {
  uint32_t levels = 1;
  while (levels < kLevelsMax && random_.one_in(kBranching)) ++levels;
  return levels;
}

// Returns the nodes around `target`. If `path` is given, stores the last node before the target on each
// level.
SkipList::Neighbours SkipList::find(const CellView& target, Node** path) const {
  const uint64_t prefix = first_row_bytes(target);
  Node* node = head_;
  Node* not_before = nullptr;  // the node at which the level above stopped need not be compared again
  for (uint32_t level = levels_.load(std::memory_order_relaxed); level-- > 0;) {
    Node* next = node->after(level);
    while (next != nullptr && next != not_before && next->is_before(target, prefix)) {
      node = next;
      next = node->after(level);
    }
    not_before = next;
    if (path != nullptr) path[level] = node;
  }
  CELLAR_DCHECK(node == head_ || node->is_before(target, prefix));
  CELLAR_DCHECK(not_before == nullptr || !not_before->is_before(target, prefix));
  // Not node->after(0): a cell before the target may have been inserted in between.
  return {node, not_before};
}

void SkipList::insert(const CellView& cell, const CellRecord* record, const void* near) {
  CELLAR_DCHECK(near == nullptr);                           // find() gives no other
  CELLAR_DCHECK(compare_cells(record->view(), cell) == 0);  // the record is a copy of the cell
  std::array<Node*, kLevelsMax> path;
  path.fill(head_);
  find(cell, path.data());
  const uint32_t levels = draw_levels();
  if (levels > levels_.load(std::memory_order_relaxed)) levels_.store(levels, std::memory_order_relaxed);
  Node* node = make_node(record, first_row_bytes(cell), levels);
  for (uint32_t level = 0; level < levels; ++level) {
    node->next[level].store(path[level]->next[level].load(std::memory_order_relaxed),
                            std::memory_order_relaxed);
    path[level]->next[level].store(node, std::memory_order_release);
  }
}

const CellRecord* SkipList::find(const CellView& target, const void*& near) const {
  near = nullptr;
  Place place;
  return place.seek(*this, target);
}

const CellRecord* SkipList::Place::record() const {
  CELLAR_DCHECK(node_ == nullptr || node_->record != nullptr);  // never the head
  return node_ == nullptr ? nullptr : node_->record;
}

const CellRecord* SkipList::Place::seek(const SkipList& list, const CellView& target) {
  node_ = list.find(target, nullptr).at_or_after;
  return record();
}

const CellRecord* SkipList::Place::seek_before(const SkipList& list, const CellView& target) {
  node_ = list.find(target, nullptr).before;
  if (node_ == list.head_) node_ = nullptr;
  return record();
}

const CellRecord* SkipList::Place::next() {
  if (node_ == nullptr) return nullptr;
  node_ = node_->after(0);
  if (node_ != nullptr) {
    if (const Node* after = node_->next[0].load(std::memory_order_acquire)) __builtin_prefetch(after->record);
  }
  return record();
}

}  // namespace cellar
