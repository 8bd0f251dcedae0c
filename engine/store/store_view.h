// StoreView: the memtables and files of one family that a reader holds.
#pragma once

#include <cstdint>
#include <memory>
#include <numeric>
#include <span>
#include <string_view>
#include <vector>

#include "base/assert.h"
#include "engine/manifest/file_order.h"
#include "engine/store/family_config.h"
#include "engine/store/hidden_reads.h"
#include "engine/store/store_file.h"
#include "hfile/format/file_info.h"
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

// FileRun: a sorted run of a view: the files with these indexes. See engine/manifest/file_order.h.
struct FileRun {
  size_t begin = 0;
  size_t end = 0;    // exclusive
  uint64_t run = 0;  // as in FileRecord; 0: a run of one file, without a number
  uint32_t level = 0;
  uint64_t sequence_max = 0;           // the greatest of its files
  RowWords lasts = {};                 // of the last rows of its files; empty for a run of one file
  int64_t older_time_max = INT64_MIN;  // no cell of older runs, markers included, is newer
  TimestampRange times = {};           // of its files; all times if one of them does not record it

  size_t size() const { return end - begin; }
  FileRange files() const { return {begin, end}; }
  // Returns whether most of its time range is newer than all cells of older runs. A cell that a read finds in
  // the run is then likely to be the newest one.
  bool is_mostly_newer() const { return std::midpoint(times.min, times.max) > older_time_max; }
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
  std::vector<MemtableRef> frozen;  // newest first
  // The oldest run first, and in a run ascending by rows. Set by set_files(), with the runs.
  std::vector<std::shared_ptr<StoreFile>> files;
  std::vector<FileRun> runs;   // the oldest first
  std::vector<FileRows> rows;  // one for each file, or empty if every run has one file
  // The newest read point for which a flush or compaction made one of these files. A reader at an older read
  // point that was not registered may miss dropped cells, and starts over.
  uint64_t rewritten_at = 0;
  FamilyTotals totals;  // of the family, without what is in memtables
  uint64_t number = 1;  // a later view of the store has a greater one
  // No cell outside the active memtable is newer. INT64_MAX until a Store knows better.
  int64_t older_time_max = INT64_MAX;
  // Where scans count deleted cells that they examined in vain; null: nobody counts. All views of a store
  // share it.
  std::shared_ptr<HiddenReads> hidden_reads = {};
  // No cell of a file, markers included, is newer. Set by set_files().
  int64_t files_time_max = INT64_MIN;
};

// FlushedInto: the files with the cells of flushed memtables. A compaction may have replaced them meanwhile.
struct FlushedInto final : MemtableSuccessor {
  std::vector<std::weak_ptr<StoreFile>> files;
};
// Returns a view with the same cells, in which files take the place of the oldest memtables. These must have
// been flushed without loss, and the files must still exist. Returns null if that replaces no memtable.
std::shared_ptr<const StoreView> without_flushed(const StoreView& view);
// Returns whether the oldest memtable of the view was flushed without loss. Cheap.
inline bool has_flushed(const StoreView& view) {
  const MemtableRef& oldest = view.frozen.empty() ? view.active : view.frozen.back();
  return oldest.get() != nullptr && oldest->successor() != nullptr;
}

// A file with its run. A file may change its run while older views still show it in the run before. So the
// run belongs to the view, and StoreFile::record() tells only the first one.
struct PlacedFile {
  std::shared_ptr<StoreFile> file = {};
  uint64_t run = 0;
  uint32_t level = 0;
};
// Returns the files of a view with their runs, in the view's order.
std::vector<PlacedFile> placed_files(const StoreView& view);
// Returns what tables and compaction policies tell about the files, in the view's order.
std::vector<StoreFileInfo> infos_of(const StoreView& view);
// Returns the latest timestamp in the files and in the frozen memtables.
int64_t latest_of_older(const StoreView& view);
// Makes these, in the order of file_order.h, the files of a view.
void set_files(StoreView& view, std::vector<PlacedFile> files);

// Returns the rows of a file with a record. They are the rows of its cells; a reader may know wider ones.
FileRows rows_of(const StoreFile& file);

// Returns the files of a run that may hold rows within the bounds. The run must have several files. Most
// searches compare words of rows (row_words.h), so that the time hardly grows with the number of files.
FileRange files_within(const StoreView& view, const FileRun& run, const RowBounds& bounds);

// The rows from the first to the last of some files. Borrows their records.
struct RowHull {
  std::string_view first;
  std::string_view last;

  // Returns whether the file has rows in it.
  bool meets(const FileRecord& file) const {
    return first_row_of(file) <= last && last_row_of(file) >= first;
  }
};
RowHull hull_of(std::span<const std::shared_ptr<StoreFile>> files);

// The cells of a view, memory included, that may hide cells of a rewrite or be hidden by them. They have
// rows in common with the memtables or files that are rewritten, and are not in these.
struct Outside {
  int64_t earliest = INT64_MAX;  // no put is older
  // Deletes of single versions are among it: they make older versions visible. Or in the rewrite, of a family
  // that keeps deleted cells: they count as versions there, and not for readers.
  bool version_deletes = false;
};
// The memtables that are rewritten need not be in the view.
Outside outside_of(const StoreView& view, std::span<const MemtableRef> memtables,
                   std::span<const std::shared_ptr<StoreFile>> files);

}  // namespace cellar
