// Goal: the policy "leveled" sends down the files that its rules say. Method:
// tests/data/compaction/leveled.txt: runs of files, and the next plan, worked out by hand.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <sstream>

#include "base/plugins.h"
#include "compaction/plan.h"
#include "tests/support/data_driven.h"

namespace cellar::testing {
namespace {

// "a-c:100" with rows, bytes, and perhaps "b" for a busy file, "d5" for five markers among ten cells, or "s7"
// for the newest sequence.
StoreFileInfo file_of(const std::string& word) {
  StoreFileInfo file;
  const size_t dash = word.find('-');
  const size_t colon = word.find(':');
  file.first_row = word.substr(0, dash);
  file.last_row = word.substr(dash + 1, colon - dash - 1);
  size_t end = 0;
  file.bytes = std::stoull(word.substr(colon + 1), &end);
  file.cells = 10;
  for (std::string rest = word.substr(colon + 1 + end); !rest.empty(); rest = rest.substr(end)) {
    end = 1;
    if (rest[0] == 'b') file.busy = true;
    if (rest[0] == 'd' || rest[0] == 's') {
      size_t digits = 0;
      const uint64_t number = std::stoull(rest.substr(1), &digits);
      (rest[0] == 'd' ? file.deletes : file.sequence_max) = number;
      end += digits;
    }
  }
  return file;
}

// One run a line, the oldest first: "2 a-c:100 d-f:100" is one of level 2. Files are numbered from 1 on.
std::vector<StoreFileInfo> files_of(const std::string& input) {
  std::vector<StoreFileInfo> files;
  std::istringstream lines(input);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    uint32_t level = 0;
    words >> level;
    const uint64_t run = level != 0 ? files.size() + 1 : 0;
    for (std::string word; words >> word;) {
      StoreFileInfo& file = files.emplace_back(file_of(word));
      file.id = files.size();
      file.level = level;
      file.run = run;
    }
  }
  return files;
}

std::string text_of(const CompactionPlan& plan) {
  std::string text =
      fmt::format("{} {} to {} of level {}", plan.move ? "move" : "merge", fmt::join(plan.inputs, " "),
                  plan.run == 0 ? "a new run" : fmt::format("run {}", plan.run), plan.level);
  if (plan.file_bytes != 0) text += fmt::format(", files of {}", plan.file_bytes);
  if (!plan.file_starts.empty()) text += fmt::format(", files start at {}", fmt::join(plan.file_starts, " "));
  return text;
}

std::string pick(const Case& c) {
  const auto policy = Registry<CompactionPolicy>::instance().make(c.args.substr(c.args.find("leveled")));
  if (!policy.ok()) return policy.status().to_text();
  const std::vector<StoreFileInfo> files = files_of(c.input);
  StoreShape shape{.files = files};
  shape.flush_bytes = c.count("flush", 10);
  shape.files_stop = static_cast<uint32_t>(c.count("stop", 100));
  std::vector<std::string> trace;
  const auto plan = (*policy)->pick(shape, &trace);
  EXPECT_FALSE(trace.empty() && !plan) << "the policy does not explain why it has no plan";
  if (!plan) return "nothing";
  const Status checked = check_plan(*plan, shape, false);
  EXPECT_TRUE(checked.ok()) << c.input << "\n" << checked.to_text();
  return text_of(*plan) + "\n" + plan->why;
}

TEST(Leveled, PicksWhatIsWorkedOutByHand) {
  register_compaction_plugins();
  run_cases("compaction/leveled.txt",
            [](const Case& c) { return c.command == "pick" ? pick(c) : unknown(c); });
}

TEST(Leveled, AMajorCompactionFillsTheDeepestLevelThatItNeeds) {
  register_compaction_plugins();
  const auto policy = Registry<CompactionPolicy>::instance().make("leveled(fanout=10, base_bytes=100)");
  ASSERT_TRUE(policy.ok());
  std::vector<StoreFileInfo> files = files_of("0 a-c:60");
  EXPECT_EQ((*policy)->major_output({.files = files, .flush_bytes = 10}).level, 1u);
  files[0].bytes = 101;
  EXPECT_EQ((*policy)->major_output({.files = files, .flush_bytes = 10}).level, 2u);
  EXPECT_EQ((*policy)->major_output({.files = files, .flush_bytes = 10}).file_bytes, 10u);
  files[0].level = 4;
  EXPECT_EQ((*policy)->major_output({.files = files, .flush_bytes = 10}).level, 2u)
      << "a smaller store needs fewer levels";
}

// Level 0 may have 20 bytes, level 1 a tenth of the 300 bytes below it. The deepest level has no debt.
TEST(Leveled, DebtIsWhatTheUpperLevelsHaveTooMuch) {
  register_compaction_plugins();
  const auto debt = [](const std::string& parameters, const std::string& input) {
    const auto policy = Registry<CompactionPolicy>::instance().make("leveled(runs_min=2" + parameters + ")");
    EXPECT_TRUE(policy.ok());
    const std::vector<StoreFileInfo> files = files_of(input);
    return (*policy)->debt_bytes({.files = files, .flush_bytes = 10});
  };
  const std::string deep = "2 a-c:100 d-f:200\n1 a-c:20 d-f:25\n";
  EXPECT_EQ(debt("", "0 a-c:10\n0 a-c:10"), 0u);
  EXPECT_EQ(debt("", "0 a-c:10\n0 a-c:10\n0 a-c:7"), 7u);
  EXPECT_EQ(debt("", "1 a-c:1000"), 0u);
  EXPECT_EQ(debt("", deep), 15u);
  EXPECT_EQ(debt("", deep + "0 a-c:10\n0 a-c:10\n0 a-c:7"), 22u);
  EXPECT_EQ(debt(", targets=fixed", deep), 5u) << "level 1 may have four memtables";
}

}  // namespace
}  // namespace cellar::testing
