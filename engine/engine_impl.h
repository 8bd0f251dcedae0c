// EngineImpl: implements Engine over the shared parts: opens, schema changes, closes.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/engine_parts.h"

namespace cellar {

class EngineImpl final : public Engine {
 public:
  explicit EngineImpl(std::shared_ptr<EngineParts> parts) : parts_(std::move(parts)) {}
  ~EngineImpl() override;

  Result<std::shared_ptr<Table>> create_table(const std::string& name, const TableOptions& options) override;
  Result<std::shared_ptr<Table>> open_table(const std::string& name) override;
  Result<std::shared_ptr<Table>> open_or_create_table(const std::string& name,
                                                      const TableOptions& options) override;
  std::vector<std::string> list_tables() override;
  Status drop_table(const std::string& name) override;
  Status truncate_table(const std::string& name) override;
  Status alter_table(const std::string& name, const TableChange& change) override;
  Status alter_family(const std::string& table, const FamilyOptions& family) override;
  Status add_observer(const std::string& table, const std::string& name,
                      std::shared_ptr<Observer> observer) override;
  Status write(const Batch& batch, const WriteOptions& options) override;
  Result<std::shared_ptr<const Snapshot>> snapshot() override;
  Result<NamedSnapshotInfo> create_snapshot(const std::string& name,
                                            const std::vector<std::string>& tables) override;
  Result<std::vector<NamedSnapshotInfo>> list_snapshots() override;
  Status drop_snapshot(const std::string& name) override;
  Result<std::unique_ptr<Engine>> open_snapshot(const std::string& name) override;
  Status restore_snapshot(const std::string& name, const std::vector<std::string>& tables) override;
  Result<std::shared_ptr<Table>> clone_snapshot(const std::string& name, const std::string& from,
                                                const std::string& table) override;
  Result<CheckpointInfo> checkpoint(const std::string& path) override;
  Result<std::unique_ptr<Transaction>> begin(const TransactionOptions& options) override;
  Status run_transaction(const RunOptions& options, const std::function<Status(Transaction&)>& work) override;
  Status create_feed(const std::string& name, const FeedOptions& options) override;
  std::vector<FeedInfo> list_feeds() override;
  Status drop_feed(const std::string& name) override;
  Result<std::unique_ptr<FeedReader>> read_feed(const std::string& name,
                                                std::optional<uint64_t> from) override;
  Status flush() override;
  Status resume() override;
  Status wait_for_background() override;
  EngineStatus status() override;
  const RecoveryReport& recovery_report() const override { return parts_->recovery; }
  Status close() override;

 private:
  Status check_writable() const;
  Status create_now(const std::string& name, const TableOptions& options);
  Status drop_now(const std::string& name);
  Status truncate_now(const std::string& name);
  Status finish();

  const std::shared_ptr<EngineParts> parts_;
  std::atomic<uint64_t> pauses_{0};  // of transactions that are tried again: seeds
  Status closed_with_;
};

}  // namespace cellar
