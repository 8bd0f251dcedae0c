// Goal: case files are read as their format says, differences are failures at their line.
#include "tests/support/data_driven.h"

#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

namespace cellar::testing {

TEST(DataDriven, RunsCases) {
  int ran = 0;
  run_cases("base/data_driven.txt", [&](const Case& c) -> std::string {
    ++ran;
    if (c.command == "echo") return c.input;
    if (c.command == "blank") return "first\n\nthird";
    if (c.command == "count") return std::to_string(c.lines().size()) + " lines";
    if (c.command != "args") return unknown(c);
    std::string words;
    for (const std::string& word : c.words()) words += " " + word;
    return "args: [" + c.args + "]\nwords:" + words + "\nkey: " + c.value("key").value_or("none") +
           "\nn: " + std::to_string(c.count("n", 0)) + "\nhas a: " + (c.has("a") ? "yes" : "no") +
           "\nhas key: " + (c.has("key") ? "yes" : "no");
  });
  EXPECT_EQ(ran, 6);
}

TEST(DataDriven, ADifferenceIsAFailure) {
  ::testing::TestPartResultArray failures;
  {
    const ::testing::ScopedFakeTestPartResultReporter reporter(
        ::testing::ScopedFakeTestPartResultReporter::INTERCEPT_ONLY_CURRENT_THREAD, &failures);
    run_cases("base/data_driven.txt", [&](const Case& c) { return c.command == "echo" ? c.input : "wrong"; });
  }
  ASSERT_EQ(failures.size(), 4);
  EXPECT_EQ(failures.GetTestPartResult(0).line_number(), 13);
  EXPECT_NE(std::string(failures.GetTestPartResult(0).message()).find("answered:\nwrong\n"),
            std::string::npos);
  EXPECT_NONFATAL_FAILURE(run_cases("base/missing.txt", [](const Case&) { return ""; }), "cannot read");
}

TEST(DataDriven, SplitsLines) {
  EXPECT_EQ(split_lines(""), std::vector<std::string>{});
  EXPECT_EQ(split_lines("a\n\nb"), (std::vector<std::string>{"a", "", "b"}));
  EXPECT_EQ(split_lines("a\n"), std::vector<std::string>{"a"});
}

}  // namespace cellar::testing
