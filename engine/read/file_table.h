// FileTable: a table that consists of files only, without log, memtables or manifest. Reads take the read
// path of every table; writes are refused.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "cellar/environment.h"
#include "cellar/table.h"
#include "engine/read/range_estimate.h"
#include "engine/read/table_read.h"
#include "hfile/read/hfile_reader.h"

namespace cellar {

// FileTableRegion: the rows of a table from `start` up to but not including `end`; an empty bound is
// open. Regions do not overlap.
struct FileTableRegion {
  std::string start;
  std::string end;
};

struct FileTableOptions {
  std::string name;
  TableOptions table;  // info() shows it; reads obey its families, of which an empty name is one, too
  std::vector<FileTableRegion> regions;  // in the order of their rows
  // Returns the files of a family in one of the regions, oldest first. Called by any thread when a read
  // first needs the files.
  std::function<Result<std::vector<std::shared_ptr<HFileReader>>>(size_t region, const std::string& family)>
      open;
  Clock* clock = nullptr;  // null: the system clock
};

class FileTable final : public Table, public std::enable_shared_from_this<FileTable> {
 public:
  // Returns a table. kInvalidArgument if the options of a family are invalid.
  static Result<std::shared_ptr<FileTable>> create(FileTableOptions options);

  const std::string& name() const override { return options_.name; }
  // Returns FileTableOptions::table, but no files.
  TableInfo info() const override;
  Result<RowBatch> get(const Get& get) override;
  Status get_into(const Get& get, RowBatch& batch) override;
  Result<bool> exists(const Get& get) override;
  Result<std::vector<bool>> exists_many(std::span<const Get> gets) override;
  Result<std::vector<RowBatch>> get_many(std::span<const Get> gets) override;
  Result<std::unique_ptr<Scanner>> scan(const Scan& scan) override;
  Result<std::vector<std::unique_ptr<Scanner>>> scan_many(std::span<const Scan> scans) override;
  Result<RangeEstimate> estimate(const KeyRange& range, const std::vector<std::string>& families) override;
  Result<RangeSplits> split_points(size_t parts, const KeyRange& range,
                                   const std::vector<std::string>& families) override;
  // Runs the gets; writes are refused.
  std::vector<Result<ActionResult>> batch(std::span<const Action> actions,
                                          const WriteOptions& options) override;

  // All functions below return kReadOnly.
  Status put(const Put& put, const WriteOptions& options) override;
  Status erase(const Delete& erase, const WriteOptions& options) override;
  Result<std::vector<int64_t>> increment(const Increment& increment, const WriteOptions& options) override;
  Result<Row> append(const Append& append, const WriteOptions& options) override;
  Result<Row> mutate(const RowMutations& mutations, const WriteOptions& options) override;
  Result<ActionResult> check_and_mutate(const CheckAndMutate& check, const WriteOptions& options) override;
  Result<IngestInfo> ingest(const IngestRequest& request) override;
  Status flush(std::string_view family) override;
  Status compact(std::string_view family) override;
  Status major_compact(std::string_view family) override;
  Result<std::optional<CompactionInfo>> next_compaction(std::string_view family, bool major,
                                                        std::vector<std::string>* trace) override;

 private:
  friend class FileTableScanner;
  // Wanted: a family that a read asks for.
  struct Wanted {
    size_t family = 0;
    FamilyChoice choice;
  };

  explicit FileTable(FileTableOptions options) : options_(std::move(options)) {}
  Status read_only() const;
  Result<bool> read_row(const Get& get, const ScanBudget& budget, RowBatch& batch, int64_t now_ms);
  Clock& clock() const;
  Result<std::vector<Wanted>> resolve(std::span<const FamilyChoice> choices) const;
  // Returns the family's files in a region as a view. The views of the region used last are kept.
  Result<std::shared_ptr<const StoreView>> view_of(size_t region, size_t family);
  // Returns a view for each requested family, in each region that overlaps the range.
  Result<std::vector<std::shared_ptr<const StoreView>>> views_of(const EstimateRequest& request);
  template <class Q>
  Result<StoreReaders> open_readers(size_t region, const Query<Q>& query, const TableRead& read,
                                    int64_t now_ms);

  const FileTableOptions options_;
  std::vector<std::shared_ptr<const FamilyConfig>> configs_;
  Mutex mutex_;
  size_t kept_region_ CELLAR_GUARDED_BY(mutex_) = 0;
  std::vector<std::shared_ptr<const StoreView>> kept_ CELLAR_GUARDED_BY(mutex_);  // null: not opened yet
};

}  // namespace cellar
