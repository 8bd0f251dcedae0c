// Timeline: markers and lives of puts in the order of their sequences, with the questions that deletes in the
// order of writing ask about them.
//
// A few events lie in a sorted array. More lie in the leaves of a binary tree that branches at the highest
// bit in which its sequences differ (a crit-bit tree: D. J. Bernstein, https://cr.yp.to/critbit.html). Such a
// tree needs no balancing: n sequences of a range of r writes have at most 1 + log2(r) levels, and never more
// than 65. Each inner node sums up its leaves, so that a question walks one or two paths.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "cellar/cell.h"

namespace cellar {

// Timeline: a moment is named by a sequence and lies just before the write of that sequence. A new timeline
// is empty. Up to kFew events use no memory besides the object. Beyond that an event takes 64 bytes; a vector
// that grows may hold twice as much. One thread at a time.
class Timeline {
 public:
  static constexpr size_t kFew = 16;
  static constexpr uint64_t kNever = UINT64_MAX;  // the moment now, after all writes

  // Forgets all events. Keeps at most 512 KiB of memory.
  void clear();
  bool is_empty() const { return few_count_ == 0 && nodes_.empty(); }

  // Adds a marker that hides puts of its timestamp and before.
  void add_marker(uint64_t sequence, int64_t timestamp);
  // Returns the sequence of the first marker written after `sequence` that hides puts of this timestamp.
  // Returns kNever if no marker does.
  uint64_t first_marker_after(uint64_t sequence, int64_t timestamp) const {
    return is_empty() ? kNever : find_marker_after(sequence, timestamp);
  }

  // Adds a put that was alive from its birth to its death, which are sequences of writes. The moment of its
  // death belongs to its life, the moment of its birth does not. A death of kNever is not written. At no
  // moment may more than 2^31 - 1 puts be alive.
  void add_life(uint64_t birth, uint64_t death);
  // Returns the last moment at which so many puts were alive: a sequence that was added, or kNever if so many
  // are alive now. Returns 0 if so many never were. `alive` is at least 1.
  uint64_t last_moment_of(int32_t alive) const;

  // Returns the number of events and nodes that all calls have looked at. It tells how the work grows.
  uint64_t steps() const { return steps_; }

 private:
  using Index = uint32_t;
  static constexpr uint8_t kLeaf = 255;
  static constexpr size_t kDepthMax = 64;
  static constexpr size_t kNodesKept = 16384;

  // Event: all that was added with one sequence.
  struct Event {
    uint64_t sequence;
    int64_t timestamp;  // newest timestamp of the markers; kOldestTimestamp without markers
    int32_t change;     // births less deaths
  };
  // Node: the leaf of an event, or the sum of two nodes.
  struct Node {
    union {
      uint64_t sequence;  // of a leaf
      Index child[2];     // of an inner node: where the bit is 0, and where it is 1
    };
    int64_t timestamp;    // newest timestamp of the markers below
    int32_t change;       // births less deaths below
    int32_t most_before;  // greatest sum of the changes below that come before one of the leaves below
    uint8_t bit;          // an inner node's: all bits above are equal below; kLeaf in a leaf
  };
  // Path: the inner nodes from the root to a leaf.
  struct Path {
    Index nodes[kDepthMax];
    size_t depth = 0;
    Index leaf = 0;
  };
  static size_t side(uint64_t sequence, uint8_t bit) { return sequence >> bit & 1; }
  static uint8_t highest_difference(uint64_t a, uint64_t b);

  void add(const Event& event);
  bool add_to_few(const Event& event);
  void plant();
  void add_to_tree(const Event& event);
  Index new_leaf(const Event& event);
  void sum_up(Node& node) const;
  Path path_to(uint64_t sequence) const;
  uint64_t find_marker_after(uint64_t sequence, int64_t timestamp) const;
  uint64_t find_in_tree(uint64_t sequence, int64_t timestamp) const;
  uint64_t first_below(Index at, int64_t timestamp) const;

  Event few_[kFew];  // ascending; unused if there is a tree
  size_t few_count_ = 0;
  std::vector<Node> nodes_;
  Index root_ = 0;
  mutable uint64_t steps_ = 0;
};

}  // namespace cellar
