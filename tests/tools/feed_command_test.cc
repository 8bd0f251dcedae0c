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

// A feed of two tables holds the changes of both in the order of their writes, and no other change.
TEST_F(FeedCommand, TableTwiceMeansBothTablesAndNoOther) {
  out_of({"create", "shop", "stock", "d"});
  out_of({"feed", "create", "shop", "index", "--table", "users", "--table", "orders/d"});
  put("orders", "a", "d:q", "1");
  put("stock", "b", "d:q", "another table");
  put("users", "c", "d:q", "2");
  put("orders", "d", "c:q", "another family");
  put("orders", "e", "d:q", "3");
  out_of({"delete", "shop", "stock", "b", "d:q"});
  out_of({"delete", "shop", "users", "c", "d:q"});
  const auto changes = [&] {
    std::vector<std::string> all;
    const Json document = json_of({"feed", "read", "shop", "index"});
    for (const Json& entry : document["entries"])
      all.push_back(entry.value("table", "") + "/" + entry.value("family", "") + " " +
                    entry.value("row", "") + " " + entry.value("type", "") + " " + entry.value("value", ""));
    return all;
  };
  std::vector<std::string> expected = {"orders/d a Put 1", "users/d c Put 2", "orders/d e Put 3",
                                       "users/d c Delete "};
  EXPECT_EQ(changes(), expected);
  out_of({"flush", "shop"});
  EXPECT_EQ(changes(), expected) << "after the flush";
  // An emptied table is a change, too.
  out_of({"truncate", "shop", "stock"});
  EXPECT_EQ(changes(), expected);
  out_of({"truncate", "shop", "users"});
  expected.push_back("users/  Replace ");
  EXPECT_EQ(changes(), expected);
}

TEST_F(FeedCommand, ATableNamedTwiceIsRefused) {
  const ToolResult twice = run({"feed", "create", "shop", "x", "--table", "orders/d", "--table", "orders/c"});
  EXPECT_EQ(twice.exit, 2);
  EXPECT_NE(twice.err.find("table orders is named twice"), std::string::npos) << twice.err;
  EXPECT_EQ(json_of({"feed", "list", "shop"})["feeds"].size(), 0u);
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
