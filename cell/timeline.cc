// Timeline: a sorted array of a few events, or a tree of more.
#include "cell/timeline.h"

#include <algorithm>
#include <bit>

#include "base/assert.h"

namespace cellar {

void Timeline::clear() {
  few_count_ = 0;
  if (nodes_.empty()) return;
  if (nodes_.capacity() > kNodesKept) {
    nodes_ = {};
  } else {
    nodes_.clear();
  }
  CELLAR_DCHECK(is_empty());
}

void Timeline::add_marker(uint64_t sequence, int64_t timestamp) {
  CELLAR_DCHECK(sequence != kNever && timestamp != kOldestTimestamp);
  add({sequence, timestamp, 0});
}

void Timeline::add_life(uint64_t birth, uint64_t death) {
  CELLAR_DCHECK(birth != kNever && birth <= death);
  if (birth == death) return;
  add({birth, kOldestTimestamp, 1});
  if (death != kNever) add({death, kOldestTimestamp, -1});
}

void Timeline::add(const Event& event) {
  if (!nodes_.empty()) return add_to_tree(event);
  if (add_to_few(event)) return;
  plant();
  add_to_tree(event);
}

// Returns false if the array is full. Later calls most often add earlier events, which the
// search meets first.
bool Timeline::add_to_few(const Event& event) {
  size_t at = 0;
  while (at < few_count_ && few_[at].sequence < event.sequence) ++at;
  steps_ += at + 1;
  if (at < few_count_ && few_[at].sequence == event.sequence) {
    few_[at].timestamp = std::max(few_[at].timestamp, event.timestamp);
    few_[at].change += event.change;
    return true;
  }
  if (few_count_ == kFew) return false;
  std::copy_backward(few_ + at, few_ + few_count_, few_ + few_count_ + 1);
  few_[at] = event;
  ++few_count_;
  return true;
}

// Moves the events of the array into a new tree.
void Timeline::plant() {
  CELLAR_ASSERT(nodes_.empty() && few_count_ == kFew);
  root_ = new_leaf(few_[0]);
  for (size_t i = 1; i < few_count_; ++i) add_to_tree(few_[i]);
  few_count_ = 0;
}

Timeline::Index Timeline::new_leaf(const Event& event) {
  // The nodes of so many events would take 128 GiB.
  CELLAR_ASSERT(nodes_.size() < UINT32_MAX - 1);
  Node leaf{};
  leaf.sequence = event.sequence;
  leaf.timestamp = event.timestamp;
  leaf.change = event.change;
  leaf.bit = kLeaf;
  nodes_.push_back(leaf);
  return static_cast<Index>(nodes_.size() - 1);
}

uint8_t Timeline::highest_difference(uint64_t a, uint64_t b) {
  CELLAR_DCHECK(a != b);
  return static_cast<uint8_t>(63 - std::countl_zero(a ^ b));
}

// Computes the sums of an inner node from its children.
void Timeline::sum_up(Node& node) const {
  const Node& low = nodes_[node.child[0]];
  const Node& high = nodes_[node.child[1]];
  node.timestamp = std::max(low.timestamp, high.timestamp);
  node.change = low.change + high.change;
  node.most_before = std::max(low.most_before, low.change + high.most_before);
}

// Returns the path that the bits of the sequence lead along. It ends at the leaf of the sequence if the tree
// has one.
Timeline::Path Timeline::path_to(uint64_t sequence) const {
  CELLAR_DCHECK(!nodes_.empty());
  Path path;
  Index at = root_;
  while (nodes_[at].bit != kLeaf) {
    CELLAR_DCHECK(path.depth < kDepthMax);
    path.nodes[path.depth++] = at;
    at = nodes_[at].child[side(sequence, nodes_[at].bit)];
  }
  path.leaf = at;
  steps_ += path.depth + 1;
  return path;
}

void Timeline::add_to_tree(const Event& event) {
  const Path path = path_to(event.sequence);
  size_t depth = path.depth;
  if (Node& leaf = nodes_[path.leaf]; leaf.sequence == event.sequence) {
    leaf.timestamp = std::max(leaf.timestamp, event.timestamp);
    leaf.change += event.change;
  } else {
    // The new branch goes above all nodes whose leaves agree on its bit.
    const uint8_t bit = highest_difference(leaf.sequence, event.sequence);
    while (depth > 0 && nodes_[path.nodes[depth - 1]].bit < bit) --depth;
    const Index below = depth < path.depth ? path.nodes[depth] : path.leaf;
    const Index added = new_leaf(event);
    Node branch{};
    branch.bit = bit;
    branch.child[side(event.sequence, bit)] = added;
    branch.child[1 - side(event.sequence, bit)] = below;
    sum_up(branch);
    nodes_.push_back(branch);
    const Index at = static_cast<Index>(nodes_.size() - 1);
    if (depth == 0) {
      root_ = at;
    } else {
      Node& above = nodes_[path.nodes[depth - 1]];
      above.child[side(event.sequence, above.bit)] = at;
    }
  }
  while (depth > 0) sum_up(nodes_[path.nodes[--depth]]);
  CELLAR_DCHECK(nodes_.size() % 2 == 1);
}

uint64_t Timeline::find_marker_after(uint64_t sequence, int64_t timestamp) const {
  CELLAR_DCHECK(timestamp != kOldestTimestamp);
  if (!nodes_.empty()) return find_in_tree(sequence, timestamp);
  size_t at = 0;
  while (at < few_count_ && (few_[at].sequence <= sequence || few_[at].timestamp < timestamp)) ++at;
  steps_ += at + 1;
  return at < few_count_ ? few_[at].sequence : kNever;
}

uint64_t Timeline::find_in_tree(uint64_t sequence, int64_t timestamp) const {
  if (nodes_[root_].timestamp < timestamp) return kNever;
  const Path path = path_to(sequence);
  size_t depth = path.depth;
  const uint64_t met = nodes_[path.leaf].sequence;
  if (met != sequence) {
    const uint8_t bit = highest_difference(met, sequence);
    while (depth > 0 && nodes_[path.nodes[depth - 1]].bit < bit) --depth;
    // All leaves below this node are on one side of the sequence.
    const Index below = depth < path.depth ? path.nodes[depth] : path.leaf;
    if (met > sequence && nodes_[below].timestamp >= timestamp) return first_below(below, timestamp);
  }
  // The later leaves hang on the path, the next ones lowest.
  while (depth-- > 0) {
    const Node& node = nodes_[path.nodes[depth]];
    if (side(sequence, node.bit) == 0 && nodes_[node.child[1]].timestamp >= timestamp)
      return first_below(node.child[1], timestamp);
  }
  return kNever;
}

// Returns the sequence of the first marker below the node that hides puts of this timestamp. One does.
uint64_t Timeline::first_below(Index at, int64_t timestamp) const {
  CELLAR_DCHECK(nodes_[at].timestamp >= timestamp);
  for (; nodes_[at].bit != kLeaf; ++steps_) {
    const Node& node = nodes_[at];
    at = node.child[nodes_[node.child[0]].timestamp >= timestamp ? 0 : 1];
  }
  return nodes_[at].sequence;
}

uint64_t Timeline::last_moment_of(int32_t alive) const {
  CELLAR_DCHECK(alive > 0);
  if (nodes_.empty()) {
    uint64_t last = 0;
    int32_t count = 0;
    for (size_t i = 0; i < few_count_; ++i) {
      if (count >= alive) last = few_[i].sequence;
      count += few_[i].change;
    }
    steps_ += few_count_;
    return count >= alive ? kNever : last;
  }
  if (nodes_[root_].change >= alive) return kNever;
  if (nodes_[root_].most_before < alive) return 0;
  Index at = root_;
  for (int32_t before = 0; nodes_[at].bit != kLeaf; ++steps_) {
    const Index* const child = nodes_[at].child;
    const Node& low = nodes_[child[0]];
    const bool is_high = before + low.change + nodes_[child[1]].most_before >= alive;
    if (is_high) before += low.change;
    at = child[is_high ? 1 : 0];
  }
  return nodes_[at].sequence;
}

}  // namespace cellar
