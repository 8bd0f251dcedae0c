// Goal: a reader sees what the tables of the data model say, deletes, versions, time and columns alike.
// Method: text cases (tests/data/cell/read_judge*.txt), one for each row of the tables; each answer must also
// be the brute-force model's. differential_test.cc does the same for random histories.
#include <gtest/gtest.h>

#include "tests/cell/judge_cases.h"

namespace cellar::testing {
namespace {

void run(const std::string& file) {
  JudgeCases cases;
  run_cases(file, [&](const Case& c) { return cases.answer(c); });
}

TEST(ReadJudge, Deletes) { run("cell/read_judge_deletes.txt"); }
TEST(ReadJudge, VersionsAndTime) { run("cell/read_judge_versions.txt"); }
TEST(ReadJudge, SequenceOrder) { run("cell/read_judge_sequence.txt"); }
TEST(ReadJudge, ColumnsAndRaw) { run("cell/read_judge_columns.txt"); }
TEST(ReadJudge, TrapsOfTheDataModel) { run("cell/read_judge_traps.txt"); }

}  // namespace
}  // namespace cellar::testing
