// Goal: every registered compaction policy keeps the rules that all share. Each plan may be carried out,
// plans come to an end, and writers never wait for a compaction that does not begin. For every row the runs
// stay ordered by age. Method: a store of made-up files, each with the oldest and the newest write of its
// rows. The plans after random flushes are carried out on it, and all is checked after each.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "base/bytes.h"
#include "base/plugins.h"
#include "base/random.h"
#include "compaction/plan.h"
#include "engine/manifest/file_order.h"
#include "tests/support/test_scale.h"

namespace cellar::testing {
namespace {

constexpr uint64_t kRowBytes = 10;
constexpr int64_t kTtl = 30;

struct Writes {
  uint64_t oldest = 0;
  uint64_t newest = 0;
};

struct MadeFile {
  uint64_t id = 0;
  uint64_t run = 0;
  uint32_t level = 0;
  std::map<std::string, Writes> rows = {};
  bool major = false;
  uint64_t created = 0;
};

std::string_view row_of(const MadeFile& file) { return file.rows.begin()->first; }

// A store that has no content but the rows of its files.
class MadeStore {
 public:
  explicit MadeStore(uint64_t seed) : random_(seed) {}

  void flush() {
    MadeFile file{.id = next_id_++, .created = next_write_};
    const uint64_t first = random_.below(60);
    const uint64_t width = 1 + random_.below(random_.one_in(3) ? 40 : 8);
    for (uint64_t i = first; i < std::min<uint64_t>(60, first + width); ++i)
      if (i == first || !random_.one_in(4)) file.rows[fmt::format("r{:02}", i)] = {next_write_, next_write_};
    ++next_write_;
    files_.push_back(std::move(file));
  }

  // Returns the shape for a policy. Valid until the next change.
  StoreShape shape() {
    infos_.clear();
    for (const MadeFile& file : files_) {
      StoreFileInfo& info = infos_.emplace_back();
      info.id = file.id;
      info.run = file.run;
      info.level = file.level;
      info.bytes = file.rows.size() * kRowBytes;
      info.cells = file.rows.size();
      info.deletes = random_.below(2) == 0 ? 0 : info.cells / 2;
      info.first_row = file.rows.begin()->first;
      info.last_row = file.rows.rbegin()->first;
      info.major = file.major;
      info.sequence_min = UINT64_MAX;
      for (const auto& [row, writes] : file.rows) {
        info.sequence_max = std::max(info.sequence_max, writes.newest);
        info.sequence_min = std::min(info.sequence_min, writes.oldest);
      }
      info.time_min = static_cast<int64_t>(info.sequence_min);
      info.time_max = static_cast<int64_t>(info.sequence_max);
      info.earliest_put = info.time_min;
      if (info.deletes != 0) info.earliest_delete = info.time_min;
      info.last_read = random_.below(5);
      info.created_ms = static_cast<int64_t>(file.created);
    }
    const auto now = static_cast<int64_t>(next_write_);
    return {.files = infos_,
            .now_ms = now,
            .ttl_ms = kTtl,
            .flush_bytes = 5 * kRowBytes,
            .files_stop = 12,
            .erase_before_ms = now - kTtl};
  }

  void carry_out(const CompactionPlan& plan) {
    std::vector<MadeFile> inputs;
    size_t place = files_.size();
    const bool markers_go = plan.inputs.size() == files_.size() || (plan.level > 0 && !meets_older(plan));
    for (const uint64_t id : plan.inputs) {
      const auto file = std::ranges::find(files_, id, &MadeFile::id);
      ASSERT_NE(file, files_.end());
      inputs.push_back(*file);
      take_out(files_, static_cast<size_t>(file - files_.begin()), place);
    }
    if (plan.drop) return;
    const uint64_t run = plan.run != 0 ? plan.run : next_id_++;
    for (MadeFile& file : plan.move ? inputs : merged(inputs, plan, markers_go)) {
      file.run = plan.level != 0 || plan.file_bytes != 0 ? run : 0;
      file.level = plan.level;
      insert_file(files_, std::move(file), place, row_of);
    }
  }

  // Returns what is wrong, or nothing.
  std::string fault() const {
    std::map<std::string, uint64_t> newest;
    for (size_t i = 0; i < files_.size(); ++i) {
      const MadeFile& file = files_[i];
      if (i > 0 && file.run != 0 && files_[i - 1].run == file.run &&
          files_[i - 1].rows.rbegin()->first >= file.rows.begin()->first)
        return fmt::format("files {} and {} of a run share rows", files_[i - 1].id, file.id);
      for (const auto& [row, writes] : file.rows) {
        if (newest.contains(row) && newest[row] >= writes.oldest)
          return fmt::format("row {} of file {} is older than that of an older run", row, file.id);
        newest[row] = writes.newest;
      }
    }
    return {};
  }

