// Models of cache policies. They share no code with the policies: blocks are numbers, lists are vectors whose
// front is the oldest block.
#include "tests/cache/policy_models.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <utility>

namespace cellar::testing {
namespace {

using Blocks = std::vector<uint64_t>;
using Hits = std::vector<bool>;

bool has(const Blocks& blocks, uint64_t block) { return std::ranges::find(blocks, block) != blocks.end(); }

// Returns whether the block was there.
bool take(Blocks& blocks, uint64_t block) {
  const auto at = std::ranges::find(blocks, block);
  if (at == blocks.end()) return false;
  blocks.erase(at);
  return true;
}

uint64_t take_front(Blocks& blocks) {
  const uint64_t block = blocks.at(0);
  blocks.erase(blocks.begin());
  return block;
}

Hits lru(const Blocks& asked, size_t capacity) {
  Blocks list;
  Hits hits;
  for (const uint64_t x : asked) {
    hits.push_back(take(list, x));
    if (!hits.back() && list.size() == capacity) take_front(list);
    list.push_back(x);
  }
  return hits;
}

// Second chance: a queue, and a bit for each block.
Hits clock(const Blocks& asked, size_t capacity) {
  Blocks queue;
  std::map<uint64_t, bool> used;
  Hits hits;
  for (const uint64_t x : asked) {
    hits.push_back(has(queue, x));
    if (hits.back()) {
      used[x] = true;
      continue;
    }
    while (queue.size() == capacity) {
      const uint64_t head = take_front(queue);
      if (std::exchange(used[head], false)) queue.push_back(head);
    }
    queue.push_back(x);
    used[x] = false;
  }
  return hits;
}

// HBase's LruBlockCache without in-memory families. `capacity` is a multiple of 4, so the shares are whole.
Hits slru(const Blocks& asked, size_t capacity) {
  Blocks single;
  Blocks multi;
  Hits hits;
  for (const uint64_t x : asked) {
    if (take(single, x) || take(multi, x)) {
      multi.push_back(x);
      hits.push_back(true);
      continue;
    }
    hits.push_back(false);
    if (single.size() + multi.size() == capacity) {
      const int64_t single_over = static_cast<int64_t>(single.size()) - static_cast<int64_t>(capacity / 4);
      const int64_t multi_over = static_cast<int64_t>(multi.size()) - static_cast<int64_t>(capacity / 2);
      const bool of_single = !single.empty() && (multi.empty() || single_over >= multi_over);
      take_front(of_single ? single : multi);
    }
    single.push_back(x);
  }
  return hits;
}

// Algorithm 1 of the paper. The hand is a place in the queue.
Hits sieve(const Blocks& asked, size_t capacity) {
  Blocks queue;
  std::map<uint64_t, bool> visited;
  size_t hand = 0;
  Hits hits;
  for (const uint64_t x : asked) {
    hits.push_back(has(queue, x));
    if (hits.back()) {
      visited[x] = true;
      continue;
    }
    if (queue.size() == capacity) {
      if (hand >= queue.size()) hand = 0;
      while (visited[queue[hand]]) {
        visited[queue[hand]] = false;
        hand = (hand + 1) % queue.size();
      }
      const bool newest = hand + 1 == queue.size();
      queue.erase(queue.begin() + static_cast<std::ptrdiff_t>(hand));
      if (newest) hand = 0;
    }
    queue.push_back(x);
    visited[x] = false;
  }
  return hits;
}

// Algorithm 1 of the paper, with 10 % for the small queue and as many ghosts as the main queue has blocks.
struct S3FifoModel {
  size_t capacity;
  Blocks small, main, ghosts;
  std::map<uint64_t, int> uses;

  size_t small_size() const { return static_cast<size_t>(0.1 * static_cast<double>(capacity)); }
  size_t main_size() const { return capacity - small_size(); }
  size_t ghosts_size() const { return static_cast<size_t>(0.9 * static_cast<double>(capacity)); }

  void evict() {
    const bool of_main = main.size() > main_size() || small.empty();
    if (!of_main) {
      while (!small.empty()) {
        const uint64_t tail = take_front(small);
        if (uses[tail] < 2) {
          ghosts.push_back(tail);
          if (ghosts.size() > ghosts_size()) take_front(ghosts);
          return;
        }
        main.push_back(tail);
        uses[tail] = 0;
      }
    }
    while (true) {
      const uint64_t tail = take_front(main);
      if (uses[tail] == 0) return;
      --uses[tail];
      main.push_back(tail);
    }
  }

  bool ask(uint64_t x) {
    if (has(small, x) || has(main, x)) {
      uses[x] = std::min(uses[x] + 1, 3);
      return true;
    }
    const bool was_ghost = take(ghosts, x);
    if (small.size() + main.size() == capacity) evict();
    uses[x] = 0;
    (was_ghost ? main : small).push_back(x);
    return false;
  }
};

Hits s3fifo(const Blocks& asked, size_t capacity) {
  S3FifoModel model{.capacity = capacity, .small = {}, .main = {}, .ghosts = {}, .uses = {}};
  Hits hits;
  for (const uint64_t x : asked) hits.push_back(model.ask(x));
  return hits;
}

// Figure 4 of the paper.
struct ArcModel {
  double c;
  Blocks t1, t2, b1, b2;
  double p = 0;

