// MemtableFigures: running totals of the inserted cells.
#pragma once

#include <atomic>

#include "base/assert.h"
#include "memtable/memtable.h"

namespace cellar {

// One thread may add, ordered by the caller; any thread may read. Only one thread stores each figure, so
// plain loads and stores suffice. All accesses are relaxed, because no figure orders other memory.
class MemtableFigures {
 public:
  void add(const CellView& cell, uint64_t bytes) {
    CELLAR_ASSERT(bytes > this->bytes());  // an arena gives nothing back
    raise_by(cells_, 1);
    raise_by(cell_bytes_, cell.key_size + cell.value_size + cell.tags_size);
    bytes_.store(bytes, std::memory_order_relaxed);
    lower_to(timestamp_min_, cell.timestamp);
    raise_to(timestamp_max_, cell.timestamp);
    lower_to(sequence_min_, cell.sequence);
    raise_to(sequence_max_, cell.sequence);
    if (cell.tags_size != 0) raise_by(tags_, 1);
    if (is_delete(cell.type())) add_delete(cell.type());
  }

  uint64_t bytes() const { return bytes_.load(std::memory_order_relaxed); }

  MemtableSummary summary() const {
    constexpr std::memory_order kRelaxed = std::memory_order_relaxed;
    return {.cells = cells_.load(kRelaxed),
            .bytes = bytes_.load(kRelaxed),
            .timestamp_min = timestamp_min_.load(kRelaxed),
            .timestamp_max = timestamp_max_.load(kRelaxed),
            .sequence_min = sequence_min_.load(kRelaxed),
            .sequence_max = sequence_max_.load(kRelaxed),
            .deletes = deletes_.load(kRelaxed),
            .family_deletes = family_deletes_.load(kRelaxed),
            .version_deletes = version_deletes_.load(kRelaxed),
            .reaches_back = reaches_back_.load(kRelaxed),
            .tags = tags_.load(kRelaxed),
            .cell_bytes = cell_bytes_.load(kRelaxed)};
  }

 private:
  void add_delete(CellType type) {
    CELLAR_ASSERT(is_delete(type));
    raise_by(deletes_, 1);
    if (covers_family(type)) raise_by(family_deletes_, 1);
    if (type == CellType::kDeleteColumn || type == CellType::kDeleteFamily) {
      reaches_back_.store(true, std::memory_order_relaxed);
    } else {
      raise_by(version_deletes_, 1);
    }
  }
  static void raise_by(std::atomic<uint64_t>& figure, uint64_t by) {
    figure.store(figure.load(std::memory_order_relaxed) + by, std::memory_order_relaxed);
  }
  template <class T>
  static void lower_to(std::atomic<T>& figure, T value) {
    if (value < figure.load(std::memory_order_relaxed)) figure.store(value, std::memory_order_relaxed);
  }
  template <class T>
  static void raise_to(std::atomic<T>& figure, T value) {
    if (value > figure.load(std::memory_order_relaxed)) figure.store(value, std::memory_order_relaxed);
  }

  // The first five change with nearly each cell.
  std::atomic<uint64_t> cells_{0};
  std::atomic<uint64_t> bytes_{0};
  std::atomic<uint64_t> cell_bytes_{0};
  std::atomic<uint64_t> sequence_max_{0};
  std::atomic<int64_t> timestamp_max_{INT64_MIN};
  std::atomic<int64_t> timestamp_min_{INT64_MAX};
  std::atomic<uint64_t> sequence_min_{UINT64_MAX};
  std::atomic<uint64_t> deletes_{0};
  std::atomic<uint64_t> family_deletes_{0};
  std::atomic<uint64_t> version_deletes_{0};
  std::atomic<bool> reaches_back_{false};
  std::atomic<uint64_t> tags_{0};
};

}  // namespace cellar