  size_t runs() { return runs_of(shape().files).size(); }

 private:
  // Returns whether a file that is no input, of a run older than the output, has rows between those of the
  // inputs.
  bool meets_older(const CompactionPlan& plan) const {
    const auto is_input = [&](const MadeFile& file) {
      return std::ranges::find(plan.inputs, file.id) != plan.inputs.end();
    };
    std::string first = "~";
    std::string last;
    for (const MadeFile& file : files_) {
      if (!is_input(file)) continue;
      first = std::min(first, file.rows.begin()->first);
      last = std::max(last, file.rows.rbegin()->first);
    }
    for (const MadeFile& file : files_) {
      if (plan.run != 0 ? file.run == plan.run : is_input(file)) return false;
      if (!is_input(file) && file.rows.begin()->first <= last && file.rows.rbegin()->first >= first)
        return true;
    }
    return false;
  }

  std::vector<MadeFile> merged(const std::vector<MadeFile>& inputs, const CompactionPlan& output,
                               bool markers_go) {
    std::map<std::string, Writes> rows;
    for (const MadeFile& file : inputs)
      for (const auto& [row, writes] : file.rows) {
        const auto [known, first] = rows.emplace(row, writes);
        if (first) continue;
        known->second.oldest = std::min(known->second.oldest, writes.oldest);
        known->second.newest = std::max(known->second.newest, writes.newest);
      }
    std::vector<MadeFile> files;
    for (const auto& [row, writes] : rows) {
      const auto starts = std::ranges::upper_bound(output.file_starts, row) - output.file_starts.begin();
      const bool full = !files.empty() && output.file_bytes != 0 &&
                        files.back().rows.size() * kRowBytes >= output.file_bytes;
      if (files.empty() || full || starts != starts_)
        files.push_back({.id = next_id_++, .major = markers_go, .created = next_write_});
      starts_ = starts;
      files.back().rows[row] = writes;
    }
    return files;
  }

