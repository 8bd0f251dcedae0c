// Goal: a reader sees what the tables of the data model say, deletes, versions, time and columns alike.
// Method: text cases (tests/data/cell/read_judge*.txt), one for each row of the tables. The brute-force model
// must give each answer, too. differential_test.cc does the same for random histories.
#include <gtest/gtest.h>

#include "tests/cell/judge_cases.h"

namespace cellar::testing {
namespace {

void judge_file(const std::string& file) {
  JudgeCases cases;
  run_cases(file, [&](const Case& c) { return cases.answer(c); });
}

TEST(ReadJudge, Deletes) { judge_file("cell/read_judge_deletes.txt"); }
TEST(ReadJudge, VersionsAndTime) { judge_file("cell/read_judge_versions.txt"); }
TEST(ReadJudge, SequenceOrder) { judge_file("cell/read_judge_sequence.txt"); }
TEST(ReadJudge, ColumnsAndRaw) { judge_file("cell/read_judge_columns.txt"); }
TEST(ReadJudge, TrapsOfTheDataModel) { judge_file("cell/read_judge_traps.txt"); }

}  // namespace
}  // namespace cellar::testing
