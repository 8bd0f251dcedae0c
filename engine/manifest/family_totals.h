// FamilyTotals: how much was put into a family, and how much was written for it, since it was created.
#pragma once

#include <cstdint>

namespace cellar {

// Kept in the manifest: each flush and compaction adds to it with the edit that makes its files count.
// Writes whose cells are still in memtables are not in it: see MemtableSummary::cell_bytes.
struct FamilyTotals {
  uint64_t bytes_put = 0;             // keys, values and tags of cells
  uint64_t bytes_flushed = 0;         // of the files that flushes wrote
  uint64_t bytes_compacted = 0;       // of the files that compactions wrote
  uint64_t bytes_compacted_from = 0;  // of the files that those compactions read
  uint64_t flushes = 0;
  uint64_t compactions = 0;

  FamilyTotals& operator+=(const FamilyTotals& other) {
    bytes_put += other.bytes_put;
    bytes_flushed += other.bytes_flushed;
    bytes_compacted += other.bytes_compacted;
    bytes_compacted_from += other.bytes_compacted_from;
    flushes += other.flushes;
    compactions += other.compactions;
    return *this;
  }
  bool operator==(const FamilyTotals&) const = default;
};

}  // namespace cellar
