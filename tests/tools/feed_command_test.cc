// Goal: `cellar feed` makes, lists, reads and drops feeds, and a script can go on where it stopped.
// Method: the real program, one call after the other, as a script would.
#include <gtest/gtest.h>

#include <sstream>

#include "tests/tools/schema_check.h"
#include "tests/tools/tool_runner.h"

namespace cellar::testing {
namespace {

using Json = nlohmann::json;

class FeedCommand : public ToolTest {
 protected:
  void SetUp() override {
    ToolTest::SetUp();
    out_of({"create", "shop", "orders", "d", "c"});
    out_of({"create", "shop", "users", "d"});
  }
  void put(const std::string& table, const std::string& row, const std::string& column,
           const std::string& value) const {
    out_of({"put", "shop", table, row, column, value});
  }
  // "row=value" of each cell.
  std::string read(std::vector<std::string> more = {}) const {
    std::vector<std::string> words = {"feed", "read", "shop", "index"};
    words.insert(words.end(), more.begin(), more.end());
    const Json document = json_of(words);
    std::string text;
    for (const Json& entry : document["entries"])
      text += entry["row"].get<std::string>() + "=" + entry["value"].get<std::string>() + " ";
    return text;
  }
};

TEST_F(FeedCommand, AScriptGoesOnWhereItStopped) {
  put("orders", "before", "d:q", "0");
  EXPECT_EQ(run({"feed", "create", "shop", "index", "--table", "orders/d"}).err,
            "created feed index: it begins with the next write\n");
  put("orders", "a", "d:q", "1");
  put("orders", "a", "c:q", "not of the feed");
  put("users", "a", "d:q", "not of the feed");
  put("orders", "b", "d:q", "2");
  EXPECT_EQ(read(), "a=1 b=2 ");
  EXPECT_EQ(read(), "a=1 b=2 ") << "nothing was acknowledged";
  EXPECT_EQ(read({"--limit", "1", "--acknowledge"}), "a=1 ");
  EXPECT_EQ(read({"--acknowledge"}), "b=2 ");
  EXPECT_EQ(read(), "");
  out_of({"flush", "shop"});
  out_of({"delete", "shop", "orders", "a", "d:q"});
  const Json document = json_of({"feed", "read", "shop", "index"});
  ASSERT_EQ(document["entries"].size(), 1u);
  EXPECT_EQ(document["entries"][0]["type"], "Delete");
  EXPECT_EQ(document["entries"][0]["table"], "orders");
  EXPECT_EQ(document["entries"][0]["sequence"], document["position"]);
  EXPECT_EQ(document["unlogged_writes"], 0);
  EXPECT_EQ(read({"--from", std::to_string(document["position"].get<int>())}), "");
}

TEST_F(FeedCommand, ListsWhatThereIs) {
  EXPECT_EQ(json_of({"feed", "list", "shop"})["feeds"].size(), 0u);
  out_of({"feed", "create", "shop", "one", "--table", "orders/d,c", "--table", "users", "--retain", "256m"});
  out_of({"feed", "create", "shop", "two"});
  const Json feeds = json_of({"feed", "list", "shop"})["feeds"];
  ASSERT_EQ(feeds.size(), 2u);
  EXPECT_EQ(feeds[0]["feed"], "one");
  EXPECT_EQ(feeds[0]["tables"], nlohmann::json::array({"orders/d,c", "users"}));
  EXPECT_EQ(feeds[0]["retained_max"], 256 << 20);
  EXPECT_EQ(feeds[0]["lost"], false);
  EXPECT_EQ(feeds[1]["tables"], nlohmann::json::array({"*"}));
  EXPECT_EQ(run({"feed", "drop", "shop", "one"}).err, "dropped feed one\n");
  EXPECT_EQ(json_of({"feed", "list", "shop"})["feeds"].size(), 1u);
}

TEST_F(FeedCommand, SaysWhatIsWrong) {
  out_of({"feed", "create", "shop", "index"});
  EXPECT_EQ(run({"feed", "watch", "shop"}).exit, 2);
  EXPECT_EQ(run({"feed", "read", "shop"}).exit, 2);
  EXPECT_EQ(run({"feed", "list", "shop", "index"}).exit, 2);
  EXPECT_EQ(run({"feed", "list", "shop", "--acknowledge"}).exit, 2);
  EXPECT_EQ(run({"feed", "create", "shop", "index"}).exit, 2);
  EXPECT_EQ(run({"feed", "create", "shop", "x", "--retain", "1k"}).exit, 2);
  EXPECT_EQ(run({"feed", "create", "shop", "x", "--table", "orders/"}).exit, 2);
  EXPECT_EQ(run({"feed", "read", "shop", "index", "--from", "1000"}).exit, 2);
  const ToolResult misspelt = run({"feed", "read", "shop", "indx"});
  EXPECT_NE(misspelt.exit, 0);
  EXPECT_NE(misspelt.err.find("did you mean index?"), std::string::npos) << misspelt.err;
  EXPECT_NE(run({"feed", "create", "shop", "x", "--table", "order"}).err.find("did you mean orders?"),
            std::string::npos);
}

// One JSON object a line, the place to go on from in the last one.
TEST_F(FeedCommand, LinesEndWithThePosition) {
  out_of({"feed", "create", "shop", "index"});
  put("orders", "a", "d:q", "1");
  std::istringstream lines(out_of({"feed", "read", "shop", "index", "--format", "jsonl"}));
  std::string line, last;
  int count = 0;
  for (; std::getline(lines, line); ++count) last = line;
  EXPECT_EQ(count, 2);
  EXPECT_TRUE(Json::parse(last).contains("position")) << last;
  EXPECT_NE(out_of({"feed", "read", "shop", "index"}).find("orders"), std::string::npos);
}

}  // namespace
}  // namespace cellar::testing
