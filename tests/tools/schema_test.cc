// Goal: the JSON of every command has the form that its schema in share/cellar/schema says. Method: each
// command runs with --format json, and with jsonl where it has it, on sound, damaged and empty data. Every
// document is compared with the schema it names. A command without a line here fails the test, as does a
// schema without a document.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "tests/tools/schema_check.h"
#include "tests/tools/tool_runner.h"

namespace cellar::testing {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using Strings = std::vector<std::string>;

// Commands whose standard output is no document: their --format is for errors.
const std::set<std::string> kWithoutDocument = {"alter",     "create", "delete",     "delete-rows",
                                                "deleteall", "drop",   "export",     "flush",
                                                "plot",      "put",    "checkpoint", "truncate"};

class Schemas : public ToolTest {
 protected:
  // Names of all commands that take --format json; whether also jsonl.
  std::map<std::string, bool> commands_with_json() const {
    std::map<std::string, bool> commands;
    std::istringstream lines(out_of({"help"}));
    for (std::string line; std::getline(lines, line);) {
      if (!line.starts_with("  ") || line.size() < 3 || line[2] == ' ') continue;
      const std::string name = line.substr(2, line.find(' ', 2) - 2);
      const std::string help = out_of({name, "--help"});
      if (help.find("--format table|json") == std::string::npos) continue;
      commands[name] = help.find("--format table|json|jsonl") != std::string::npos;
    }
    return commands;
  }

  void furnish() const {
    make_shop();
    out_of({"flush", "shop"});
    out_of({"put", "shop", "orders", "user44", "d:name", "in the log"});
    for (const char* name : {"versions.hfile", "weblog.hfile"}) fs::copy(example_file(name), path(name));
    const std::string bytes = read_file("versions.hfile");
    const auto damage = [&](const std::string& name, size_t at) {
      std::string copy = bytes;
      copy[at] = static_cast<char>(copy[at] ^ 0x10);
      write_file(name, copy);
    };
    damage("body.hfile", 1500);
    damage("magic.hfile", 893);
    damage("index.hfile", 9600);
    damage("bloom.hfile", 9330);
    fs::copy(path("shop"), path("torn"), fs::copy_options::recursive);
    fs::remove(path("torn/CURRENT"));
    std::string last;
    for (const auto& entry : fs::directory_iterator(path("torn/wal")))
      last = std::max(last, entry.path().filename().string());
    std::string log = read_file("torn/wal/" + last);
    log[200] = static_cast<char>(log[200] ^ 1);
    write_file("torn/wal/" + last, log);
    run({"trace", "record", "scan.trace", "--", "count", "shop", "orders"});
    write_file("none.hfile", std::string(9999, 'x'));
    write_file("cells.jsonl", R"({"row":"r","family":"d","qualifier":"q","ts":5,"type":"Put","value":"v"})"
                              "\n");
    ASSERT_EQ(shell("CELLAR_ENGINE=block_trace=shop.trace cellar scan shop orders").exit, 0);
    write_file("tiny.json", R"({"repetitions":1,"log_segment_bytes":"64k",
        "workload":{"name":"ycsb_a","rows":100,"operations":100}})");
    write_file("bench.json", R"({"benchmarks":[{"name":"get/k:1","real_time":2.5,"time_unit":"us"}]})");
  }

  static std::string fixture(const std::string& name) {
    return CELLAR_SOURCE_DIR "/tests/data/hfile/hbase-writer/" + name + ".hfile";
  }

  // Returns true if the line prints cells alone, whatever its format.
  static bool without_document(const Strings& line) {
    return kWithoutDocument.contains(line[0]) && std::ranges::find(line, "hfile") == line.end();
  }

