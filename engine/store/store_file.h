// StoreFile: one HFile of a store, open, with what the manifest says of it.
#pragma once

#include <atomic>
#include <memory>
#include <string_view>

#include "base/assert.h"
#include "engine/manifest/manifest.h"
#include "engine/store/file_remover.h"
#include "hfile/read/hfile_reader.h"

namespace cellar {

// The views that contain the file hold it. The file is deleted when it is obsolete and the last view releases
// it. Immutable except for the flags.
class StoreFile {
 public:
  // `stored` is what the manifest's list of obsolete files calls it; a null remover leaves the file where it
  // is.
  StoreFile(std::shared_ptr<HFileReader> reader, FileRecord record, uint64_t number,
            std::shared_ptr<Directory> directory, StoredFile stored, FileRemover* remover)
      : reader_(std::move(reader)),
        record_(std::move(record)),
        number_(number),
        directory_(std::move(directory)),
        stored_(std::move(stored)),
        remover_(remover) {
    CELLAR_ASSERT(reader_ != nullptr && (directory_ != nullptr || remover_ == nullptr));
    has_cells_ = reader_->cells() != 0;
    first_row_ = reader_->first_row();
    last_row_ = reader_->last_row();
    const auto earliest = reader_->info().i64(info_key::kEarliestDelete);
    if (earliest.ok() && earliest->has_value()) earliest_delete_ = **earliest;
    const auto excluded = reader_->info().boolean(info_key::kExcludeFromMinor);
    exclude_from_minor_ = excluded.ok() && excluded->value_or(false);
  }
  StoreFile(const StoreFile&) = delete;
  StoreFile& operator=(const StoreFile&) = delete;
  ~StoreFile() {
    reader_.reset();
    if (obsolete_.load(std::memory_order_acquire) && remover_ != nullptr)
      remover_->remove(std::move(directory_), std::move(stored_));
  }

  const HFileReader& reader() const { return *reader_; }
  const FileRecord& record() const { return record_; }
  bool has_cells() const { return has_cells_; }
  // Returns the bytes of memory of the open file, without what the cache counts.
  uint64_t memory_bytes() const {
    return sizeof(StoreFile) + record_.name.capacity() + record_.first_key.capacity() +
           record_.last_key.capacity() + reader_->memory_bytes();
  }
  // The same as the reader's, at hand for every read.
  std::string_view first_row() const { return first_row_; }
  std::string_view last_row() const { return last_row_; }
  // Returns false only if the file holds no delete markers. A file without a record may always hold some.
  bool may_hold_markers() const { return record_.name.empty() || record_.deletes != 0; }
  // Returns the smallest timestamp of a delete marker; INT64_MAX if the file does not record it.
  int64_t earliest_delete() const { return earliest_delete_; }
  // Returns true if the file says that only major compactions may read it, as a bulk load of HBase can do.
  bool exclude_from_minor() const { return exclude_from_minor_; }
  // A get or scan of a view with this number reads the file, or the view is the first one that has it. Any
  // thread. The file is written once a view, so that threads that read it do not disturb each other.
  void note_read(uint64_t view) const {
    if (last_read_.load(std::memory_order_relaxed) < view) last_read_.store(view, std::memory_order_relaxed);
  }
  uint64_t last_read() const { return last_read_.load(std::memory_order_relaxed); }
  // Unique in the store: what plans call the file.
  uint64_t number() const { return number_; }

  // The manifest no longer names it, or never has.
  void set_obsolete() { obsolete_.store(true, std::memory_order_release); }
  bool obsolete() const { return obsolete_.load(std::memory_order_acquire); }
  // Returns true while a compaction reads the file. The store's background work sets and clears the flag.
  bool busy() const { return busy_.load(std::memory_order_relaxed); }
  void set_busy(bool busy) {
    const bool before = busy_.exchange(busy, std::memory_order_relaxed);
    CELLAR_ASSERT(before != busy);  // one compaction at a time
  }
  // Returns true if compactions leave the file out, because it could not be read.
  bool is_aside() const { return aside_.load(std::memory_order_relaxed); }
  // Returns whether that changes it.
  bool set_aside(bool aside) { return aside_.exchange(aside, std::memory_order_relaxed) != aside; }
  // True for the first who asks, who is to prefetch the file; true again once it is wanted anew.
  bool take_prefetch() { return !prefetch_taken_.exchange(true, std::memory_order_relaxed); }
  void prefetch_anew() { prefetch_taken_.store(false, std::memory_order_relaxed); }

  // Returns true if a get asks the Bloom filter although no other source may have the row. The question costs
  // about half of the search that it may save. It pays only while some gets do not find their row here. The
  // first gets ask, and so do kAsksAfterMiss gets after each that did not find its row.
  bool asks_filter() const { return asks_left_.load(std::memory_order_relaxed) != 0; }
  void note_get(bool found) const {
    const uint32_t left = asks_left_.load(std::memory_order_relaxed);
    if (!found) {
      if (left != kAsksAfterMiss) asks_left_.store(kAsksAfterMiss, std::memory_order_relaxed);
    } else if (left != 0) {
      asks_left_.store(left - 1, std::memory_order_relaxed);
    }
  }
  static constexpr uint32_t kAsksAfterMiss = 256;

 private:
  std::shared_ptr<HFileReader> reader_;
  FileRecord record_;
  uint64_t number_;
  std::shared_ptr<Directory> directory_;
  StoredFile stored_;
  FileRemover* remover_;
  bool has_cells_ = false;
  std::string_view first_row_;  // bytes of the reader
  std::string_view last_row_;
  int64_t earliest_delete_ = INT64_MAX;
  bool exclude_from_minor_ = false;
  mutable std::atomic<uint64_t> last_read_{0};
  std::atomic<bool> obsolete_{false};
  std::atomic<bool> busy_{false};
  std::atomic<bool> aside_{false};
  std::atomic<bool> prefetch_taken_{false};
  mutable std::atomic<uint32_t> asks_left_{kAsksAfterMiss};
};

// Returns what tables and compaction policies tell about a file.
StoreFileInfo info_of(const StoreFile& file);

}  // namespace cellar
