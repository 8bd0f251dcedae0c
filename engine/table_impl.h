// TableImpl: implements Table by handing work to the parts below.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/engine_parts.h"
#include "engine/store/table_state.h"

namespace cellar {

class TableImpl final : public TableState {
 public:
  TableImpl(std::shared_ptr<EngineParts> parts, uint32_t id, std::string name, TableOptions options,
            std::vector<std::shared_ptr<Store>> stores)
      : TableState(parts->shared(parts->host), id, std::move(name), std::move(options), std::move(stores)),
        parts_(std::move(parts)) {}

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
  Result<IngestInfo> ingest(const IngestRequest& request) override;
  Status flush(std::string_view family) override;
  Status compact(std::string_view family) override { return compact_now(family, false); }
  Status major_compact(std::string_view family) override { return compact_now(family, true); }
  Result<std::optional<CompactionInfo>> next_compaction(std::string_view family, bool major,
                                                        std::vector<std::string>* trace) override;

 private:
  std::vector<Result<ActionResult>> run_batch(std::span<const Action> actions, const WriteOptions& options);
  Status compact_now(std::string_view family, bool major);
  const std::shared_ptr<EngineParts> parts_;
};

}  // namespace cellar