  // By command; each line runs in the same directory, one after the other.
  static std::vector<Strings> lines() {
    std::vector<Strings> all = lines_of_files();
    for (Strings& line : lines_of_stores()) all.push_back(std::move(line));
    const std::vector<Strings> feeds = {
        {"feed", "create", "shop", "audit", "--table", "orders/d"},
        {"feed", "create", "shop", "all"},
        {"feed", "create", "shop", "all"},
        {"put", "shop", "orders", "r", "d:q", "1"},
        {"bulkload", "ingest", "out", "shop", "orders", "--by", "copy"},
        {"truncate", "shop", "orders"},
        {"feed", "list", "shop"},
        {"feed", "read", "shop", "audit"},
        {"feed", "read", "shop", "all", "--acknowledge"},
        {"feed", "drop", "shop", "audit"},
        {"wal", "dump", "shop"},
        {"wal", "dump", "shop", "--cells"},
        {"wal", "verify", "shop"},
        {"wal", "dump", "torn"},
        {"wal", "verify", "torn"},
        {"manifest", "dump", "shop"},
        {"manifest", "check", "shop"},
        {"manifest", "check", "torn"},
        {"manifest", "history", "shop"},
        {"repair", "shop", "--dry-run"},
        {"repair", "torn", "--dry-run"},
        {"repair", "torn"},
        {"trace", "info", "scan.trace"},
        {"trace", "replay", "scan.trace", "replayed", "--load"},
    };
    all.insert(all.end(), feeds.begin(), feeds.end());
    return all;
  }

  static std::vector<Strings> lines_of_files() {
    return {
        {"inspect", "versions.hfile"},
        {"inspect", "versions.hfile", "weblog.hfile", "--all"},
        {"inspect", fixture("index_3_levels"), fixture("tags_NONE"), fixture("empty"), fixture("metablocks"),
         "--all", "--limit", "3"},
        {"inspect", "versions.hfile", "--block", "2", "--cells", "--limit", "2"},
        {"inspect", fixture("tagscomp_FAST_DIFF"), "--block", "0", "--cells"},
        {"inspect", "body.hfile", "--block", "1", "--cells"},
        {"inspect", "magic.hfile", "--all", "--block", "@892"},
        {"inspect", "index.hfile", "bloom.hfile", "--all", "--block", "@892"},
        {"inspect", "none.hfile"},
        {"verify", "versions.hfile", "body.hfile", "magic.hfile", "index.hfile", "bloom.hfile", "none.hfile",
         "shop", "--level", "deep"},
        {"dump", "versions.hfile", "--limit", "3"},
        {"dump", fixture("tags_NONE"), "--tags", "--mvcc", "--limit", "3"},
        {"dump", "versions.hfile", "--keys", "--row", "nowhere"},
        {"dump", "versions.hfile", "--keys"},
        {"dump", "body.hfile"},
        {"stats", "versions.hfile", "shop"},
        {"find", "row-003", "versions.hfile", "shop"},
        {"find", "user44", "shop", "--thorough"},
        {"diff", "versions.hfile", "weblog.hfile", "--meta"},
        {"rewrite", "versions.hfile", "-o", "rewritten.hfile"},
        {"rewrite", "versions.hfile", "--estimate", "--compression", "gz,none"},
        {"filter", "versions.hfile", "-o", "filtered.hfile", "--row", "row-001"},
        {"merge", "versions.hfile", "rewritten.hfile", "-o", "merged.hfile", "--major"},
        {"split", "versions.hfile", "-o", ".", "--parts", "2"},
        {"salvage", "body.hfile", "-o", "saved1.hfile"},
        {"salvage", "magic.hfile", "-o", "saved2.hfile"},
        {"salvage", "index.hfile", "-o", "saved3.hfile"},
    };
  }

