// Goal: a Status says what, where and what to do; contexts pile up in front; ok stays ok.
#include "cellar/status.h"

#include <gtest/gtest.h>

#include <memory>

namespace cellar::testing {

namespace {

Status fails_if(bool wanted) { return wanted ? Status::busy("later") : Status(); }

Status tries(bool first, bool second) {
  CELLAR_TRY(fails_if(first).with_context("first"));
  CELLAR_TRY(fails_if(second).with_context("second"));
  return {};
}

Result<int> parsed(int value) {
  if (value < 0) return Status::invalid_argument("negative");
  return value;
}

Result<int> sum(int a, int b) {
  CELLAR_TRY_ASSIGN(const int first, parsed(a));
  CELLAR_TRY_ASSIGN(const int second, parsed(b));
  return first + second;
}

}  // namespace

TEST(Status, OkIsEmptyAndSmall) {
  const Status ok;
  EXPECT_TRUE(ok.ok());
  EXPECT_EQ(ok.code(), Code::kOk);
  EXPECT_EQ(ok.message(), "");
  EXPECT_EQ(ok.place(), "");
  EXPECT_EQ(ok.hint(), "");
  EXPECT_EQ(ok.to_text(), "ok");
  EXPECT_TRUE(ok.with_context("x").ok());
  EXPECT_TRUE(ok.at("x").ok());
  EXPECT_TRUE(ok.hinting("x").ok());
  EXPECT_LE(sizeof(Status), 2 * sizeof(void*));
}

TEST(Status, EachMakerHasItsCodeAndName) {
  const std::pair<Status, std::string_view> all[] = {
      {Status::not_found("m"), "not_found"},
      {Status::invalid_argument("m"), "invalid_argument"},
      {Status::corruption("m"), "corruption"},
      {Status::io_error("m"), "io_error"},
      {Status::no_space("m"), "no_space"},
      {Status::locked("m"), "locked"},
      {Status::read_only("m"), "read_only"},
      {Status::busy("m"), "busy"},
      {Status::aborted("m"), "aborted"},
      {Status::limit("m"), "limit"},
      {Status::not_supported("m"), "not_supported"},
      {Status::durability_unknown("m"), "durability_unknown"},
      {Status::conflict("m"), "conflict"},
  };
  int code = 0;
  for (const auto& [status, name] : all) {
    ++code;
    EXPECT_EQ(static_cast<int>(status.code()), code);
    EXPECT_EQ(code_name(status.code()), name);
    EXPECT_EQ(status.to_text(), std::string(name) + ": m");
  }
  EXPECT_EQ(code_name(Code::kOk), "ok");
}

TEST(Status, ContextsStandOutermostFirst) {
  const Status inner = Status::corruption("checksum differs").at("offset 4096");
  const Status outer =
      inner.with_context("file 7").at("elsewhere").hinting("run verify").with_context("table t");
  EXPECT_EQ(outer.message(), "table t: file 7: checksum differs");
  EXPECT_EQ(outer.place(), "offset 4096") << "the innermost place is the right one";
  EXPECT_EQ(outer.hint(), "run verify");
  EXPECT_EQ(outer.hinting("other").hint(), "run verify");
  EXPECT_EQ(outer.to_text(),
            "corruption: table t: file 7: checksum differs; at offset 4096; hint: run verify");
  EXPECT_EQ(inner.message(), "checksum differs") << "the original is untouched";
}

TEST(Status, TryReturnsTheFirstFailure) {
  EXPECT_TRUE(tries(false, false).ok());
  EXPECT_EQ(tries(true, true).message(), "first: later");
  EXPECT_EQ(tries(false, true).message(), "second: later");
}

TEST(Result, HoldsAValueOrAStatus) {
  EXPECT_EQ(sum(1, 2).value(), 3);
  EXPECT_EQ(sum(1, -2).status().message(), "negative");
  EXPECT_EQ(sum(-1, 2).value_or(9), 9);
  EXPECT_EQ(sum(4, 2).value_or(9), 6);
  EXPECT_TRUE(sum(1, 2).status().ok());
}

// A function that returns a Result of an optional returns std::nullopt for nothing. That is no failure.
TEST(Result, HoldsAnOptionalOfNothing) {
  const auto find = [](bool found) -> Result<std::optional<int>> {
    if (found) return 7;
    return std::nullopt;
  };
  EXPECT_EQ(find(true).value(), 7);
  ASSERT_TRUE(find(false).ok());
  EXPECT_EQ(find(false).value(), std::nullopt);
}

TEST(Result, MovesWhatCannotBeCopied) {
  Result<std::unique_ptr<int>> made = std::make_unique<int>(7);
  ASSERT_TRUE(made.ok());
  EXPECT_EQ(**made, 7);
  const std::unique_ptr<int> taken = std::move(made).value();
  EXPECT_EQ(*taken, 7);
}

TEST(ResultDeathTest, ValueOfAFailureEndsTheProcess) {
  const Result<int> failed = Status::busy("later");
  EXPECT_DEATH((void)failed.value(), "busy: later");
  EXPECT_DEATH((void)Result<int>(Status()), "on a Result that holds an error");
}

}  // namespace cellar::testing