  Random random_;
  uint64_t next_id_ = 1;
  uint64_t next_write_ = 1;
  std::ptrdiff_t starts_ = 0;
  std::vector<MadeFile> files_;
  std::vector<StoreFileInfo> infos_;
};

// Parameters that make much happen in few files, in addition to the default ones.
std::vector<std::string> variants_of(const std::string& name) {
  if (name == "exploring")
    return {name, "exploring(files_min=2, files_max=3)", "exploring(tombstones=0.2, expired=0.3)"};
  if (name == "ratio")
    return {name, "ratio(files_min=2, files_max=3)", "ratio(ratio=0.5, tombstones=0.1, expired=0.9)"};
  if (name == "date_tiered")
    return {name, "date_tiered(window=3ms, windows_per_tier=2, incoming_files_min=2, files_min=2)",
            "date_tiered(window=10ms, age_max=40ms, expired=0.2, tombstones=0.3)"};
  if (name == "stripe")
    return {name, "stripe(split_bytes=80, level0_files_min=2, files_min=2)",
            "stripe(stripes=3, split_bytes=120, split_count=3, level0_files_min=3)"};
  if (name == "fifo") return {name, "fifo(bytes_max=200)"};
  if (name == "leveled")
    return {name,
            "leveled(fanout=2, base_bytes=100, file_bytes=50, runs_min=2)",
            "leveled(fanout=3, base_bytes=60, file_bytes=20, runs_min=1, pick=oldest)",
            "leveled(fanout=2, base_bytes=50, file_bytes=30, runs_min=3, pick=tombstones)",
            "leveled(fanout=2, base_bytes=80, file_bytes=40, runs_min=2, pick=whole)",
            "leveled(fanout=2, base_bytes=50, file_bytes=20, runs_min=2, pick=round_robin)",
            "leveled(fanout=2, base_bytes=50, file_bytes=20, pick=least_overlap_grandparent)",
            "leveled(fanout=2, base_bytes=60, file_bytes=30, targets=fixed, pick=oldest_write)",
            "leveled(fanout=2, base_bytes=60, file_bytes=20, runs_min=1, pick=coldest)",
            "leveled(fanout=2, base_bytes=60, file_bytes=20, runs_min=2, pick=tombstones, tombstones=0.3)",
            "leveled(fanout=3, base_bytes=60, file_bytes=20, pick=tombstone_age, tombstone_age=9ms)"};
  if (name == "tiered")
    return {name, "tiered(runs=2, file_bytes=20)", "tiered(runs=3, file_bytes=50, space_max=100)"};
  if (name == "lazy_leveled")
    return {name, "lazy_leveled(runs=2, file_bytes=20)", "lazy_leveled(runs=3, file_bytes=30)"};
  if (name == "unified")
    return {name, "unified(scaling=N, base_bytes=20, file_bytes=20)", "unified(scaling=L3, file_bytes=30)",
            "unified(scaling=T3,N,L10, base_bytes=20, file_bytes=40)"};
  return {name};
}

// Policies that merge nothing, or nothing of different periods. Writers do not wait for them.
bool lets_runs_grow(const std::string& name) {
  return name == "none" || name == "fifo" || name == "date_tiered";
}

// Lets the policy make plans until it has none.
void settle(const CompactionPolicy& policy, MadeStore& store, const std::string& text, uint64_t& plans) {
  for (int i = 0;; ++i) {
    ASSERT_LT(i, 1000) << text << " makes plans without an end";
    const StoreShape shape = store.shape();
    std::vector<std::string> trace;
    const auto plan = policy.pick(shape, &trace);
    const auto told = [&] {  // for the author of a policy
      std::string all = text + ", why: " + (plan ? plan->why : "") + "\n";
      for (const std::string& line : trace) all += "  " + line + "\n";
      for (const StoreFileInfo& file : shape.files)
        all += fmt::format("  file {}: run {}, level {}, {} bytes, rows {} to {}{}\n", file.id, file.run,
                           file.level, file.bytes, escaped(file.first_row), escaped(file.last_row),
                           file.busy ? ", busy" : "");
      return all;
    };
    if (!plan) return;
    ASSERT_FALSE(plan->why.empty()) << told();
    const Status checked = check_plan(*plan, shape, plan->inputs.size() == shape.files.size());
    ASSERT_TRUE(checked.ok()) << checked.to_text() << "\n" << told();
    store.carry_out(*plan);
    ASSERT_EQ(store.fault(), "") << told();
    ++plans;
  }
}

std::vector<std::string> names_of_policies() {
  register_compaction_plugins();
  return Registry<CompactionPolicy>::instance().names();
}

class AllPolicies : public ::testing::TestWithParam<std::string> {};

INSTANTIATE_TEST_SUITE_P(Each, AllPolicies, ::testing::ValuesIn(names_of_policies()),
                         [](const auto& each) { return each.param; });

TEST_P(AllPolicies, MakeValidPlansThatEndAndLetWritersGoOn) {
  uint64_t plans = 0;
  const uint64_t seeds = std::max<uint64_t>(4, scaled(40));
  for (const std::string& text : variants_of(GetParam())) {
    const auto policy = Registry<CompactionPolicy>::instance().make(text);
    ASSERT_TRUE(policy.ok()) << text << ": " << policy.status().to_text();
    for (uint64_t seed = 1; seed <= seeds; ++seed) {
      MadeStore store(seed);
      for (int flushes = 0; flushes < 60; ++flushes) {
        store.flush();
        settle(**policy, store, text, plans);
        if (HasFatalFailure()) return;
        if (!lets_runs_grow(GetParam())) {
          ASSERT_LT(store.runs(), store.shape().files_stop) << text << ", seed " << seed;
        }
      }
      if (const auto major = major_plan(**policy, store.shape(), true)) {
        ASSERT_TRUE(check_plan(*major, store.shape(), true).ok()) << text;
        store.carry_out(*major);
        ASSERT_EQ(store.fault(), "") << text;
        ASSERT_EQ(store.runs(), 1u) << text << ": a major compaction leaves one run";
        settle(**policy, store, text, plans);
      }
    }
  }
  if (!lets_runs_grow(GetParam())) {
    EXPECT_GT(plans, 10 * seeds);
  }
  count(plans, "plans of compaction policies carried out on made-up stores");
}

// A family may change its policy: each must cope with what another one has left.
TEST(PoliciesInTurn, GoOnFromWhatOthersLeft) {
  std::vector<std::pair<std::string, std::unique_ptr<CompactionPolicy>>> policies;
  for (const std::string& name : names_of_policies())
    for (const std::string& text : variants_of(name)) {
      auto made = Registry<CompactionPolicy>::instance().make(text);
      ASSERT_TRUE(made.ok());
      policies.emplace_back(text, std::move(*made));
    }
  uint64_t plans = 0;
  for (uint64_t seed = 1; seed <= std::max<uint64_t>(20, scaled(200)); ++seed) {
    MadeStore store(seed);
    Random random(seed);
    for (int change = 0; change < 10; ++change) {
      const auto& [text, policy] = policies[random.below(policies.size())];
      for (uint64_t flushes = random.below(8); flushes > 0; --flushes) {
        store.flush();
        settle(*policy, store, text, plans);
        if (HasFatalFailure()) return;
      }
    }
  }
  EXPECT_GT(plans, 500u);
}

}  // namespace
}  // namespace cellar::testing
