// ClusterTable: a table of a cluster, as Table.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "cellar/table.h"
#include "hbase/client/cluster.h"

namespace cellar::hbase {

class ClusterTable final : public Table {
 public:
  ClusterTable(std::shared_ptr<Cluster> cluster, std::string name, TableOptions options)
      : cluster_(std::move(cluster)), name_(std::move(name)), options_(std::move(options)) {}

  const std::string& name() const override { return name_; }
  bool is_of(const Cluster& cluster) const { return cluster_.get() == &cluster; }
  // Asks the master for the options. If it does not answer, the options are those of the last answer.
  TableInfo info() const override;

  Status put(const Put& put, const WriteOptions& options) override;
  Status erase(const Delete& erase, const WriteOptions& options) override;
  Result<std::vector<int64_t>> increment(const Increment& increment, const WriteOptions& options) override;
  Result<Row> append(const Append& append, const WriteOptions& options) override;
  Result<Row> mutate(const RowMutations& mutations, const WriteOptions& options) override;
  Result<ActionResult> check_and_mutate(const CheckAndMutate& check, const WriteOptions& options) override;
  std::vector<Result<ActionResult>> batch(std::span<const Action> actions,
                                          const WriteOptions& options) override;

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

  Result<std::vector<std::string>> region_starts() override;

  Result<IngestInfo> ingest(const IngestRequest& request) override;
  Status flush(std::string_view family) override;
  Status compact(std::string_view family) override { return compact_regions(family, false); }
  Result<std::optional<CompactionInfo>> next_compaction(std::string_view family, bool major,
                                                        std::vector<std::string>* trace) override;
  Status major_compact(std::string_view family) override { return compact_regions(family, true); }

 private:
  friend class TableBatch;
  std::vector<std::string> family_names() const;
  // Replaces the failure of a server that does not know a family by one that names the nearest.
  Status explained(const Status& status, const std::vector<std::string>& families) const;
  Status check_family(std::string_view family) const;
  Status compact_regions(std::string_view family, bool major);

  const std::shared_ptr<Cluster> cluster_;
  const std::string name_;
  mutable Mutex mutex_;
  mutable TableOptions options_ CELLAR_GUARDED_BY(mutex_);
};

}  // namespace cellar::hbase