  static std::vector<Strings> lines_of_stores() {
    return {
        {"create", "shop", "more", "d:metadata.note=mine,IS_MOB=true", "--set", "OWNER=me"},
        {"create", "shop", "orders", "d"},
        {"alter", "shop", "more", "d:ttl=5d"},
        {"simulate", "--data", "1MiB", "--memtable-bytes", "64KiB", "--times", "2"},
        {"simulate", "--data", "1MiB", "--memtable-bytes", "64KiB", "--times", "2", "--device", "disk"},
        {"put", "shop", "more", "r", "d:q", "1"},
        {"append", "shop", "more", "r", "d:q", "2"},
        {"incr", "shop", "more", "r", "d:n", "5"},
        {"get-counter", "shop", "more", "r", "d:n"},
        {"get", "shop", "orders", "user42", "--explain"},
        {"get", "shop", "orders", "nobody"},
        {"get", "shop", "nothing", "r"},
        {"scan", "shop", "orders", "--explain"},
        {"scan", "shop", "orders", "--raw"},
        {"incr", "shop", "orders", "n", "c:count"},
        {"count", "shop", "orders"},
        {"list", "shop"},
        {"estimate", "shop", "orders", "--stop", "user43"},
        {"estimate", "shop", "orders", "--parts", "3"},
        {"estimate", "shop", "orders", "--parts", "3", "--decode", "row=key(user raw)"},
        {"aggregate", "shop", "orders", "--column", "c", "--count-bad"},
        {"aggregate", "shop", "orders", "--column", "d", "--as", "decimal", "--group-by", "bytes:5",
         "--count-bad", "--explain", "--decode", "row=key(user raw)"},
        {"scan", "shop", "orders", "--decode", "row=key(user raw)"},
        {"snapshot", "create", "shop", "before"},
        {"snapshot", "list", "shop"},
        {"create", "shop", "followed", "d:delete_order=sequence"},
        {"second-table", "create", "shop", "by_mail", "followed", "--key", "d:mail, row"},
        {"second-table", "verify", "shop", "by_mail"},
        {"second-table", "list", "shop"},
        {"describe", "shop"},
        {"describe", "shop", "orders"},
        {"status", "shop"},
        {"metrics", "shop"},
        {"config", "show", "shop"},
        {"config", "explain", "files_stop"},
        {"config", "check", "shop"},
        {"delete", "shop", "more", "r", "d:q"},
        {"deleteall", "shop", "more", "r"},
        {"delete-rows", "shop", "more", "--prefix", "r"},
        {"flush", "shop"},
        {"explain-space", "shop"},
        {"explain-space", "shop", "orders", "--cells-max", "1"},
        {"compact", "shop", "--explain"},
        {"compact", "shop", "--major"},
        {"export", "shop", "orders"},
        {"export", "shop", "orders", "--to", "hfile", "-o", "out"},
        {"bulkload", "check", "out"},
        {"bulkload", "check", "empty"},
        {"bulkload", "plan", "out", "--table", "orders"},
        {"bulkload", "ingest", "out", "shop", "orders", "--by", "copy"},
        {"load", "shop", "more", "cells.jsonl"},
        {"copy", "shop", "copied"},
        {"put", "copied", "more", "r", "d:q", "another"},
        {"copy", "shop", "copied", "more", "--verify", "only"},
        {"copy", "shop", "copied"},
        {"shell", "shop", "-c", "exists 'orders'"},
        {"shell", "shop", "-c", "show_filters"},
        {"drop", "shop", "more"},
        {"checkpoint", "shop", "copy"},
        {"truncate", "copy", "orders"},
        {"experiment", "tiny.json", "--dry-run"},
        {"experiment", "tiny.json"},
        {"plot", "bench.json"},
        {"simulate", "cache", "shop.trace", "--sizes", "50%"},
        {"version"},
    };
  }

  void expect_fits(const Json& document, const std::string& name, const std::string& what) {
    const Json schema = schema_of(name);
    ASSERT_FALSE(schema.is_discarded()) << what << ": no share/cellar/schema/" << name << ".json";
    for (const std::string& fault : schema_faults(document, schema)) ADD_FAILURE() << what << ": " << fault;
    held_.insert(name);
  }

  // A line of JSON Lines is an element of a list of the document, or some of its other members. If there are
  // lines of several kinds, "kind" says which.
  static bool fits_as_line(Json line, const Json& schema) {
    if (fits_as_part(line, schema)) return true;
    return line.erase("kind") == 1 && fits_as_part(line, schema);
  }
  static bool fits_as_part(const Json& line, const Json& schema) {
    bool members = true;
    for (const auto& [name, value] : line.items()) members = members && schema["properties"].contains(name);
    if (members) return true;
    for (const auto& [name, property] : schema["properties"].items()) {
      if (property.contains("items") && schema_faults(line, property["items"]).empty()) return true;
    }
    return false;
  }

  std::set<std::string> held_;
};

