// CellVector: the list of cells, its sorted runs, and their merge for readers.
#include "memtable/cell_vector.h"

#include <algorithm>
#include <new>
#include <utility>

#include "base/assert.h"
#include "cell/cell_order.h"

namespace cellar {

namespace {

constexpr uint32_t kFirstCells = 31;             // of the first chunk
constexpr uint32_t kCellsMax = 4095;             // of a later one, which doubles up to here
constexpr uint64_t kFirstChunksBytes = 8 << 10;  // chunks up to here come from small blocks
constexpr uint64_t kRatio = 4;                   // between the sizes of neighbouring runs, at least

}  // namespace

// The cells follow the chunk.
struct CellVector::Chunk {
  Chunk* next;  // null until the chunk is full
  uint64_t size;

  const CellRecord** cells() { return reinterpret_cast<const CellRecord**>(this + 1); }
  const CellRecord* const* cells() const { return reinterpret_cast<const CellRecord* const*>(this + 1); }
};

CellVector::CellVector() : runs_(std::make_shared<Runs>()) {}

// ---- Inserting ----

void CellVector::insert(const CellView& cell, const CellRecord* record, const void* near) {
  CELLAR_DCHECK(near == nullptr);                           // find() gives no other
  CELLAR_DCHECK(compare_cells(record->view(), cell) == 0);  // the record is a copy of the cell
  static_cast<void>(cell);
  static_cast<void>(near);
  if (last_ == nullptr || used_ == last_->size) open_chunk();
  last_->cells()[used_++] = record;
  cells_.store(cells_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
}

void CellVector::open_chunk() {
  const uint64_t before = list_bytes_.load(std::memory_order_relaxed);
  const uint64_t size = last_ == nullptr ? kFirstCells : std::min<uint64_t>(2 * last_->size + 1, kCellsMax);
  const size_t bytes = sizeof(Chunk) + size * sizeof(const CellRecord*);
  Arena& arena = before < kFirstChunksBytes ? first_chunks_ : chunks_;
  auto* chunk = new (arena.allocate(bytes, alignof(Chunk))) Chunk{nullptr, size};
  list_bytes_.store(before + bytes, std::memory_order_relaxed);
  (last_ == nullptr ? first_ : last_->next) = chunk;
  last_ = chunk;
  used_ = 0;
}

// ---- Sorting ----

// Returns runs of all cells that are inserted now. `known` is null, or an earlier result.
std::shared_ptr<const CellVector::Runs> CellVector::catch_up(std::shared_ptr<const Runs> known) const {
  const uint64_t cells = cells_.load(std::memory_order_acquire);
  if (known != nullptr && known->cells == cells) return known;
  const MutexLock lock(mutex_);
  if (runs_->cells >= cells) return runs_;
  auto made = std::make_shared<Runs>(*runs_);
  std::vector<std::shared_ptr<const SortedRun>>& runs = made->runs;
  runs.push_back(sort_new(cells - made->cells));
  made->cells = cells;
  while (runs.size() > 1 && runs[runs.size() - 2]->size() < kRatio * runs.back()->size()) {
    std::shared_ptr<const SortedRun> merged = SortedRun::merge(*runs[runs.size() - 2], *runs.back());
    runs.pop_back();
    runs.back() = std::move(merged);
  }
  CELLAR_ASSERT(runs.size() <= kRunsMax);
  runs_ = made;
  return made;
}

// Sorts the next `cells` cells of the list.
std::shared_ptr<const SortedRun> CellVector::sort_new(uint64_t cells) const {
  CELLAR_ASSERT(cells > 0);
  auto run = std::make_shared<SortedRun>(cells);
  if (next_chunk_ == nullptr) next_chunk_ = first_;
  for (uint64_t i = 0; i < cells; ++i) {
    if (next_index_ == next_chunk_->size) {
      next_chunk_ = next_chunk_->next;
      next_index_ = 0;
    }
    run->set(i, next_chunk_->cells()[next_index_++]);
  }
  run->sort();
  return run;
}

size_t CellVector::count_runs() const {
  const MutexLock lock(mutex_);
  return runs_->runs.size();
}

// ---- Reading ----

const CellRecord* CellVector::find(const CellView& target, const void*& near) const {
  near = nullptr;
  Place place;
  return place.seek(*this, target);
}

// Among equal cells, the one inserted later comes first.
bool CellVector::Place::is_before(const Head& a, const Head& b) {
  const std::strong_ordering order = compare_stored(a.at->record->view(), b.at->record->view());
  return order != 0 ? order < 0 : a.age > b.age;
}

// Puts the rest of a run, from `at` on, into its place among the heads.
void CellVector::Place::add(const SortedRun& run, const SortedRun::Entry* at, uint32_t age) {
  if (at == run.end()) return;
  CELLAR_ASSERT(count_ < kRunsMax);
  const Head head = {at, run.end(), age};
  uint32_t to = count_++;
  for (; to > 0 && is_before(head, heads_[to - 1]); --to) heads_[to] = heads_[to - 1];
  heads_[to] = head;
}

const CellRecord* CellVector::Place::seek(const CellVector& vector, const CellView& target) {
  runs_ = vector.catch_up(std::move(runs_));
  count_ = 0;
  for (uint32_t age = 0; age < runs_->runs.size(); ++age) {
    const SortedRun& run = *runs_->runs[age];
    add(run, run.at_or_after(target), age);
  }
  return record();
}

const CellRecord* CellVector::Place::seek_before(const CellVector& vector, const CellView& target) {
  runs_ = vector.catch_up(std::move(runs_));
  count_ = 0;
  std::array<const SortedRun::Entry*, kRunsMax> from;
  const auto runs = static_cast<uint32_t>(runs_->runs.size());
  uint32_t last = runs;  // the run of the last cell before the target
  for (uint32_t age = 0; age < runs; ++age) {
    from[age] = runs_->runs[age]->at_or_after(target);
    if (from[age] == runs_->runs[age]->begin()) continue;
    const auto before = [&](uint32_t each) { return from[each][-1].record->view(); };
    // The last one of equal cells is in the oldest run.
    if (last == runs || compare_stored(before(last), before(age)) < 0) last = age;
  }
  if (last == runs) return nullptr;
  --from[last];
  for (uint32_t age = 0; age < runs; ++age) add(*runs_->runs[age], from[age], age);
  CELLAR_DCHECK(heads_[0].at == from[last]);
  return record();
}

const CellRecord* CellVector::Place::next() {
  constexpr ptrdiff_t kAhead = 4;
  if (count_ == 0) return nullptr;
  Head& first = heads_[0];
  ++first.at;
  if (first.end - first.at > kAhead) __builtin_prefetch(first.at[kAhead].record);
  if (first.at == first.end) {
    --count_;
    std::copy(heads_.begin() + 1, heads_.begin() + 1 + count_, heads_.begin());
    return record();
  }
  for (uint32_t i = 0; i + 1 < count_ && is_before(heads_[i + 1], heads_[i]); ++i)
    std::swap(heads_[i], heads_[i + 1]);
  return record();
}

}  // namespace cellar
