// StoreView: the memtables and files of one family that a reader holds.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/assert.h"
#include "engine/store/family_config.h"
#include "engine/store/store_file.h"
#include "hfile/format/row_words.h"
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

// FileRange: the files of a view with these indexes. `end` is exclusive.
struct FileRange {
  size_t begin = 0;
  size_t end = 0;

  size_t size() const { return end - begin; }
};

// FileRun: a sorted run of a view: the files with these indexes. A row is in at most one of them.
struct FileRun {
  size_t begin = 0;
  size_t end = 0;             // exclusive
  uint64_t sequence_max = 0;  // the greatest of its files
  RowWords lasts = {};        // of the last rows of its files; empty for a run of one file

  size_t size() const { return end - begin; }
  FileRange files() const { return {begin, end}; }
};

// FileRows: what a search in a run of several files needs to know of one of them. The file owns the bytes.
struct FileRows {
  std::string_view first;
  std::string_view last;
  size_t next_marked = 0;  // index of the first file of the run, from this one on, that may hold markers
};

// RowBounds: a range of rows, in ascending order. An empty bound is open.
struct RowBounds {
  std::string_view low;
  std::string_view high;
  bool low_inclusive = true;
  bool high_inclusive = true;
};

// Immutable; replaced as a whole by its Store.
struct StoreView {
  std::shared_ptr<const FamilyConfig> config;
  MemtableRef active;
  std::vector<MemtableRef> frozen;                // newest first
  std::vector<std::shared_ptr<StoreFile>> files;  // the oldest run first, the files of a run in order of rows
  std::vector<FileRun> runs;                      // the oldest first; find_runs() makes them
  std::vector<FileRows> rows;  // one for each file, or empty if every run has one file; by find_runs()
  // The newest read point that a flush or compaction behind these files was done for: whoever reads at an
  // older one that was not registered may miss what was dropped, and starts over.
  uint64_t rewritten_at = 0;
};

// Finds the runs of the view's files; call it after each change of `files`. Neighbours whose records name the
// same run form a run, unless its number is 0. A file without cells is always a run of its own, because it
// has no place in the order of rows. The rows of neighbours in a run must ascend, which is asserted.
void find_runs(StoreView& view);

// Returns the files of a run that may hold rows within the bounds. The run must have several files. Most
// searches compare words of rows (row_words.h), so that the time hardly grows with the number of files.
FileRange files_within(const StoreView& view, const FileRun& run, const RowBounds& bounds);

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
