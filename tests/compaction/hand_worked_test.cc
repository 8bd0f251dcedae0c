// Goal: policies pick what their rules say. Method: text cases, worked out by hand: runs of files, and the
// next plan with its reason. Every file of tests/data/compaction is run, except one of another form.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/compaction/policy_cases.h"

namespace cellar::testing {
namespace {

std::vector<std::string> all_names() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(CELLAR_TEST_DATA_DIR "/compaction"))
    if (entry.path().extension() == ".txt" && entry.path().stem() != "exploring")
      names.push_back(entry.path().stem().string());
  std::ranges::sort(names);
  return names;
}

class HandWorked : public ::testing::TestWithParam<std::string> {};

TEST_P(HandWorked, PicksAreAsOnPaper) { run_policy_cases("compaction/" + GetParam() + ".txt"); }

INSTANTIATE_TEST_SUITE_P(Policies, HandWorked, ::testing::ValuesIn(all_names()),
                         [](const auto& each) { return each.param; });

}  // namespace
}  // namespace cellar::testing
