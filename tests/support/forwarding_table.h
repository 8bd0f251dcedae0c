// ForwardingTable: a table that lets another one do everything. Tests override what they look at.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cellar/table.h"

namespace cellar::testing {

class ForwardingTable : public Table {
 public:
  explicit ForwardingTable(std::shared_ptr<Table> inner) : inner_(std::move(inner)) {}

  const std::string& name() const override { return inner_->name(); }
  TableInfo info() const override { return inner_->info(); }
  Status put(const Put& put, const WriteOptions& options) override { return inner_->put(put, options); }
  Status erase(const Delete& erase, const WriteOptions& options) override {
    return inner_->erase(erase, options);
  }
  Result<std::vector<int64_t>> increment(const Increment& increment, const WriteOptions& options) override {
    return inner_->increment(increment, options);
  }
  Result<Row> append(const Append& append, const WriteOptions& options) override {
    return inner_->append(append, options);
  }
  Result<Row> mutate(const RowMutations& mutations, const WriteOptions& options) override {
    return inner_->mutate(mutations, options);
  }
  Result<ActionResult> check_and_mutate(const CheckAndMutate& check, const WriteOptions& options) override {
    return inner_->check_and_mutate(check, options);
  }
  std::vector<Result<ActionResult>> batch(std::span<const Action> actions,
                                          const WriteOptions& options) override {
    return inner_->batch(actions, options);
  }
  Result<RowBatch> get(const Get& get) override { return inner_->get(get); }
  Status get_into(const Get& get, RowBatch& batch) override { return inner_->get_into(get, batch); }
  Result<bool> exists(const Get& get) override { return inner_->exists(get); }
  Result<std::vector<bool>> exists_many(std::span<const Get> gets) override {
    return inner_->exists_many(gets);
  }
  Result<std::vector<RowBatch>> get_many(std::span<const Get> gets) override {
    return inner_->get_many(gets);
  }
  Result<std::unique_ptr<Scanner>> scan(const Scan& scan) override { return inner_->scan(scan); }
  Result<std::vector<std::unique_ptr<Scanner>>> scan_many(std::span<const Scan> scans) override {
    return inner_->scan_many(scans);
  }
  Result<RangeEstimate> estimate(const KeyRange& range, const std::vector<std::string>& families) override {
    return inner_->estimate(range, families);
  }
  Result<RangeSplits> split_points(size_t parts, const KeyRange& range,
                                   const std::vector<std::string>& families) override {
    return inner_->split_points(parts, range, families);
  }
  Result<std::vector<std::string>> region_starts() override { return inner_->region_starts(); }
  Result<IngestInfo> ingest(const IngestRequest& request) override { return inner_->ingest(request); }
  Status flush(std::string_view family) override { return inner_->flush(family); }
  Status compact(std::string_view family) override { return inner_->compact(family); }
  Result<std::optional<CompactionInfo>> next_compaction(std::string_view family, bool major,
                                                        std::vector<std::string>* trace) override {
    return inner_->next_compaction(family, major, trace);
  }
  Status major_compact(std::string_view family) override { return inner_->major_compact(family); }

 private:
  const std::shared_ptr<Table> inner_;
};

}  // namespace cellar::testing
