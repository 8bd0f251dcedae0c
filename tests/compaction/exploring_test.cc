// Goal: the policy "exploring" picks what HBase's selection does. Method:
// tests/data/compaction/exploring.txt: sizes of files, and which of them are picked, worked out by hand.
#include <gtest/gtest.h>

#include <sstream>

#include "base/plugins.h"
#include "compaction/plan.h"
#include "tests/support/data_driven.h"

namespace cellar::testing {
namespace {

std::vector<StoreFileInfo> files_of_sizes(const std::string& sizes) {
  std::vector<StoreFileInfo> files;
  std::istringstream words(sizes);
  for (std::string word; words >> word;) {
    StoreFileInfo& file = files.emplace_back();
    file.id = files.size();
    file.bytes = std::stoull(word);
    file.busy = word.ends_with('b');
  }
  return files;
}

std::string pick(const Case& c) {
  const auto policy = Registry<CompactionPolicy>::instance().make(c.args.substr(c.args.find("exploring")));
  if (!policy.ok()) return policy.status().to_text();
  const std::vector<StoreFileInfo> files = files_of_sizes(c.input);
  StoreShape shape{.files = files};
  shape.flush_bytes = c.count("flush", 1);
  shape.files_stop = static_cast<uint32_t>(c.count("stop", 100));
  const std::optional<CompactionPlan> plan = (*policy)->pick(shape, nullptr);
  if (!plan) return "nothing";
  EXPECT_TRUE(check_plan(*plan, shape, false).ok());
  return "files " + std::to_string(plan->inputs.front()) + " to " + std::to_string(plan->inputs.back());
}

TEST(Exploring, PicksWhatIsWorkedOutByHand) {
  register_compaction_plugins();
  run_cases("compaction/exploring.txt",
            [](const Case& c) { return c.command == "pick" ? pick(c) : unknown(c); });
}

}  // namespace
}  // namespace cellar::testing
