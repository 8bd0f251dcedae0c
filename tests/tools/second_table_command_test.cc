// Goal: `cellar second-table` makes, builds, lists and verifies second tables. Every later command keeps
// them, or refuses. Method: the real program, one call after the other.
#include <gtest/gtest.h>

#include "tests/tools/tool_runner.h"

namespace cellar::testing {
namespace {

using Json = nlohmann::json;

class SecondTableCommand : public ToolTest {
 protected:
  void SetUp() override {
    ToolTest::SetUp();
    out_of({"create", "shop", "people", "d:delete_order=sequence"});
    out_of({"put", "shop", "people", "ann", "d:mail", "a@x"});
    out_of({"put", "shop", "people", "bob", "d:born", "1984"});
  }
  std::string refusal(std::vector<std::string> words, int exit) const {
    words.insert(words.begin(), "second-table");
    const auto result = run(words);
    EXPECT_EQ(result.exit, exit) << result.err;
    return result.err;
  }
  std::vector<std::string> rows(const std::string& table) const {
    std::vector<std::string> found;
    const Json document = json_of({"scan", "shop", table});
    for (const Json& cell : document["cells"]) found.push_back(cell["row"].get<std::string>());
    return found;
  }
};

TEST_F(SecondTableCommand, LaterCommandsKeepTheTable) {
  EXPECT_EQ(run({"second-table", "create", "shop", "by_mail", "people", "--key", "d:mail, row"}).err,
            "built second table by_mail from 1 row\n");
  out_of({"put", "shop", "people", "bob", "d:mail", "b@x"});
  out_of({"deleteall", "shop", "people", "ann"});
  EXPECT_EQ(rows("by_mail"), (std::vector<std::string>{"4b@x\\x00bob"}));
  const Json listed = json_of({"second-table", "list", "shop"});
  ASSERT_EQ(listed["second_tables"].size(), 1U);
  EXPECT_EQ(listed["second_tables"][0]["source"], "people");
  EXPECT_EQ(listed["second_tables"][0]["state"], "built");
  const Json described = json_of({"describe", "shop", "by_mail"});
  EXPECT_EQ(described["tables"][0]["second_table"]["key"], "d:mail, row");
  const Json check = json_of({"second-table", "verify", "shop", "by_mail"});
  EXPECT_EQ(check["checks"][0]["keys"], 1);
  EXPECT_EQ(check["checks"][0]["missing"], 0);

  EXPECT_NE(run({"put", "shop", "by_mail", "r", "row:", "r"}).exit, 0);
  EXPECT_NE(run({"drop", "shop", "people"}).exit, 0);
  // A copy is a table like every other.
  out_of({"copy", "shop", "other"});
  out_of({"put", "other", "by_mail", "r", "row:", "r"});
  EXPECT_TRUE(json_of({"second-table", "list", "other"})["second_tables"].empty());
  out_of({"drop", "shop", "by_mail"});
  out_of({"drop", "shop", "people"});
}

TEST_F(SecondTableCommand, WhatCannotBeBuiltIsNotLeftBehind) {
  const std::string text = refusal({"create", "shop", "by_birth", "people", "--key", "d:born int64, row"}, 2);
  EXPECT_NE(text.find("row bob"), std::string::npos) << text;
  EXPECT_NE(text.find("needs 8"), std::string::npos) << text;
  EXPECT_EQ(json_of({"list", "shop"})["tables"].size(), 1U);
}

TEST_F(SecondTableCommand, RefusesWhatItCannotDo) {
  EXPECT_NE(refusal({"create", "shop", "x", "people"}, 2).find("--key"), std::string::npos);
  EXPECT_NE(refusal({"create", "shop", "x", "people", "--key", "d:mail raw"}, 2).find("nothing can follow"),
            std::string::npos);
  EXPECT_NE(refusal({"build", "shop", "people"}, 2).find("not a second table"), std::string::npos);
  EXPECT_NE(refusal({"verify", "shop"}, 2).find("TABLE is missing"), std::string::npos);
  EXPECT_NE(refusal({"verify", "shop", "x", "people"}, 2).find("alone"), std::string::npos);
  EXPECT_NE(refusal({"list", "shop", "x"}, 2).find("alone"), std::string::npos);
  EXPECT_NE(refusal({"bild", "shop", "x"}, 2).find("build"), std::string::npos);
}

}  // namespace
}  // namespace cellar::testing
