// Goal: a rewrite drops what HBase's table of removals says, and nothing that an open snapshot needs.
// Method: text cases (tests/data/cell/compaction_judge*.txt), one for each row of the table and each kind of
// snapshot; each answer must also be the brute-force model's.
#include "cell/compaction_judge.h"

#include <gtest/gtest.h>

#include "tests/cell/judge_cases.h"

namespace cellar::testing {
namespace {

void run(const std::string& file) {
  JudgeCases cases;
  run_cases(file, [&](const Case& c) { return cases.answer(c); });
}

TEST(CompactionJudge, TableOfRemovals) { run("cell/compaction_judge.txt"); }
TEST(CompactionJudge, Snapshots) { run("cell/compaction_judge_snapshots.txt"); }
TEST(CompactionJudge, Resurrections) { run("cell/compaction_judge_resurrections.txt"); }

}  // namespace
}  // namespace cellar::testing
