// Goal: `cellar config` shows the options in effect with their source, explains each option, and finds
// options that contradict each other. Method: stores with known options; one file for each contradiction, and
// the same file without it.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "tests/tools/tool_runner.h"
#include "tools/store/config_check.h"
#include "tools/store/config_file.h"
#include "tools/store/hbase_keys.h"
#include "tools/store/option_pages.h"

namespace cellar::testing {
namespace {

using Json = nlohmann::json;

class ConfigCommand : public ToolTest {
 protected:
  static Json option_in(const Json& shown, const std::string& of, const std::string& name) {
    for (const Json& each : shown["options"])
      if (each["of"] == of && each["option"] == name) return each;
    ADD_FAILURE() << of << " has no " << name;
    return {};
  }
  static std::vector<ConfigFinding> findings_in(const std::string& text) {
    const Result<Configuration> configuration = parse_configuration(text);
    EXPECT_TRUE(configuration.ok()) << configuration.status().to_text() << text;
    return configuration.ok() ? check_configuration(*configuration) : std::vector<ConfigFinding>();
  }
};

TEST_F(ConfigCommand, ShowTellsWhereEachValueComesFrom) {
  out_of({"create", "shop", "orders", "d:ttl_s=86400,files_stop=40", "c", "--set", "durability=fsync_wal"});
  const ToolResult result = shell("CELLAR_ENGINE=files_stop=20 cellar config show shop --format json");
  ASSERT_EQ(result.exit, 0) << result.err;
  const Json shown = Json::parse(result.out);
  const auto expect = [&](const std::string& of, const std::string& name, const std::string& value,
                          const std::string& from) {
    const Json found = option_in(shown, of, name);
    EXPECT_EQ(found["value"], value) << of << " " << name;
    EXPECT_EQ(found["from"], from) << of << " " << name;
  };
  expect("engine", "files_stop", "20", "environment");
  expect("engine", "cache_bytes", "67108864", "default");
  expect("orders", "durability", "fsync_wal", "table");
  expect("orders", "memtable_bytes", "67108864", "engine");
  expect("orders", "read_only", "false", "default");
  expect("orders:d", "ttl_s", "86400", "family");
  expect("orders:d", "files_stop", "40", "family");
  expect("orders:c", "files_stop", "20", "engine");
  expect("orders:c", "ttl_s", "forever", "default");
  const std::string text = out_of({"config", "show", "shop", "orders", "--set"});
  EXPECT_NE(text.find("ttl_s"), std::string::npos);
  EXPECT_EQ(text.find("bloom"), std::string::npos) << text;
  EXPECT_EQ(run({"config", "show", "shop", "none"}).exit, 3);
  EXPECT_EQ(run({"config", "show", "nothing"}).exit, 3);
}

TEST_F(ConfigCommand, ExplainKnowsEachOptionByBothNames) {
  EXPECT_GE(option_pages().size(), 60u);
  for (const char* name : {"max_versions", "VERSIONS", "versions"}) {
    const Json pages = json_of({"config", "explain", name})["options"];
    ASSERT_EQ(pages.size(), 1u) << name;
    EXPECT_EQ(pages[0]["option"], "max_versions");
    EXPECT_EQ(pages[0]["default"], "1");
    EXPECT_EQ(pages[0]["hbase_name"], "VERSIONS");
    EXPECT_EQ(pages[0]["range"], "a number from 1 to 2147483647");
  }
  for (const auto& [hbase_name, option] :
       {std::pair("hbase.rowlock.wait.duration", "row_lock_wait_ms"),
        std::pair("hbase.table.max.rowsize", "row_bytes_max"),
        std::pair("hbase.hregion.majorcompaction.jitter", "major_compaction_jitter_percent")}) {
    const Json pages = json_of({"config", "explain", hbase_name})["options"];
    ASSERT_EQ(pages.size(), 1u) << hbase_name;
    EXPECT_EQ(pages[0]["option"], option);
  }
  EXPECT_EQ(json_of({"config", "explain", "files_stop"})["options"].size(), 2u);  // of engine and family
  const ToolResult unknown = run({"config", "explain", "max_version"});
  EXPECT_EQ(unknown.exit, 3);
  EXPECT_NE(unknown.err.find("did you mean max_versions?"), std::string::npos) << unknown.err;
}

TEST_F(ConfigCommand, ExplainFindsOptionsByKeysOfHBasesServers) {
  std::set<std::string> keys;
  for (const HBaseKey& each : hbase_keys()) {
    EXPECT_TRUE(keys.insert(std::string(each.key)).second) << each.key << " is listed twice";
    const Json pages = json_of({"config", "explain", std::string(each.key)})["options"];
    const bool shows = std::any_of(pages.begin(), pages.end(), [&](const Json& page) {
      return page["scope"] == each.scope && page["option"] == each.option &&
             page["hbase_keys"].get<std::string>().find(each.key) != std::string::npos;
    });
    EXPECT_TRUE(shows) << each.key;
  }
  // HBase has this key for a server and for a family.
  EXPECT_EQ(json_of({"config", "explain", "hbase.hstore.blockingStoreFiles"})["options"].size(), 2u);
  const std::string text = out_of({"config", "explain", "HFILE.block.cache.size"});
  EXPECT_NE(text.find("cache_bytes of the engine"), std::string::npos) << text;
  EXPECT_NE(text.find("hfile.block.cache.size: a share of the heap there"), std::string::npos) << text;
  const ToolResult unknown = run({"config", "explain", "hbase.hstore.blockingWaitTimes"});
  EXPECT_EQ(unknown.exit, 3);
  EXPECT_NE(unknown.err.find("did you mean hbase.hstore.blockingWaitTime?"), std::string::npos)
      << unknown.err;
}

// So a default that is shown can be set.
TEST_F(ConfigCommand, DefaultsAreTextsThatOptionsTake) {
  for (const OptionPage& page : option_pages()) {
    EngineOptions engine;
    TableOptions table;
    FamilyOptions family;
    const Status set = page.scope == "engine"  ? set_option(engine, page.name, page.standard)
                       : page.scope == "table" ? set_option(table, page.name, page.standard)
                                               : set_option(family, page.name, page.standard);
    EXPECT_TRUE(set.ok()) << page.scope << " " << page.name << ": " << set.to_text();
    EXPECT_EQ(option_list(engine), option_list(EngineOptions())) << page.name;
    EXPECT_EQ(option_list(table), option_list(TableOptions())) << page.name;
    EXPECT_EQ(option_list(family), option_list(FamilyOptions())) << page.name;
  }
}

// Each text has one contradiction. The second text takes it away.
TEST_F(ConfigCommand, CheckFindsEachContradiction) {
  struct Case {
    std::string bad;
    std::string good;
    std::string finding;
  };
  const std::string f = "[family t:f]\n";
  const std::vector<Case> cases = {
      {"memtable_bytes=1g\n", "memtable_bytes=512m\n",
       "memtable_bytes_total must be at least memtable_bytes"},
      {"cell_bytes_max=100m\n", "cell_bytes_max=50m\n", "fits into no batch"},
      {"cell_bytes_max=0\n", "cell_bytes_max=63m\n", "fits into no batch"},
      {"row_bytes_max=1m\n", "row_bytes_max=0\n", "row_bytes_max"},
      {"automatic_compaction=false\nmajor_compaction_interval_s=60\n", "major_compaction_interval_s=60\n",
       "major_compaction_interval_s has no effect"},
      {"metrics=false\nmetrics_file=m.prom\n", "metrics_file=m.prom\n", "metrics is off"},
      {"read_only=true\nmetrics_file=m.prom\n", "read_only=true\n", "refuses metrics_file"},
      {"metrics_interval_s=5\n", "metrics_interval_s=5\nmetrics_file=m.prom\n", "names no file"},
      {"operation_trace_options=keys=hashed\n", "operation_trace=t\noperation_trace_options=keys=hashed\n",
       "operation_trace_options"},
      {"[table t]\nmemtable_bytes=1g\n" + f, "[table t]\nmemtable_bytes=512m\n" + f, "memtable_bytes_total"},
      {f + "min_versions=1\n", f + "min_versions=1\nttl_s=1d\n", "min_versions has no effect"},
      {f + "min_versions=3\nttl_s=1d\n", f + "min_versions=3\nmax_versions=3\nttl_s=1d\n",
       "at most max_versions"},
      {f + "keep_deleted_cells=ttl\n", f + "keep_deleted_cells=ttl\nttl_s=1d\n", "keep_deleted_cells=ttl"},
      {f + "cache_blocks=false\nin_memory=true\n", f + "in_memory=true\n", "in_memory has no effect"},
      {f + "cache_blocks=false\nprefetch_on_open=true\n", f + "prefetch_on_open=true\n", "prefetch_on_open"},
      {"cache_bytes=0\n" + f + "in_memory=true\n", "cache_bytes=0\n" + f, "cache_bytes is 0"},
      {f + "bloom=none\nbloom_allocation=monkey\n", f + "bloom_allocation=monkey\n", "bloom_allocation"},
      {f + "bloom=none\nbloom_bits_percent_error=5\n", f + "bloom_bits_percent_error=5\n",
       "without a Bloom filter"},
      {"cache_bytes=1m\n" + f + "block_bytes=1m\n", "cache_bytes=64m\n" + f + "block_bytes=1m\n",
       "a quarter"},
      {"memtable_bytes=16k\n" + f + "block_bytes=64k\n", "memtable_bytes=64k\n" + f + "block_bytes=64k\n",
       "a single block"},
      {f + "compaction=exploring(files_min=20, files_max=30)\n",
       f + "compaction=exploring(files_min=20, files_max=30)\nfiles_stop=40\n", "files_min"},
      {f + "files_stop=2\n", f + "files_stop=3\n", "files_min"},
      {f + "compaction=ratio\nfiles_stop=2\n", f + "compaction=ratio(files_min=2)\nfiles_stop=2\n",
       "files_min"},
      {f + "compaction=fifo\n", f + "compaction=fifo\nttl_s=1d\n", "ttl_s is forever"},
      {f + "compaction=fifo\nttl_s=1d\nmax_versions=10\n", f + "compaction=fifo\nttl_s=1d\n",
       "max_versions=10"},
      {"[table t]\ncompaction_enabled=false\n" + f + "major_compaction_interval_ms=1000\n",
       f + "major_compaction_interval_ms=1000\n", "only on request"},
  };
  for (const Case& each : cases) {
    size_t contradictions = 0;
    bool found = false;
    for (const ConfigFinding& finding : findings_in(each.bad)) {
      contradictions += finding.contradiction ? 1 : 0;
      found = found || (finding.contradiction && finding.text.find(each.finding) != std::string::npos);
    }
    EXPECT_TRUE(found) << each.bad;
    EXPECT_EQ(contradictions, 1u) << each.bad;
    for (const ConfigFinding& finding : findings_in(each.good))
      EXPECT_FALSE(finding.contradiction) << each.good << finding.text;
  }
}

TEST_F(ConfigCommand, PartsOfCompactionsNeedThreads) {
  const std::vector<ConfigFinding> findings = findings_in("compaction_parts_max=4\nbackground_threads=3\n");
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_FALSE(findings[0].contradiction);
  EXPECT_NE(findings[0].text.find("leaves 2 for compactions"), std::string::npos) << findings[0].text;
  EXPECT_TRUE(findings_in("compaction_parts_max=4\nbackground_threads=5\n").empty());
  EXPECT_TRUE(findings_in("compaction_parts_max=1\n").empty());
}

// A trace of blocks switches the cache of rows off by itself.
TEST_F(ConfigCommand, ATraceOfBlocksContradictsNothing) {
  EXPECT_TRUE(findings_in("block_trace=t\n").empty());
}

TEST_F(ConfigCommand, CheckNamesOptionsWithWhichNoStoreOpens) {
  make_shop();
  const ToolResult found = shell("CELLAR_ENGINE=memtable_bytes=1g cellar config check shop --format json");
  EXPECT_EQ(found.exit, 1) << found.err;
  const Json findings = Json::parse(found.out)["findings"];
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0]["of"], "engine");
  EXPECT_EQ(findings[0]["kind"], "contradiction");
  EXPECT_EQ(shell("CELLAR_ENGINE=memtable_byte=1g cellar config check shop").exit, 2);
  EXPECT_EQ(shell("CELLAR_ENGINE=memtable_bytes=1g cellar config show shop").exit, 2);
}

