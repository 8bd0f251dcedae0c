// Goal: a plan that would change the age of cells is refused before a byte is read. A compaction whose plans
// come to no end is ended. The error tells the author of the policy which plan it was. Method: a policy that
// passes over a file, and one that takes the same file for ever.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cellar/compaction_policy.h"
#include "tests/engine/engine_fixture.h"

namespace cellar::testing {
namespace {

using ::testing::HasSubstr;

// Merges the oldest and the newest of three files.
class PassesOver final : public CompactionPolicy {
 public:
  std::optional<CompactionPlan> pick(const StoreShape& shape, std::vector<std::string>*) const override {
    if (shape.files.size() != 3) return std::nullopt;
    return CompactionPlan{.inputs = {shape.files[0].id, shape.files[2].id}, .why = "they are the ends"};
  }
};

class WrongPolicy : public EngineFixture {};

TEST_F(WrongPolicy, ItsPlanIsToldAndNothingChanges) {
  Registry<CompactionPolicy>::instance().add(
      "passes_over", [](const PluginParams&) { return std::make_unique<PassesOver>(); });
  open({.automatic_compaction = false});
  FamilyOptions wrong = family("f");
  wrong.compaction = "passes_over";
  const auto table = make_table("t", {wrong});
  for (const char* value : {"1", "2", "3"}) {
    EXPECT_OK(table->put(Put("row").add("f", "q", value)));
    EXPECT_OK(table->flush());
  }
  for (const Status& status : {table->next_compaction("f").status(), table->compact("f")}) {
    EXPECT_TRUE(status.is(Code::kInvalidArgument)) << status.to_text();
    EXPECT_THAT(status.to_text(), HasSubstr("policy passes_over"));
    EXPECT_THAT(status.to_text(), HasSubstr("not contiguous in age"));
    EXPECT_THAT(status.hint(), HasSubstr("because: they are the ends"));
  }
  EXPECT_EQ(table->files("f").value().size(), 3U);
  const RowBatch found = table->get(Get("row")).value();
  EXPECT_EQ(found.value("f", "q"), "3");
}

// Rewrites the first file, again and again.
class Endless final : public CompactionPolicy {
 public:
  std::optional<CompactionPlan> pick(const StoreShape& shape, std::vector<std::string>*) const override {
    if (shape.files.empty()) return std::nullopt;
    return CompactionPlan{.inputs = {shape.files[0].id}, .why = "once more"};
  }
};

TEST_F(WrongPolicy, PlansWithoutEndAreEnded) {
  Registry<CompactionPolicy>::instance().add("endless",
                                             [](const PluginParams&) { return std::make_unique<Endless>(); });
  open({.automatic_compaction = false});
  FamilyOptions wrong = family("f");
  wrong.compaction = "endless";
  const auto table = make_table("t", {wrong});
  EXPECT_OK(table->put(Put("row").add("f", "q", "1")));
  EXPECT_OK(table->flush());
  const Status status = table->compact("f");
  EXPECT_TRUE(status.is(Code::kInvalidArgument)) << status.to_text();
  EXPECT_THAT(status.to_text(), HasSubstr("the plans of policy endless come to no end: 1021 so far"));
  EXPECT_THAT(status.hint(), HasSubstr("because: once more"));
  const RowBatch found = table->get(Get("row")).value();
  EXPECT_EQ(found.value("f", "q"), "1");
}

}  // namespace
}  // namespace cellar::testing
