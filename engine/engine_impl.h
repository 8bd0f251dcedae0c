// EngineImpl: implements Engine over the shared parts: opens, schema changes, closes.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/engine_metrics.h"
#include "engine/engine_parts.h"

namespace cellar {

class EngineImpl;
struct SecondPair;

// The engine's named snapshots. It checks that the engine is open, and calls the jobs.
class NamedSnapshotsImpl final : public NamedSnapshots {
 public:
  NamedSnapshotsImpl(EngineImpl& engine, EngineParts& parts) : engine_(engine), parts_(parts) {}
  Result<CheckpointInfo> create(const std::string& name, const std::vector<std::string>& tables) override;
  Result<std::vector<CheckpointInfo>> list() override;
  Status drop(const std::string& name) override;
  Result<std::unique_ptr<Engine>> open(const std::string& name) override;
  Status restore(const std::string& name, const std::vector<std::string>& tables) override;
  Result<std::shared_ptr<Table>> clone(const std::string& name, const std::string& from,
                                       const std::string& table) override;

 private:
  EngineImpl& engine_;
  EngineParts& parts_;
};

// The engine's feeds. It checks that the engine is open, and calls the jobs.
class FeedsImpl final : public Feeds {
 public:
  FeedsImpl(EngineImpl& engine, EngineParts& parts) : engine_(engine), parts_(parts) {}
  Status create(const std::string& name, const FeedOptions& options) override;
  std::vector<FeedInfo> list() override;
  Status drop(const std::string& name) override;
  Result<std::unique_ptr<FeedReader>> read(const std::string& name, std::optional<uint64_t> from) override;

 private:
  EngineImpl& engine_;
  EngineParts& parts_;
};

class EngineImpl final : public Engine {
 public:
  explicit EngineImpl(std::shared_ptr<EngineParts> parts) : parts_(std::move(parts)) {}
  ~EngineImpl() override;

  Result<std::shared_ptr<Table>> create_table(const std::string& name, const TableOptions& options,
                                              const std::vector<std::string>& splits) override;
  Result<std::shared_ptr<Table>> open_table(const std::string& name) override;
  Result<std::shared_ptr<Table>> open_or_create_table(const std::string& name,
                                                      const TableOptions& options) override;
  std::vector<std::string> list_tables() override;
  Status drop_table(const std::string& name) override;
  Status truncate_table(const std::string& name) override;
  Status alter_table(const std::string& name, const TableChange& change) override;
  Result<std::shared_ptr<Table>> create_second_table(const std::string& name,
                                                     const SecondTable& second) override;
  Status build_second_table(const std::string& name, const std::function<bool(uint64_t)>& on_way) override;
  Result<SecondTableCheck> verify_second_table(const std::string& name,
                                               const std::function<bool(uint64_t)>& on_way) override;
  Status alter_family(const std::string& table, const FamilyOptions& family) override;
  Status add_observer(const std::string& table, const std::string& name,
                      std::shared_ptr<Observer> observer) override;
  Status write(const Batch& batch, const WriteOptions& options) override;
  Result<std::shared_ptr<const Snapshot>> snapshot() override;
  NamedSnapshots& named_snapshots() override { return named_snapshots_; }
  Feeds& feeds() override { return feeds_; }
  Result<CheckpointInfo> checkpoint(const std::string& path, const std::string& base) override;
  Result<std::unique_ptr<Transaction>> begin(const TransactionOptions& options) override;
  Status run_transaction(const std::function<Status(Transaction&)>& work,
                         const TransactionOptions& options) override;
  Result<int64_t> unique_time_us() override;
  Status flush() override;
  Status start_trace(const std::string& path, const std::string& options) override;
  Status stop_trace() override;
  Status resume() override;
  Status wait_for_background() override;
  EngineStatus status() override;
  Metrics metrics() override;
  const RecoveryReport& recovery_report() const override { return parts_->recovery; }
  Status refresh() override;
  Status close() override;

  Status check_writable() const;
  // Begins the recording that the options name.
  void begin_optional_trace();
  // Begins to write the file of metrics that the options name.
  Status begin_metrics_file();

 private:
  // `second`: the table is a second one.
  Status create_now(const std::string& name, const TableOptions& options,
                    const std::optional<SecondTable>& second = {});
  Result<SecondPair> second_pair(const std::string& name);
  Status drop_now(const std::string& name);
  Status truncate_now(const std::string& name);
  void leave_flushed_log();
  Status finish();
  Status close_now();

  const std::shared_ptr<EngineParts> parts_;
  NamedSnapshotsImpl named_snapshots_{*this, *parts_};
  FeedsImpl feeds_{*this, *parts_};
  std::unique_ptr<MetricsFile> metrics_file_;  // null: the options name none
  std::atomic<uint64_t> pauses_{0};            // of transactions that are tried again: seeds
  Status closed_with_;
};

}  // namespace cellar