TEST_F(Schemas, EveryCommandPrintsWhatItsSchemaSays) {
  furnish();
  const std::map<std::string, bool> commands = commands_with_json();
  EXPECT_GE(commands.size(), 28u);
  std::set<std::string> tried;
  for (const Strings& line : lines()) {
    std::string what = "cellar";
    for (const std::string& word : line) what += " " + word;
    SCOPED_TRACE(what);
    tried.insert(line[0]);
    Strings words = line;
    words.insert(words.end(), {"--format", "json"});
    const ToolResult result = run(words);
    if (result.exit > 1) {
      const size_t error = result.err.find("{\"error\"");
      ASSERT_NE(error, std::string::npos) << result.err;
      expect_fits(Json::parse(result.err.substr(error), nullptr, false), "error", what);
    }
    const Json document = Json::parse(result.out, nullptr, false);
    if (without_document(line)) {
      EXPECT_FALSE(document.is_object() && document.contains("schema"))
          << "it has a document: hold it to a schema";
      continue;
    }
    if (result.exit > 1 && result.out.empty()) continue;
    if (line[0] == "dump" && result.exit == 1) continue;  // cut short where the damage is
    ASSERT_TRUE(document.is_object() && document.contains("schema")) << result.out << result.err;
    const std::string title = document["schema"];
    const std::string name = title.substr(7, title.find('/') - 7);
    EXPECT_EQ(schema_of(name).value("title", ""), title);
    expect_fits(document, name, what);
  }
  for (const auto& [command, jsonl] : commands)
    EXPECT_TRUE(tried.contains(command)) << command << " has --format json, and no line in this test";
  for (const auto& entry : fs::directory_iterator(CELLAR_SOURCE_DIR "/share/cellar/schema"))
    EXPECT_TRUE(held_.contains(entry.path().stem())) << entry.path() << ": nothing was held against it";
}

// A cluster tells of regions, and leaves files and sizes out.
TEST_F(Schemas, ADescriptionOfAClusterAndItsSplitsFit) {
  if (!builds_serve()) return;
  const ToolResult told = on_cluster(
      "cellar create $H orders d --regions 4 --split-by hex && "
      "cellar describe $H --format json >described.json && "
      "cellar shell $H -c \"get_splits 'orders'\" --format json >splits.json");
  ASSERT_EQ(told.exit, 0) << told.err;
  const Json described = Json::parse(read_file("described.json"), nullptr, false);
  expect_fits(described, "describe", "describe");
  EXPECT_EQ(described["tables"][0]["regions"], 4);
  const Json splits = Json::parse(read_file("splits.json"), nullptr, false);
  expect_fits(splits, "shell", "get_splits");
  EXPECT_EQ(splits["answers"].size(), 4u);
}

TEST_F(Schemas, JsonLinesArePartsOfTheDocument) {
  furnish();
  const std::map<std::string, bool> commands = commands_with_json();
  const std::map<std::string, std::string> other_names = {
      {"dump", "cells"}, {"get", "cells"}, {"scan", "cells"}, {"estimate", "range"}};
  std::set<std::string> tried;
  for (const Strings& line : lines()) {
    const auto command = commands.find(line[0]);
    if (command == commands.end() || !command->second || without_document(line)) continue;
    if (line[0] == "find")
      continue;  // its lines are flat: a cell names its place, which holds it in the document
    Strings words = line;
    words.insert(words.end(), {"--format", "jsonl"});
    const auto has = [&](const char* option) { return std::ranges::find(words, option) != words.end(); };
    const auto other = other_names.find(line[0]);
    const Json schema = schema_of(has("--estimate")                          ? "estimate"
                                  : line[0] == "estimate" && has("--parts")  ? "splits"
                                  : line[0] == "compact" && has("--explain") ? "compact.explain"
                                  : line[0] == "simulate" && has("cache")    ? "simulate.cache"
                                  : line[0] == "trace"                       ? "trace." + line[1]
                                  : line[0] == "config" && line[1] != "show" ? "config." + line[1]
                                  : other != other_names.end()               ? other->second
                                                                             : line[0]);
    std::istringstream printed(run(words).out);
    for (std::string text; std::getline(printed, text);) {
      const Json each = Json::parse(text, nullptr, false);
      ASSERT_TRUE(each.is_object()) << text;
      EXPECT_TRUE(fits_as_line(each, schema)) << line[0] << ": " << text.substr(0, 300);
      tried.insert(line[0]);
    }
  }
  EXPECT_GE(tried.size(), 15u);
}

}  // namespace
}  // namespace cellar::testing
