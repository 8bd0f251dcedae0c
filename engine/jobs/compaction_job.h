// CompactionJob: the recipe of a compaction: some files become one, and what nobody can see any more is gone.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cellar/compaction_policy.h"
#include "engine/jobs/store_work.h"

namespace cellar {

// The store as policies see it.
struct ShapeOfStore {
  std::vector<StoreFileInfo> files;
  StoreShape shape;  // points into `files`
};
// Cells that expired before `erase_ms` may be erased.
ShapeOfStore shape_of(const EngineOptions& engine, const Store& store, const StoreView& view, int64_t now_ms,
                      int64_t erase_ms);
// Sets the time of the shape of a family's store.
void set_times(StoreShape& shape, const FamilyRules& rules, int64_t now_ms, int64_t erase_ms);

// The files of one or more runs of a view that a compaction replaces.
struct CompactionInputs {
  std::vector<std::vector<std::shared_ptr<StoreFile>>> runs;  // the oldest first
  std::vector<std::shared_ptr<StoreFile>> files;              // of all runs, in this order
  int64_t whole_runs = 0;  // of which nothing is left, without the output's
  bool all_files = false;  // of the view
  // No file of an older run than the output's has rows between the first and the last row of the inputs.
  bool nothing_older = false;
};

// The name of the trouble that a file is damaged and left out of compactions.
std::string set_aside_name(const StoreFile& file);

// ClaimedCompaction: the inputs of a plan. They are busy until it is released or destroyed.
class ClaimedCompaction {
 public:
  // Claims the inputs of a checked plan, under Store::plan_mutex(). Nothing if they have to wait for a
  // compaction that runs.
  static std::optional<ClaimedCompaction> claim(Store& store, const CompactionPlan& plan)
      CELLAR_REQUIRES(store.plan_mutex());
  ClaimedCompaction(ClaimedCompaction&& other) noexcept
      : store_(other.store_),
        inputs_(std::move(other.inputs_)),
        config_(std::move(other.config_)),
        number_(std::exchange(other.number_, 0)) {}
  ClaimedCompaction& operator=(ClaimedCompaction&& other) noexcept {
    std::swap(store_, other.store_);
    std::swap(inputs_, other.inputs_);
    std::swap(config_, other.config_);
    std::swap(number_, other.number_);
    return *this;
  }
  ~ClaimedCompaction() { release(); }
  // The inputs may be claimed again. They stay alive.
  void release();

  const CompactionInputs& inputs() const { return inputs_; }
  const std::shared_ptr<const FamilyConfig>& config() const { return config_; }

 private:
  ClaimedCompaction(Store& store, CompactionInputs inputs, std::shared_ptr<const FamilyConfig> config,
                    uint64_t number)
      : store_(&store), inputs_(std::move(inputs)), config_(std::move(config)), number_(number) {}

  Store* store_;
  CompactionInputs inputs_;
  std::shared_ptr<const FamilyConfig> config_;
  uint64_t number_;  // of Store::compaction_begins(); 0: released
};

// Runs a checked plan whose inputs are claimed: kAborted when the engine closes meanwhile. A damaged input is
// set aside. Calls `turn` at each checkpoint: it may run other compactions of the store on this thread.
Status compact_store(const StoreWork& work, Store& store, const CompactionPlan& plan,
                     ClaimedCompaction claimed, const std::function<void()>& turn);

}  // namespace cellar
