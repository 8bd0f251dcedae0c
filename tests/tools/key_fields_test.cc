// Goal: the tools show the fields of keys wherever they show keys. They take keys by their fields, and
// aggregate by them. The schema stays with its table wherever the table goes.
// Method: the real program on a table of rows that KeyBuilder made; its answers are compared, in JSON where
// that is clearer.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/bytes.h"
#include "cellar/key_schema.h"
#include "tests/tools/tool_runner.h"

namespace cellar::testing {
namespace {

using Json = nlohmann::json;

constexpr int64_t kDay = 86'400'000;
constexpr int64_t kNov20 = 1'795'132'800'000;

std::string row_of(const std::string& user, int64_t when) {
  return KeyBuilder().text(user).int64(when, KeyOrder::kDescending).key().value();
}

class KeyFields : public ToolTest {
 protected:
  // Two users, one with a name that needs quotes; v:ms is 7, 8 and 9.
  void make_views(const std::string& schema = "user text, when int64 desc ms") const {
    if (schema.empty()) {
      out_of({"create", "shop", "views", "v"});
    } else {
      out_of({"create", "shop", "views", "v", "--set", "key_fields=" + schema});
    }
    int value = 7;
    for (const std::string& row :
         {row_of("a,b", kNov20), row_of("alice", kNov20 + kDay), row_of("alice", kNov20)})
      out_of({"put", "shop", "views", escaped(row), "v:ms", std::to_string(value++), "--as", "long"});
  }
  bool has(const std::vector<std::string>& line, const std::string& text) const {
    const std::string out = out_of(line);
    EXPECT_NE(out.find(text), std::string::npos) << out;
    return out.find(text) != std::string::npos;
  }
};

constexpr const char* kAlice = "user=alice, when=2026-11-21T00:00:00.000Z";
constexpr const char* kQuoted = "user='a,b', when=2026-11-20T00:00:00.000Z";

TEST_F(KeyFields, ATableThatKeepsThemShowsThem) {
  make_views();
  EXPECT_TRUE(has({"scan", "shop", "views"}, kAlice));
  EXPECT_TRUE(has({"scan", "shop", "views"}, kQuoted));
  EXPECT_TRUE(has({"get", "shop", "views", escaped(row_of("a,b", kNov20))}, kQuoted));
  const Json cells = json_of({"scan", "shop", "views"})["cells"];
  ASSERT_EQ(cells.size(), 3u);
  EXPECT_EQ(cells[1]["row"], escaped(row_of("alice", kNov20 + kDay)));
  EXPECT_EQ(cells[1]["key"], Json::parse(R"({"user":"alice","when":"2026-11-21T00:00:00.000Z"})"));
  EXPECT_TRUE(has({"scan", "shop", "views", "--decode", "row=hex"}, hex(row_of("a,b", kNov20))));
  EXPECT_EQ(out_of({"scan", "shop", "views", "--format", "csv"}).find("user="), std::string::npos)
      << "a program gets bytes that it can give back";
  EXPECT_TRUE(
      has({"scan", "shop", "views", "--format", "csv", "--decode", "row=key"}, "'alice', 1795219200000"));
  EXPECT_TRUE(has({"shell", "shop", "-c", "scan 'views'"}, kQuoted));
  EXPECT_EQ(out_of({"shell", "shop", "-c", "scan 'views', FORMATTER => 'toStringBinary'"}).find("user="),
            std::string::npos);
  out_of({"put", "shop", "views", "plain", "v:ms", "x"});
  EXPECT_TRUE(has({"scan", "shop", "views"}, ":plain"));
}

TEST_F(KeyFields, DecodeShowsThemEverywhere) {
  make_views("");
  out_of({"flush", "shop"});
  const std::string rule = "row=key(user text, when int64 desc ms)";
  const std::vector<std::vector<std::string>> lines = {
      {"scan", "shop", "views"},
      {"get", "shop", "views", escaped(row_of("a,b", kNov20))},
      {"dump", "shop"},
      {"stats", "shop", "--top", "3"},
      {"estimate", "shop", "views", "--parts", "2"}};
  for (std::vector<std::string> line : lines) {
    std::vector<std::string> plain = line;
    line.insert(line.end(), {"--decode", rule});
    plain.insert(plain.end(), {"--decode", "row=key"});
    if (line[0] != "estimate") {  // which has no cut in so small a table
      EXPECT_TRUE(has(line, kQuoted)) << line[0];
      EXPECT_TRUE(has(plain, "'a,b', 1795132800000")) << line[0];
    }
    for (const std::string& text : {json_of(line).dump(), json_of(plain).dump()})
      if (line[0] != "estimate") {
        EXPECT_NE(text.find("\"key\":"), std::string::npos) << text;
      }
  }
  const std::string file = "shop/tables/1/v";
  EXPECT_TRUE(has({"inspect", file, "--block", "0", "--cells", "--decode", rule}, kQuoted));
  EXPECT_NE(json_of({"inspect", file, "--block", "0", "--cells", "--decode", rule}).dump().find("\"key\":{"),
            std::string::npos);
  EXPECT_EQ(json_of({"find", escaped(row_of("a,b", kNov20)), "shop", "--decode", rule})["key"]["user"],
            "a,b");
  out_of({"create", "shop", "none", "v"});
  out_of({"put", "shop", "none", "x", "v:ms", "1"});
  out_of({"flush", "shop"});
  const ToolResult differ = run({"diff", file, "shop/tables/2/v", "--decode", rule});
  EXPECT_NE(differ.out.find(kQuoted), std::string::npos) << differ.out;
  EXPECT_TRUE(
      has({"scan", "shop", "views", "--format", "jsonl", "--decode", rule}, "\"key\":{\"user\":\"a,b\""));
  EXPECT_TRUE(has({"scan", "shop", "views", "--decode", "v:ms=key(n plain_int64)"}, "n=7"));
}

TEST_F(KeyFields, AnInvalidSchemaIsRefusedWithItsPlace) {
  make_views("");
  const ToolResult rule = run({"scan", "shop", "views", "--decode", "row=key(user txt)"});
  EXPECT_NE(rule.exit, 0);
  EXPECT_NE(rule.err.find("field 1: unknown type \"txt\""), std::string::npos) << rule.err;
  EXPECT_NE(rule.err.find("did you mean text?"), std::string::npos) << rule.err;
  EXPECT_EQ(run({"scan", "shop", "views", "--decode", "row=kye"}).exit, 2);
  for (const std::string option : {"key_fields", "KEY_FIELDS", "metadata.key_fields"}) {
    const ToolResult set = run({"alter", "shop", "views", "--set", option + "=user text, user text"});
    EXPECT_NE(set.exit, 0);
    EXPECT_NE(set.err.find("the name user is used twice"), std::string::npos) << set.err;
  }
  out_of({"alter", "shop", "views", "--set", "key_fields=user text, when int64 desc"});
  EXPECT_TRUE(has({"scan", "shop", "views"}, "user=alice, when=1795219200000"));
  out_of({"alter", "shop", "views", "--set", "key_fields="});
  EXPECT_EQ(out_of({"scan", "shop", "views"}).find("user="), std::string::npos);
}

TEST_F(KeyFields, RowsAreNamedByThem) {
  make_views();
  EXPECT_TRUE(
      has({"get", "shop", "views", "--key", "user=alice, when=2026-11-21", "v:ms", "--as", "long"}, "  8\n"));
  EXPECT_TRUE(has({"get", "shop", "views", "--key", "user='a,b',when=1795132800000"}, kQuoted));
  EXPECT_EQ(run({"get", "shop", "views", "--key", "user=alice,when=7"}).exit, 1);
  EXPECT_EQ(json_of({"count", "shop", "views", "--key", "user=alice"})["counts"][0]["rows"], 2);
  EXPECT_EQ(json_of({"scan", "shop", "views", "--key", "user=alice", "--reverse"})["cells"][0]["key"]["when"],
            "2026-11-20T00:00:00.000Z");
  const std::string exported = out_of({"export", "shop", "views", "--key", "user='a,b'"});
  EXPECT_EQ(std::ranges::count(exported, '\n'), 1) << exported;
  const auto fails = [&](std::vector<std::string> line, int exit, const std::string& text) {
    const ToolResult result = run(line);
    EXPECT_EQ(result.exit, exit) << result.err;
    EXPECT_NE(result.err.find(text), std::string::npos) << result.err;
  };
  fails({"get", "shop", "views", "--key", "user=alice"}, 2, "field when of the row is missing");
  fails({"get", "shop", "views", "--key", "usr=alice"}, 2, "did you mean user?");
  fails({"scan", "shop", "views", "--key", "when=7"}, 2, "field when comes where user is to be");
  fails({"scan", "shop", "views", "--key", "user=a", "--prefix", "x"}, 2, "--key is a range of rows");
  fails({"scan", "shop", "views", "--key", ""}, 2, "--key names no field");
  out_of({"create", "shop", "plain", "v"});
  fails({"scan", "shop", "plain", "--key", "user=a"}, 2, "the table has no KEY_FIELDS");
  EXPECT_TRUE(
      has({"scan", "shop", "views", "--key", "user=alice", "--decode", "row=key(user text, rest raw)"},
          "user=alice, rest="));
}

TEST_F(KeyFields, TheyStayWithTheTable) {
  make_views();
  EXPECT_TRUE(has({"describe", "shop", "views"}, "user text, when int64 desc ms"));
  out_of({"copy", "shop", "other", "views"});
  EXPECT_TRUE(has({"scan", "other", "views"}, kAlice));
  const std::string create = out_of({"describe", "shop", "views", "--as", "create"});
  write_file("create.txt", create);
  out_of({"create", "again", "first", "d"});
  out_of({"shell", "again", "-f", "create.txt"});
  EXPECT_TRUE(has({"describe", "again", "views"}, "user text, when int64 desc ms")) << create;
  // load reads the output of scan.
  write_file("cells.jsonl", out_of({"scan", "shop", "views", "--format", "jsonl"}));
  out_of({"load", "again", "views", "cells.jsonl"});
  EXPECT_EQ(out_of({"scan", "again", "views"}), out_of({"scan", "shop", "views"}));
  out_of({"export", "shop", "views", "--to", "hfile", "-o", "out"});
  out_of({"bulkload", "ingest", "out", "adopted", "views", "--create"});
  EXPECT_TRUE(has({"scan", "adopted", "views"}, kAlice));
  out_of({"checkpoint", "shop", "backup"});
  EXPECT_TRUE(has({"scan", "backup", "views"}, kAlice));
}

TEST_F(KeyFields, AggregatesAreByThem) {
  make_views();
  const Json groups = json_of({"aggregate", "shop", "views", "--group-by", "user"})["groups"];
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_EQ(groups[1]["key"], Json::parse(R"({"user":"alice"})"));
  EXPECT_EQ(groups[1]["sum"], 17);
  EXPECT_EQ(groups[1]["average"], 8.5);
  EXPECT_EQ(groups[1]["deviation"], 0.5);
  EXPECT_EQ(json_of({"aggregate", "shop", "views", "--group-by", "when"})["groups"].size(), 3u);
  EXPECT_EQ(json_of({"aggregate", "shop", "views", "--group-by", "fields:1"})["groups"], groups);
  EXPECT_EQ(json_of({"aggregate", "shop", "views", "--group-by", "until:\\x00"})["groups"].size(), 2u);
  EXPECT_EQ(json_of({"aggregate", "shop", "views", "--group-by", "bytes:2"})["groups"].size(), 1u);
  EXPECT_TRUE(has({"aggregate", "shop", "views", "--group-by", "user", "--format", "csv"},
                  "group,rows,values,sum,min,max,average,deviation\n"));
  EXPECT_TRUE(has({"aggregate", "shop", "views", "--group-by", "user"}, "user=alice     2"));
  const auto fails = [&](const std::string& by, const std::string& text) {
    const ToolResult result = run({"aggregate", "shop", "views", "--group-by", by});
    EXPECT_EQ(result.exit, 2) << result.err;
    EXPECT_NE(result.err.find(text), std::string::npos) << result.err;
  };
  fails("usr", "did you mean user?");
  fails("byte:7", "did you mean bytes?");
  fails("bytes:0", "\"0\" is not a number from 1");
  fails("fields:3", "a key of the table has 2 fields");
  fails("until:", "the separator is empty");
}

TEST_F(KeyFields, AggregatesWithoutASchemaAndOfBadValues) {
  make_views("");
  EXPECT_TRUE(has({"aggregate", "shop", "views", "--group-by", "fields:1"}, "'alice'"));
  EXPECT_EQ(json_of({"aggregate", "shop", "views", "--group-by", "fields:1"})["groups"][1]["key"], "'alice'");
  EXPECT_EQ(json_of({"aggregate", "shop", "views"})["groups"][0]["sum"], 24);
  out_of({"put", "shop", "views", "x", "v:ms", "12.50"});
  const ToolResult bad = run({"aggregate", "shop", "views"});
  EXPECT_EQ(bad.exit, 2) << bad.err;
  EXPECT_NE(bad.err.find("row \"x\", column v:ms: the value \"12.50\" is no long"), std::string::npos)
      << bad.err;
  EXPECT_NE(bad.err.find("--count-bad"), std::string::npos) << bad.err;
  const Json decimals =
      json_of({"aggregate", "shop", "views", "--as", "decimal", "--count-bad", "--explain"});
  EXPECT_EQ(decimals["groups"][0]["sum"], "12.5");
  EXPECT_EQ(decimals["groups"][0]["bad"], 3);
  EXPECT_EQ(decimals["stats"]["rows_returned"], 4);
  EXPECT_TRUE(json_of({"aggregate", "shop", "views", "--prefix", "none"})["groups"][0]["sum"].is_null());
}

// More groups than a table of them may hold at once: 10,000.
TEST_F(KeyFields, ManyGroupsComeAsAStream) {
  out_of({"create", "shop", "t", "d"});
  std::string lines;
  constexpr int kRows = 20'001;
  for (int i = 0; i < kRows; ++i)
    lines += fmt::format("{{\"row\":\"{:06}\",\"family\":\"d\",\"qualifier\":\"q\",\"value\":\"1\"}}\n", i);
  out_of({"load", "shop", "t", "-"}, lines);
  const std::string table = out_of({"aggregate", "shop", "t", "--as", "decimal", "--group-by", "bytes:6"});
  EXPECT_EQ(std::ranges::count(table, '\n'), kRows + 3) << "with three headings";
}

}  // namespace
}  // namespace cellar::testing
