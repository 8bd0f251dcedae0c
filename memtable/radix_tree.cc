// Nodes, searches and growth of RadixTree.
#include "memtable/radix_tree.h"

#include <algorithm>
#include <bit>
#include <new>
#include <type_traits>
#include <vector>

#include "base/assert.h"
#include "base/fetch_lines.h"
#include "memtable/radix_key.h"
#include "memtable/slot_order.h"

namespace cellar {

namespace {

constexpr uint64_t kFirstNodesBytes = 32 << 10;  // nodes up to here come from small blocks

using Lanes [[gnu::vector_size(16)]] = int16_t;
using Words [[gnu::vector_size(16)]] = uint64_t;

// Returns -1 in each of the first `used` lanes, counted from `begin`, whose symbol is smaller.
Lanes smaller_lanes(uint64_t first, uint64_t second, int16_t symbol, int16_t used, int16_t begin) {
  const Words words = {first, second};
  const Lanes wanted = {symbol, symbol, symbol, symbol, symbol, symbol, symbol, symbol};
  const auto end = static_cast<int16_t>(used - begin);
  const Lanes ends = {end, end, end, end, end, end, end, end};
  return (reinterpret_cast<Lanes>(words) < wanted) & (Lanes{0, 1, 2, 3, 4, 5, 6, 7} < ends);
}
// Returns the number of lanes that are -1, where no lane is less than -2.
uint32_t count_lanes(Lanes lanes) {
  const Lanes counts = -lanes;
  const auto words = reinterpret_cast<Words>(counts);
  return static_cast<uint32_t>(((words[0] + words[1]) * 0x0001'0001'0001'0001) >> 48);
}

}  // namespace

struct RadixTree::Branch {
  int32_t symbol = 0;
  Child child = 0;  // 0: the node has no such child
};

// Chain: cells that are equal in every symbol. A new one comes before the others; nothing in it ever changes.
struct alignas(64) RadixTree::Chain {
  const CellRecord* record;
  const Chain* older;   // null at the end
  const Chain* oldest;  // the end
};

struct RadixTree::Node {
  uint32_t position = 0;  // of the symbol that tells the children apart
  Kind kind = Kind::kNode4;
  uint8_t skipped_size = 0;  // of `skipped`; kByRecord: look at `record`
  // The bytes of the row before the position, the first one highest; or a cell below the node.
  union {
    uint64_t skipped = 0;
    const CellRecord* record;
  };

  static constexpr uint8_t kByRecord = 255;

  // Remembers what lies between `from` and the position in the key of a cell below this node.
  void skip(uint32_t from, const CellRecord* below) {
    CELLAR_DCHECK(from <= position);
    const uint32_t size = position - from;
    if (size <= 8 && position <= below->row_size) {
      skipped_size = static_cast<uint8_t>(size);
      skipped = load_be64(below->key() + 2 + from);
    } else {
      skipped_size = kByRecord;
      record = below;
    }
  }

  void copy_path(const Node& other) {
    CELLAR_ASSERT(position == other.position);
    skipped_size = other.skipped_size;
    if (skipped_size == kByRecord) {
      record = other.record;
    } else {
      skipped = other.skipped;
    }
  }

  // Returns the first position, from `from` to this node's, at which the cell leaves the path to the node.
  // `from` follows the parent's position. It has only grown since skip().
  uint32_t leaves_at(const CellView& cell, uint32_t from) const {
    const uint32_t size = position - from;
    if (size == 0) return position;
    if (skipped_size == kByRecord) return std::min(position, radix_difference(cell, record->view(), from));
    const uint64_t there = skipped << (8 * (skipped_size - size));
    const uint64_t differs = (load_be64(cell.key + 2 + from) ^ there) >> (64 - 8 * size);
    uint32_t at = position;
    if (differs != 0) at -= (71 - static_cast<uint32_t>(std::countl_zero(differs))) / 8;
    return std::min<uint32_t>(at, cell.row_size);
  }
  // Returns the symbol at a position that the path to this node skips.
  int32_t symbol_on_path(uint32_t at) const {
    CELLAR_DCHECK(at < position);
    if (skipped_size == kByRecord) return symbol_at(record->view(), at);
    return byte_of(skipped, at + skipped_size - position) + 1;
  }
};

// `order` lists the slots by symbol (slot_order.h).
template <uint32_t kSlots>
struct alignas(64) RadixTree::SmallNode : Node {
  static constexpr uint32_t kWords = (kSlots + 3) / 4;
  static constexpr Kind kKind = kSlots == 4 ? Kind::kNode4 : Kind::kNode14;
  using Larger = std::conditional_t<kSlots == 4, Node14, Node48>;

  std::atomic<uint64_t> order{0};
  std::atomic<uint64_t> symbols[kWords];  // four to a word
  std::atomic<Child> children[kSlots];

  // Returns how many of the symbols are smaller, without a branch.
  uint32_t below(uint64_t order_, int32_t symbol) const {
    const auto wanted = static_cast<int16_t>(symbol);
    const auto used = static_cast<int16_t>(count_of(order_));
    const auto word = [&](uint32_t i) {
      return i < kWords ? symbols[i < kWords ? i : 0].load(std::memory_order_relaxed) : 0;
    };
    Lanes found = smaller_lanes(word(0), word(1), wanted, used, 0);
    if constexpr (kWords > 2) found += smaller_lanes(word(2), word(3), wanted, used, 8);
    return count_lanes(found);
  }
  Branch at(uint64_t order_, uint32_t index) const {
    const uint32_t slot = slot_at(order_, index);
    return {symbol_in(slot), children[slot].load(std::memory_order_acquire)};
  }
  int32_t symbol_in(uint32_t slot) const {
    return static_cast<int32_t>(symbols[slot / 4].load(std::memory_order_relaxed) >> (16 * (slot % 4))) & 511;
  }

  // Fetches the beginning of every child.
  void prefetch_children() const {
    const uint32_t count = count_of(order.load(std::memory_order_acquire));
    for (uint32_t slot = 0; slot < count; ++slot) prefetch(children[slot].load(std::memory_order_relaxed));
  }

  bool is_full() const { return count_of(order.load(std::memory_order_relaxed)) == kSlots; }
  void add(int32_t symbol, Child child) {
    const uint64_t before = order.load(std::memory_order_relaxed);
    const uint32_t slot = count_of(before);
    CELLAR_ASSERT(slot < kSlots);
    std::atomic<uint64_t>& word = symbols[slot / 4];
    word.store(word.load(std::memory_order_relaxed) | static_cast<uint64_t>(symbol) << (16 * (slot % 4)),
               std::memory_order_relaxed);
    children[slot].store(child, std::memory_order_relaxed);
    order.store(with_next_slot(before, below(before, symbol)), std::memory_order_release);
  }
  std::atomic<Child>* place_of(int32_t symbol) {
    const uint64_t now = order.load(std::memory_order_relaxed);
    const uint32_t index = below(now, symbol);
    if (index == count_of(now)) return nullptr;
    const uint32_t slot = slot_at(now, index);
    return symbol_in(slot) == symbol ? &children[slot] : nullptr;
  }
  Branch at_or_after(int32_t symbol) const {
    const uint64_t now = order.load(std::memory_order_acquire);
    const uint32_t index = below(now, symbol);
    return index < count_of(now) ? at(now, index) : Branch();
  }
  Branch at_or_before(int32_t symbol) const {
    const uint64_t now = order.load(std::memory_order_acquire);
    const uint32_t index = below(now, symbol + 1);
    return index > 0 ? at(now, index - 1) : Branch();
  }
};

// `present` has a bit for each symbol that has a child.
struct alignas(64) RadixTree::WideNode : Node {
  static constexpr uint32_t kWords = 5;
  std::atomic<uint64_t> present[kWords];

  bool has(int32_t symbol) const {
    return (present[symbol / 64].load(std::memory_order_acquire) >> (symbol % 64) & 1) != 0;
  }
  void set(int32_t symbol) {
    CELLAR_ASSERT(symbol >= 0 && symbol < kSymbols && !has(symbol));
    std::atomic<uint64_t>& word = present[symbol / 64];
    word.store(word.load(std::memory_order_relaxed) | uint64_t{1} << (symbol % 64),
               std::memory_order_release);
  }
  // Returns the child of a symbol that from() or to() gave.
  template <class T>
  static Branch branch_at(const T& node, int32_t symbol) {
    if (symbol < 0) return {};
    return {symbol, node.children[node.slot_of(symbol)].load(std::memory_order_acquire)};
  }
  // Return the nearest symbol with a child, or -1.
  int32_t from(int32_t symbol) const {
    CELLAR_DCHECK(symbol >= 0);
    uint64_t mask = ~uint64_t{0} << (symbol % 64);
    for (uint32_t i = static_cast<uint32_t>(symbol) / 64; i < kWords; ++i, mask = ~uint64_t{0}) {
      const uint64_t bits = present[i].load(std::memory_order_acquire) & mask;
      if (bits != 0) return static_cast<int32_t>(64 * i) + std::countr_zero(bits);
    }
    return -1;
  }
  int32_t to(int32_t symbol) const {
    if (symbol < 0) return -1;
    uint64_t mask = ~uint64_t{0} >> (63 - symbol % 64);
    for (int32_t i = symbol / 64; i >= 0; --i, mask = ~uint64_t{0}) {
      const uint64_t bits = present[i].load(std::memory_order_acquire) & mask;
      if (bits != 0) return 64 * i + 63 - std::countl_zero(bits);
    }
    return -1;
  }
};

struct RadixTree::Node48 : WideNode {
  static constexpr Kind kKind = Kind::kNode48;
  using Larger = Node256;
  static constexpr uint32_t kSlots = 48;
  uint32_t count = 0;  // inserter only
  std::atomic<uint8_t> slots[kSymbols];
  std::atomic<Child> children[kSlots];

  bool is_full() const { return count == kSlots; }
  void add(int32_t symbol, Child child) {
    CELLAR_ASSERT(count < kSlots);
    children[count].store(child, std::memory_order_relaxed);
    slots[symbol].store(static_cast<uint8_t>(count), std::memory_order_relaxed);
    ++count;
    set(symbol);
  }
  // `symbol` has a child.
  uint32_t slot_of(int32_t symbol) const { return slots[symbol].load(std::memory_order_relaxed); }
  std::atomic<Child>* place_of(int32_t symbol) { return has(symbol) ? &children[slot_of(symbol)] : nullptr; }
  Branch at_or_after(int32_t symbol) const { return branch_at(*this, from(symbol)); }
  Branch at_or_before(int32_t symbol) const { return branch_at(*this, to(symbol)); }
};

struct RadixTree::Node256 : WideNode {
  static constexpr Kind kKind = Kind::kNode256;
  std::atomic<Child> children[kSymbols];

  bool is_full() const { return false; }
  void add(int32_t symbol, Child child) {
    children[symbol].store(child, std::memory_order_relaxed);
    set(symbol);
  }
  static uint32_t slot_of(int32_t symbol) { return static_cast<uint32_t>(symbol); }
  std::atomic<Child>* place_of(int32_t symbol) { return has(symbol) ? &children[slot_of(symbol)] : nullptr; }
  Branch at_or_after(int32_t symbol) const { return branch_at(*this, from(symbol)); }
  Branch at_or_before(int32_t symbol) const { return branch_at(*this, to(symbol)); }
};

static_assert(std::atomic<uint64_t>::is_always_lock_free);

// Side: where a search key lies, seen from the cells below a child.
enum class RadixTree::Side { kOn, kBefore, kAfter, kEqual };

// Calls `visit` with the node as what it is.
template <class N, class Visit>
auto RadixTree::as_kind(N& node, const Visit& visit) {
  const auto as = [&node]<class T>(const T*) -> auto& {
    return static_cast<std::conditional_t<std::is_const_v<N>, const T, T>&>(node);
  };
  switch (node.kind) {
    case Kind::kNode4:
      return visit(as(static_cast<const Node4*>(nullptr)));
    case Kind::kNode14:
      return visit(as(static_cast<const Node14*>(nullptr)));
    case Kind::kNode48:
      return visit(as(static_cast<const Node48*>(nullptr)));
    case Kind::kNode256:
      break;
  }
  return visit(as(static_cast<const Node256*>(nullptr)));
}

// ---- Reading ----

const RadixTree::Chain* RadixTree::chain_of(Child child) {
  CELLAR_DCHECK(child != 0 && !is_node(child));
  if ((child & kTagMask) != kChainTag) return nullptr;
  return reinterpret_cast<const Chain*>(child & ~kTagMask);
}

const CellRecord* RadixTree::newest_of(Child child) {
  const Chain* chain = chain_of(child);
  return chain != nullptr ? chain->record : reinterpret_cast<const CellRecord*>(child & ~kTagMask);
}

RadixTree::Child RadixTree::child_of(const void* pointer, Child tag) {
  CELLAR_DCHECK(pointer != nullptr && (reinterpret_cast<Child>(pointer) & kTagMask) == 0);
  return reinterpret_cast<Child>(pointer) | tag;
}

// Fetches what a search of a small node may read; the first line of a wide one leads to the others.
void RadixTree::prefetch_node(const Node& node) { fetch_lines(&node, sizeof(Node14) / 64); }

// Fetches the beginning of a child.
void RadixTree::prefetch(Child child) {
  __builtin_prefetch(reinterpret_cast<const char*>(child & ~kTagMask));
}

// Fetches what a walk soon reads: the cells of the node, as far as it is small.
void RadixTree::prefetch_children(const Node& node) {
  if (node.kind == Kind::kNode4) return static_cast<const Node4&>(node).prefetch_children();
  if (node.kind == Kind::kNode14) static_cast<const Node14&>(node).prefetch_children();
}

// Returns the child of the first symbol at or after `symbol`.
RadixTree::Branch RadixTree::at_or_after(const Node& node, int32_t symbol) {
  return as_kind(node, [symbol](const auto& it) { return it.at_or_after(symbol); });
}
// Returns the child of the last symbol at or before `symbol`, which may be -1.
RadixTree::Branch RadixTree::at_or_before(const Node& node, int32_t symbol) {
  return as_kind(node, [symbol](const auto& it) { return it.at_or_before(symbol); });
}

// Returns whether the target follows the path to the child, which it does up to `from`. A single cell, and a
// chain, end the path.
RadixTree::Side RadixTree::side_of(Child child, const CellView& target, uint32_t from) {
  int32_t there;
  uint32_t at;
  if (is_node(child)) {
    const Node& node = node_of(child);
    at = node.leaves_at(target, from);
    if (at == node.position) return Side::kOn;
    there = node.symbol_on_path(at);
  } else {
    const CellView other = newest_of(child)->view();
    at = radix_difference(target, other, from);
    if (at == kNoDifference) return Side::kEqual;
    there = symbol_at(other, at);
  }
  const int32_t symbol = symbol_at(target, at);
  CELLAR_DCHECK(symbol != there);
  return symbol < there ? Side::kBefore : Side::kAfter;
}

const CellRecord* RadixTree::find(const CellView& target, const void*& near) const {
  near = nullptr;
  Place place;
  return place.seek(*this, target);
}

const CellRecord* RadixTree::Place::seek(const RadixTree& tree, const CellView& target) {
  tree_ = &tree;
  return search<Way::kForward>(target);
}

const CellRecord* RadixTree::Place::seek_before(const RadixTree& tree, const CellView& target) {
  tree_ = &tree;
  return search<Way::kBackward>(target);
}

const CellRecord* RadixTree::Place::next() {
  if (record_ == nullptr) return nullptr;
  if (chain_ == nullptr || chain_->older == nullptr) return turn<Way::kForward>(record_->view());
  chain_ = chain_->older;
  return record_ = chain_->record;
}

const CellRecord* RadixTree::Place::nowhere() {
  chain_ = nullptr;
  return record_ = nullptr;
}

// Returns the child of a symbol, or else of the next one on the way.
template <RadixTree::Place::Way kWay>
RadixTree::Branch RadixTree::Place::branch(const Node& node, int32_t symbol) {
  return kWay == Way::kForward ? at_or_after(node, symbol) : at_or_before(node, symbol);
}

void RadixTree::Place::push(const Node* node, int32_t symbol) {
  if (depth_ == kStepsMax) {
    depth_ = kStepsMax / 2;
    std::copy_n(steps_.begin() + kStepsMax / 2, depth_, steps_.begin());
    forgot_ = true;
  }
  steps_[depth_++] = {node, symbol};
}

// Goes down along the target. Where the target leaves the tree's paths, all cells of a child lie on one side
// of it.
template <RadixTree::Place::Way kWay>
const CellRecord* RadixTree::Place::search(const CellView& target) {
  depth_ = 0;
  forgot_ = false;
  Child child = tree_->root_.load(std::memory_order_acquire);
  if (child == 0) return nowhere();
  for (uint32_t from = 0;;) {
    const Side side = side_of(child, target, from);
    if (side != Side::kOn) {
      const bool ahead = (side == Side::kAfter) == (kWay == Way::kBackward);
      return ahead ? land<kWay>(child) : turn<kWay>(target);
    }
    const Node& node = node_of(child);
    const int32_t symbol = symbol_at(target, node.position);
    const Branch next = branch<kWay>(node, symbol);
    if (next.child == 0) return turn<kWay>(target);
    push(&node, next.symbol);
    if (next.symbol != symbol) return land<kWay>(next.child);
    child = next.child;
    from = node.position + 1;
    if (is_node(child)) prefetch_node(node_of(child));
  }
}

// Goes to the first cell on the way below a child.
template <RadixTree::Place::Way kWay>
const CellRecord* RadixTree::Place::land(Child child) {
  CELLAR_DCHECK(child != 0);
  while (is_node(child)) {
    const Node& node = node_of(child);
    if (kWay == Way::kForward) prefetch_children(node);
    const Branch next = branch<kWay>(node, kWay == Way::kForward ? 0 : kAfterSymbols);
    CELLAR_ASSERT(next.child != 0);  // no node is empty
    push(&node, next.symbol);
    child = next.child;
  }
  chain_ = chain_of(child);
  if (chain_ != nullptr && kWay == Way::kBackward) chain_ = chain_->oldest;
  return record_ = chain_ != nullptr ? chain_->record : newest_of(child);
}

// Fetches what a walk reads after a child of the node. The cells at a small node are on their way already.
void RadixTree::Place::prefetch_after(const Node& node, const Branch& child) {
  if (!is_node(child.child) && node.kind < Kind::kNode48) return;
  const Branch next = at_or_after(node, child.symbol + 1);
  if (next.child == 0) return;
  if (is_node(next.child)) {
    prefetch_children(node_of(next.child));
  } else {
    prefetch(next.child);
  }
  prefetch(at_or_after(node, next.symbol + 1).child);
}

// Goes to the next cell on the way that is not below the last step's child. `from` is where the Place comes
// from: a cell, or the target of a search.
template <RadixTree::Place::Way kWay>
const CellRecord* RadixTree::Place::turn(const CellView& from) {
  for (; depth_ > 0; --depth_) {
    Step& step = steps_[depth_ - 1];
    const Branch next = branch<kWay>(*step.node, step.symbol + (kWay == Way::kForward ? 1 : -1));
    if (next.child == 0) continue;
    step.symbol = next.symbol;
    if (kWay == Way::kForward) prefetch_after(*step.node, next);
    return land<kWay>(next.child);
  }
  return forgot_ ? turn_from_root<kWay>(from) : nowhere();
}

// Does the same without steps: looks for the deepest node on the path of `from` that has a further child on
// the way.
template <RadixTree::Place::Way kWay>
const CellRecord* RadixTree::Place::turn_from_root(const CellView& from) {
  const Node* above = nullptr;
  Branch turned;
  Child child = tree_->root_.load(std::memory_order_acquire);
  for (uint32_t known = 0;;) {
    const Side side = side_of(child, from, known);
    if (side == (kWay == Way::kForward ? Side::kBefore : Side::kAfter)) return land<kWay>(child);
    if (side != Side::kOn) break;
    const Node& node = node_of(child);
    const int32_t symbol = symbol_at(from, node.position);
    const Branch further = branch<kWay>(node, symbol + (kWay == Way::kForward ? 1 : -1));
    if (further.child != 0) {
      above = &node;
      turned = further;
    }
    const Branch same = branch<kWay>(node, symbol);
    if (same.child == 0 || same.symbol != symbol) break;
    child = same.child;
    known = node.position + 1;
  }
  if (above == nullptr) return nowhere();
  push(above, turned.symbol);
  return land<kWay>(turned.child);
}

// ---- Inserting ----

char* RadixTree::allocate(size_t bytes, size_t alignment) {
  CELLAR_DCHECK(bytes % alignment == 0);  // nothing is lost between two pieces
  const uint64_t before = bytes_.load(std::memory_order_relaxed);
  bytes_.store(before + bytes, std::memory_order_relaxed);
  return (before < kFirstNodesBytes ? first_nodes_ : nodes_).allocate(bytes, alignment);
}

template <class T>
T* RadixTree::make_node(uint32_t position) {
  T* node = new (allocate(sizeof(T), alignof(T))) T;
  node->position = position;
  node->kind = T::kKind;
  return node;
}

void RadixTree::insert(const CellView& cell, const CellRecord* record, const void* near) {
  CELLAR_DCHECK(near == nullptr);  // find() gives no other
  std::atomic<Child>* place = &root_;
  for (uint32_t from = 0;;) {
    const Child child = place->load(std::memory_order_relaxed);
    if (child == 0) return place->store(child_of(record, kRecordTag), std::memory_order_release);
    if (!is_node(child)) {
      const CellView other = newest_of(child)->view();
      const uint32_t at = radix_difference(cell, other, from);
      if (at == kNoDifference) return add_equal(*place, record);
      return branch_off(*place, from, at, symbol_at(other, at), record);
    }
    Node& node = const_cast<Node&>(node_of(child));
    const uint32_t at = node.leaves_at(cell, from);
    if (at < node.position) return branch_off(*place, from, at, node.symbol_on_path(at), record);
    const int32_t symbol = symbol_at(cell, node.position);
    std::atomic<Child>* next = as_kind(node, [symbol](auto& it) { return it.place_of(symbol); });
    if (next == nullptr) return add_child(*place, node, symbol, child_of(record, kRecordTag));
    place = next;
    from = node.position + 1;
    if (const Child below = next->load(std::memory_order_relaxed); is_node(below))
      prefetch_node(node_of(below));
  }
}

// Puts a node between a place and its child, for the child and the new cell. `position` is where the cell
// leaves the path, and `old_symbol` is that of the path.
void RadixTree::branch_off(std::atomic<Child>& place, uint32_t from, uint32_t position, int32_t old_symbol,
                           const CellRecord* record) {
  CELLAR_ASSERT(from <= position);
  const int32_t new_symbol = symbol_at(record->view(), position);
  CELLAR_ASSERT(new_symbol != old_symbol && new_symbol < kSymbols);
  auto* node = make_node<Node4>(position);
  node->skip(from, record);
  node->add(old_symbol, place.load(std::memory_order_relaxed));
  node->add(new_symbol, child_of(record, kRecordTag));
  place.store(child_of(node, kNodeTag), std::memory_order_release);
}

// Adds a child to the node at `place`, or replaces the node by a larger one with the child.
void RadixTree::add_child(std::atomic<Child>& place, Node& node, int32_t symbol, Child child) {
  as_kind(node, [&]<class T>(T& it) {
    if constexpr (T::kKind != Kind::kNode256) {
      if (it.is_full()) {
        auto* larger = make_node<typename T::Larger>(it.position);
        larger->copy_path(it);
        for (Branch old = it.at_or_after(0); old.child != 0; old = it.at_or_after(old.symbol + 1))
          larger->add(old.symbol, old.child);
        larger->add(symbol, child);
        return place.store(child_of(larger, kNodeTag), std::memory_order_release);
      }
    }
    it.add(symbol, child);
  });
}

void RadixTree::add_equal(std::atomic<Child>& place, const CellRecord* record) {
  const Child child = place.load(std::memory_order_relaxed);
  const Chain* older = chain_of(child);
  if (older == nullptr) {
    auto* oldest = new (allocate(sizeof(Chain), alignof(Chain))) Chain{newest_of(child), nullptr, nullptr};
    oldest->oldest = oldest;
    older = oldest;
  }
  const Chain* newest = new (allocate(sizeof(Chain), alignof(Chain))) Chain{record, older, older->oldest};
  place.store(child_of(newest, kChainTag), std::memory_order_release);
}

RadixTree::Shape RadixTree::shape() const {
  Shape shape;
  std::vector<Child> unseen = {root_.load(std::memory_order_acquire)};
  while (!unseen.empty()) {
    const Child child = unseen.back();
    unseen.pop_back();
    if (child == 0) continue;
    if (!is_node(child)) {
      shape.chains += chain_of(child) != nullptr ? 1 : 0;
      continue;
    }
    const Node& node = node_of(child);
    ++shape.nodes[static_cast<size_t>(node.kind)];
    for (Branch each = at_or_after(node, 0); each.child != 0; each = at_or_after(node, each.symbol + 1))
      unseen.push_back(each.child);
  }
  return shape;
}

}  // namespace cellar
