// SortedRun: records of cells in their order, in one array.
//
// An entry has 8 bytes of its cell's row, which follow the bytes that all rows of the run have in common. So
// sorting and searching seldom look at the records, which are anywhere in memory. Where these bytes are
// equal, the cells are compared.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/arena.h"
#include "cellar/cell.h"
#include "memtable/cell_record.h"

namespace cellar {

// One thread makes a run; then it is immutable, and any thread reads it. Records are borrowed and must
// outlive the run.
class SortedRun {
 public:
  struct Entry {
    uint64_t prefix;  // of the row, after the common part; big-endian, zeros after its end
    const CellRecord* record;
  };

  // Makes a run of `size` (1 or more) records. The maker sets all of them, in the order of their insertion,
  // and then calls sort().
  explicit SortedRun(size_t size);
  SortedRun(const SortedRun&) = delete;
  SortedRun& operator=(const SortedRun&) = delete;

  void set(size_t index, const CellRecord* record) { entries_[index].record = record; }
  // Sorts the records. Among equal ones, the one inserted last comes first.
  void sort();

  // Returns the records of two runs. All of `newer` were inserted after all of `older`.
  static std::shared_ptr<const SortedRun> merge(const SortedRun& older, const SortedRun& newer);

  const Entry* begin() const { return entries_; }
  const Entry* end() const { return entries_ + size_; }
  size_t size() const { return size_; }

  // Returns the first entry at or after `target`, or end().
  const Entry* at_or_after(const CellView& target) const;

 private:
  bool is_ascending() const;
  bool is_descending() const;
  uint32_t common_bytes() const;
  void set_prefixes(uint32_t skip);
  void sort_by_prefix();
  void sort_equal_prefixes();

  Arena room_;
  Entry* entries_;
  size_t size_;
  uint32_t skip_ = 0;  // of the rows: all have the same bytes before
};

}  // namespace cellar