TEST_F(ConfigCommand, CheckOfAStoreLooksAtItsTables) {
  out_of({"create", "shop", "orders", "d:keep_deleted_cells=ttl"});
  const ToolResult found = run({"config", "check", "shop", "--format", "json"});
  EXPECT_EQ(found.exit, 1) << found.err;
  const Json findings = Json::parse(found.out)["findings"];
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0]["of"], "family orders:d");
  EXPECT_EQ(findings[0]["kind"], "contradiction");
  out_of({"alter", "shop", "orders", "d:ttl_s=1d,keep_deleted_cells=ttl"});
  EXPECT_EQ(out_of({"config", "check", "shop"}), "ok  the options fit together\n");
}

TEST_F(ConfigCommand, InvalidLinesAreNamed) {
  for (const auto& [text, finding] :
       std::vector<std::pair<std::string, std::string>>{{"# good\ncache_bytes = 1m\nnonsense\n", "line 3"},
                                                        {"cache_byte = 1m\n", "did you mean cache_bytes?"},
                                                        {"cache_bytes = much\n", "\"much\""},
                                                        {"[tables t]\n", "invalid section"},
                                                        {"[family t]\n", "invalid section"},
                                                        {"[family t:]\n", "invalid section"},
                                                        {"[engine\n", "invalid section"},
                                                        {"[family t:f]\n[family t:f]\n", "two sections"}}) {
    const Result<Configuration> parsed = parse_configuration(text);
    ASSERT_FALSE(parsed.ok()) << text;
    EXPECT_NE(parsed.status().to_text().find(finding), std::string::npos) << parsed.status().to_text();
  }
  EXPECT_TRUE(parse_configuration("").ok());
  write_file("empty.conf", "");
  EXPECT_EQ(run({"config", "check", "empty.conf"}).exit, 0);
  write_file("bad.conf", "nonsense");
  EXPECT_EQ(run({"config", "check", "bad.conf"}).exit, 2);
  EXPECT_EQ(run({"config", "check", "absent.conf"}).exit, 3);
  EXPECT_EQ(run({"config", "shows", "shop"}).exit, 2);
  EXPECT_EQ(run({"config", "check", "empty.conf", "--set"}).exit, 2);
}

}  // namespace
}  // namespace cellar::testing
