// Goal: the shell takes schemas as HBase writes them, and obeys all of a statement or nothing. Its
// description of a table makes the table again. Method: text cases, each answer shown; then descriptions
// pasted back.
#include <gtest/gtest.h>
#include <re2/re2.h>
#include <unistd.h>

#include <algorithm>

#include "base/plugins.h"
#include "tests/support/data_driven.h"
#include "tests/tools/tool_runner.h"
#include "tools/shell/shell.h"

namespace cellar::testing {
namespace {

using Json = nlohmann::json;

class ShellSchemaTest : public ToolTest {
 protected:
  ToolResult script(const std::string& text) const { return run({"shell", "shop", "-c", text}); }
  Json options_of(const std::string& table) const {
    return json_of({"describe", "shop", table})["tables"][0];
  }
};

// Returns the value of an option of the family f of t, from the table as JSON.
std::string option_in(const std::string& json, const std::string& option) {
  const Json described = Json::parse(json, nullptr, false);
  const Json value = described["tables"][0]["families"][0]["options"][option];
  return option + " " + (value.is_string() ? value.get<std::string>() : value.dump()) + "\n";
}

TEST_F(ShellSchemaTest, TakesWhatHBaseWrites) {
  register_tools_plugins();
  register_hfile_plugins();
  register_bloom_plugins();
  register_cache_plugins();
  register_compaction_plugins();
  const std::string store = path("db");
  Output out(STDOUT_FILENO);
  Session session(out);
  Shell cellar_shell(session, {.path = store, .keep_going = true});
  const auto answer = [&](const std::string& statements) {
    ::testing::internal::CaptureStdout();
    ::testing::internal::CaptureStderr();
    EXPECT_TRUE(cellar_shell.run_text(statements, "").ok());
    out.flush();
    std::string text = ::testing::internal::GetCapturedStdout() + ::testing::internal::GetCapturedStderr();
    RE2::GlobalReplace(&text, RE2::QuoteMeta(store), "db");
    const int exit = static_cast<int>(cellar_shell.failed());
    cellar_shell.forget_failure();
    return exit == 0 ? text : text + "exit " + std::to_string(exit) + "\n";
  };
  size_t cases = 0;
  run_cases("shell/schema.txt", [&](const Case& c) {
    ++cases;
    if (c.command == "run") return answer(c.input);
    if (c.command != "option" || c.args.empty()) return unknown(c);
    const std::string said = answer(c.input);
    return (said.find("exit") != std::string::npos ? said : "") +
           option_in(answer(".format json\ndescribe 't'\n.format table"), c.args);
  });
  EXPECT_TRUE(cellar_shell.close().ok());
  EXPECT_GE(cases, 70u);
}

// A whole statement of the shell makes the same table, and so does the output of its describe after `create`.
TEST_F(ShellSchemaTest, ADescriptionMakesTheSameTable) {
  make_shop();
  ASSERT_EQ(
      script("create 'a', {NAME => 'f', VERSIONS => 7, TTL => 3600, COMPRESSION => 'GZ', BLOOMFILTER => "
             "'ROWPREFIX_FIXED_LENGTH', CONFIGURATION => {'RowPrefixBloomFilter.prefix_length' => 4}, "
             "KEEP_DELETED_CELLS => 'TTL', NEW_VERSION_BEHAVIOR => true, BLOCKSIZE => '8192 B (8KB)', "
             "COMPACTION => 'exploring(ratio=1.5)'}, {NAME => \"it's\", TTL => '2 DAYS'}, READONLY => true, "
             "DURABILITY => 'ASYNC_WAL', COMPACTION_ENABLED => false, MEMSTORE_FLUSHSIZE => '1MB'")
          .exit,
      0);
  const auto made_of = [&](std::string text, const std::string& name) {
    const size_t at = text.find("'a'");
    EXPECT_NE(at, std::string::npos) << text;
    if (at == std::string::npos) return;
    text.replace(at, 3, "'" + name + "'");
    const ToolResult made = script(text);
    EXPECT_EQ(made.exit, 0) << made.err;
    EXPECT_EQ(made.err, "created table " + name + " with 2 families\n");
    const Json a = options_of("a"), b = options_of(name);
    EXPECT_EQ(a["options"], b["options"]);
    ASSERT_EQ(b["families"].size(), 2u);
    for (size_t i = 0; i < 2; ++i) EXPECT_EQ(a["families"][i]["options"], b["families"][i]["options"]);
  };
  made_of("create " + script("describe 'a'").out, "b");
  made_of(out_of({"describe", "shop", "a", "--as", "create"}), "c");
  const Json a = options_of("a");
  EXPECT_EQ(a["options"]["read_only"], true);
  EXPECT_EQ(a["options"]["memtable_bytes"], 1048576);
  EXPECT_EQ(a["families"][0]["options"]["bloom"], "rowprefix_fixed_length(prefix_length=4)");
}

// With what a store does not act on, as HBase's describe writes it.
TEST_F(ShellSchemaTest, ADescriptionHasWhatIsCarried) {
  make_shop();
  const std::string description =
      "'a', {TABLE_ATTRIBUTES => {READONLY => 'true', 'COPROCESSOR$1' => '|x.Y|1|', MAX_FILESIZE => '10 GB', "
      "METADATA => {'hbase.store.file-tracker.impl' => 'DEFAULT', \"it's\" => 'a => {b}'}, "
      "CONFIGURATION => {'hbase.hregion.scan.loadColumnFamiliesOnDemand' => 'true'}}},\n"
      "{NAME => 'f', VERSIONS => '1', MIN_VERSIONS => '0', TTL => 'FOREVER', KEEP_DELETED_CELLS => 'false', "
      "NEW_VERSION_BEHAVIOR => 'false', BLOCKSIZE => '16384', DATA_BLOCK_ENCODING => 'NONE', COMPRESS_TAGS "
      "=> "
      "'true', COMPRESSION => 'SNAPPY', COMPRESSION_COMPACT_MAJOR => 'GZ', BLOOMFILTER => "
      "'ROWPREFIX_FIXED_LENGTH', BLOOM_HASH => 'JENKINS', ";
  const ToolResult made = script("create " + description +
                                 "CONFIGURATION => {'RowPrefixBloomFilter.prefix_length' "
                                 "=> '4', 'hbase.hstore.blockingStoreFiles' => '20', 'made.up' => 'x'}}");
  ASSERT_EQ(made.exit, 0) << made.err;
  const std::string described = script("describe 'a'").out;
  EXPECT_TRUE(described.starts_with(description)) << described;
  EXPECT_TRUE(
      described.ends_with("CONFIGURATION => {'RowPrefixBloomFilter.prefix_length' => '4', "
                          "'hbase.hstore.blockingStoreFiles' => '20', 'made.up' => 'x'}}\n"))
      << described;
  std::string again = "create " + described;
  again.replace(again.find("'a'"), 3, "'b'");
  ASSERT_EQ(script(again).exit, 0);
  EXPECT_EQ(options_of("a")["families"][0]["options"], options_of("b")["families"][0]["options"]);
  EXPECT_EQ(options_of("a")["options"], options_of("b")["options"]);
}

TEST_F(ShellSchemaTest, AllTablesAsStatements) {
  make_shop();
  const std::string statements = out_of({"describe", "shop", "--as", "create"});
  ASSERT_EQ(run({"shell", "copy"}, statements).exit, 0) << statements;
  EXPECT_EQ(out_of({"describe", "copy", "--as", "create"}), statements);
}

}  // namespace
}  // namespace cellar::testing
