// Goal: policies pick what their rules say. Method: text cases below tests/data/compaction, worked out by
// hand: runs of files, and the next plan with its reason. Policies that have tests of their own are not here.
#include <gtest/gtest.h>

#include <string>

#include "tests/compaction/policy_cases.h"

namespace cellar::testing {
namespace {

class HandWorked : public ::testing::TestWithParam<const char*> {};

TEST_P(HandWorked, PicksAreAsOnPaper) { run_policy_cases(std::string("compaction/") + GetParam() + ".txt"); }

INSTANTIATE_TEST_SUITE_P(Policies, HandWorked,
                         ::testing::Values("fifo", "ratio", "offpeak", "date_tiered", "stripe", "triggers"),
                         [](const auto& each) { return std::string(each.param); });

}  // namespace
}  // namespace cellar::testing