  void replace(bool in_b2) {
    const auto size = static_cast<double>(t1.size());
    if (!t1.empty() && (size > p || (in_b2 && size == p) || t2.empty())) {
      b1.push_back(take_front(t1));
    } else {
      b2.push_back(take_front(t2));
    }
  }

  bool full() const { return static_cast<double>(t1.size() + t2.size()) == c; }

  bool ask(uint64_t x) {
    if (take(t1, x) || take(t2, x)) {  // case I
      t2.push_back(x);
      return true;
    }
    const auto size1 = static_cast<double>(b1.size());
    const auto size2 = static_cast<double>(b2.size());
    if (has(b1, x)) {  // case II
      p = std::min(c, p + std::max(size2 / size1, 1.0));
      if (full()) replace(false);
      take(b1, x);
      t2.push_back(x);
    } else if (has(b2, x)) {  // case III
      p = std::max(0.0, p - std::max(size1 / size2, 1.0));
      if (full()) replace(true);
      take(b2, x);
      t2.push_back(x);
    } else {  // case IV
      const size_t whole = static_cast<size_t>(c);
      if (t1.size() + b1.size() == whole) {
        if (t1.size() < whole) {
          take_front(b1);
          replace(false);
        } else {
          take_front(t1);
        }
      } else if (t1.size() + b1.size() + t2.size() + b2.size() >= whole) {
        if (t1.size() + b1.size() + t2.size() + b2.size() == 2 * whole) take_front(b2);
        replace(false);
      }
      t1.push_back(x);
    }
    return false;
  }
};

Hits arc(const Blocks& asked, size_t capacity) {
  ArcModel model{.c = static_cast<double>(capacity), .t1 = {}, .t2 = {}, .b1 = {}, .b2 = {}};
  Hits hits;
  for (const uint64_t x : asked) hits.push_back(model.ask(x));
  return hits;
}

// Counters one by one, for as many blocks as the policy's sketch is sized for when it holds so many blocks.
struct SketchModel {
  std::array<std::vector<int>, 4> rows;
  uint64_t added = 0;

  SketchModel() { rows.fill(std::vector<int>(64)); }

  static uint64_t place(uint64_t block, uint64_t row, uint64_t width) {
    uint64_t x = block + (row + 1) * 0x9e3779b97f4a7c15;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return (x ^ (x >> 31)) % width;
  }
  void hold(uint64_t blocks) {
    while (rows[0].size() < 4 * blocks)
      for (std::vector<int>& row : rows) {
        const std::vector<int> copy = row;
        row.insert(row.end(), copy.begin(), copy.end());
      }
  }
  void add(uint64_t block) {
    for (size_t i = 0; i < rows.size(); ++i) {
      int& counter = rows[i][place(block, i, rows[i].size())];
      counter = std::min(counter + 1, 15);
    }
    if (++added < rows[0].size() / 4 * 10) return;
    for (std::vector<int>& row : rows)
      for (int& counter : row) counter /= 2;
    added /= 2;
  }
  int estimate(uint64_t block) const {
    int least = 15;
    for (size_t i = 0; i < rows.size(); ++i)
      least = std::min(least, rows[i][place(block, i, rows[i].size())]);
    return least;
  }
};

// The scheme of section 4 of the paper: a window of 1 %, and four fifths of the rest are protected.
struct TinyLfuModel {
  size_t capacity;
  Blocks window, probation, guarded;
  SketchModel sketch;

  size_t window_size() const { return static_cast<size_t>(0.01 * static_cast<double>(capacity)); }
  size_t guarded_size() const {
    return static_cast<size_t>(0.8 * static_cast<double>(capacity - window_size()));
  }

  bool ask(uint64_t x) {
    sketch.add(x);
    if (take(window, x)) {
      window.push_back(x);
      return true;
    }
    if (take(probation, x) || take(guarded, x)) {
      guarded.push_back(x);
      if (guarded.size() > guarded_size()) probation.push_back(take_front(guarded));
      return true;
    }
    if (window.size() + probation.size() + guarded.size() == capacity) make_room();
    window.push_back(x);
    while (window.size() > std::max<size_t>(1, window_size())) probation.push_back(take_front(window));
    sketch.hold(window.size() + probation.size() + guarded.size());
    return false;
  }

  void make_room() {
    Blocks& main = probation.empty() ? guarded : probation;
    if (main.empty()) {
      take_front(window);
    } else if (window.empty() || window.size() + 1 <= window_size()) {
      take_front(main);
    } else {
      const uint64_t candidate = take_front(window);
      if (sketch.estimate(candidate) <= sketch.estimate(main.front())) return;
      take_front(main);
      probation.push_back(candidate);
    }
  }
};

Hits w_tinylfu(const Blocks& asked, size_t capacity) {
  TinyLfuModel model{.capacity = capacity, .window = {}, .probation = {}, .guarded = {}, .sketch = {}};
  Hits hits;
  for (const uint64_t x : asked) hits.push_back(model.ask(x));
  return hits;
}

}  // namespace

const std::map<std::string, Model>& policy_models() {
  static const std::map<std::string, Model> models = {
      {"lru", lru},       {"clock", clock}, {"slru", slru},          {"sieve", sieve},
      {"s3fifo", s3fifo}, {"arc", arc},     {"w_tinylfu", w_tinylfu}};
  return models;
}

}  // namespace cellar::testing
