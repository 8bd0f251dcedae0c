// StoreView: the memtables and files of one family that a reader holds.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/assert.h"
#include "engine/store/family_config.h"
#include "engine/store/store_file.h"
#include "memtable/memtable.h"

namespace cellar {

// MemtableRef: a pinned memtable.
class MemtableRef {
 public:
  MemtableRef() = default;
  explicit MemtableRef(Memtable* table) : pin_(table), table_(table) {}
  Memtable* operator->() const {
    CELLAR_DCHECK(table_ != nullptr);
    return table_;
  }
  Memtable* get() const { return table_; }
  bool operator==(const MemtableRef& other) const { return table_ == other.table_; }

 private:
  Pin pin_;
  Memtable* table_ = nullptr;
};

// Immutable; replaced as a whole by its Store.
struct StoreView {
  std::shared_ptr<const FamilyConfig> config;
  MemtableRef active;
  std::vector<MemtableRef> frozen;                // newest first
  std::vector<std::shared_ptr<StoreFile>> files;  // oldest first
  // The newest read point that a flush or compaction behind these files was done for: whoever reads at an
  // older one that was not registered may miss what was dropped, and starts over.
  uint64_t rewritten_at = 0;
};

// Of what is in the view, memory included, and takes no part in a rewrite of some of its memtables or files.
struct Outside {
  int64_t earliest = INT64_MAX;  // no put is older
  // Deletes of single versions are among it: they make older versions visible. Or in the rewrite, of a family
  // that keeps deleted cells: they count as versions there, and not for readers.
  bool version_deletes = false;
};
Outside outside_of(const StoreView& view, std::span<const MemtableRef> memtables,
                   std::span<const std::shared_ptr<StoreFile>> files);

}  // namespace cellar
