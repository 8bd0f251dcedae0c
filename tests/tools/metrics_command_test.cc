// Goal: `cellar metrics`, `cellar status --watch` and the file of metrics tell the truth about a store. A
// program may have it open. Their OpenMetrics text is valid. Method: the real program next to an engine of
// this process; a strict parser in Python, and promtool where it is installed.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <sstream>
#include <thread>

#include "cellar/cellar.h"
#include "tests/support/metric_samples.h"
#include "tests/tools/schema_check.h"
#include "tests/tools/tool_runner.h"
#include "tools/store/status_watch.h"

namespace cellar::testing {
namespace {

using Json = nlohmann::json;

class MetricsCommand : public ToolTest {
 protected:
  static std::string parser() { return "python3 " CELLAR_SOURCE_DIR "/tests/tools/openmetrics.py "; }
  // Fails unless the file is valid, for the parser and for promtool.
  void expect_valid(const std::string& file) const {
    const ToolResult parsed = shell(parser() + file);
    EXPECT_EQ(parsed.exit, 0) << parsed.err << read_file(file);
    expect_checked(file);
  }
  // Fails if promtool complains.
  void expect_checked(const std::string& file) const {
    const ToolResult checked =
        shell("command -v promtool >/dev/null || exit 0; promtool check metrics <" + file);
    // promtool reads the older text format, in which TYPE has the suffix of counters, too. It may warn (3),
    // but must not refuse (1).
    EXPECT_TRUE(checked.exit == 0 || checked.exit == 3) << checked.out << checked.err;
    EXPECT_EQ(checked.err.find("error while linting"), std::string::npos) << checked.err;
  }
  std::unique_ptr<Engine> open(EngineOptions options = {}) const {
    options.create_if_missing = true;
    auto engine = Engine::open(path("live").string(), options);
    EXPECT_TRUE(engine.ok()) << engine.status().to_text();
    return engine.ok() ? std::move(*engine) : nullptr;
  }
  static std::shared_ptr<Table> filled(Engine& engine, int rows) {
    auto table = engine.open_or_create_table("t", {.families = {{.name = "f"}}});
    EXPECT_TRUE(table.ok()) << table.status().to_text();
    for (int i = 0; i < rows; ++i)
      EXPECT_TRUE((*table)->put(Put("row" + std::to_string(i)).add("f", "q", "value")).ok());
    return *table;
  }
};

TEST_F(MetricsCommand, TheParserFindsEachFault) {
  const ToolResult tested = shell(parser() + "--self-test");
  EXPECT_EQ(tested.exit, 0) << tested.err;
}

TEST_F(MetricsCommand, TheTextIsValidAndEqualsTheJson) {
  make_shop();
  out_of({"flush", "shop"});
  write_file("shop.prom", out_of({"metrics", "shop", "--openmetrics"}));
  expect_valid("shop.prom");
  const std::string text = read_file("shop.prom");
  const Json json = json_of({"metrics", "shop"});
  EXPECT_TRUE(has_sample(text, "cellar_store_bytes", "", json["store_bytes"].dump()));
  EXPECT_NE(text.find("cellar_store_bytes{store=" + json["identity"].dump() + "} "), std::string::npos);
  ASSERT_EQ(json["families"].size(), 4u);
  for (const Json& family : json["families"]) {
    const std::string labels = "table=" + family["table"].dump() + ",family=" + family["family"].dump();
    EXPECT_TRUE(has_sample(text, "cellar_family_put_bytes_total", labels, family["bytes_put"].dump()));
  }
  EXPECT_FALSE(json.contains("engine"));  // that of the reader would be mistaken for the writer's
  EXPECT_EQ(text.find("cellar_operations"), std::string::npos);
  // Nor does the reader know how well the writer is.
  EXPECT_FALSE(json.contains("health") || json.contains("troubles"));
  EXPECT_EQ(text.find("cellar_healthy"), std::string::npos);
  EXPECT_EQ(text.find("cellar_troubles"), std::string::npos);
  EXPECT_EQ(json["space_amplification"], 1);
  EXPECT_NE(out_of({"metrics", "shop"}).find("orders:d"), std::string::npos);
}

TEST_F(MetricsCommand, NamesThatAreNoUtf8AreEscaped) {
  std::filesystem::create_directory(path("caf\xe9"));
  {
    EngineOptions options;
    options.create_if_missing = true;
    const auto engine = Engine::open(path("caf\xe9").string(), options);
    ASSERT_TRUE(engine.ok()) << engine.status().to_text();
    ASSERT_TRUE((*engine)->create_table("t", {.families = {{.name = "\xe9"}}}).ok());
  }
  const Json json = json_of({"metrics", "caf\xe9"});
  EXPECT_EQ(json["path"], "caf\\xE9");
  EXPECT_EQ(json["families"][0]["family"], "\\xE9");
  write_file("cafe.prom", out_of({"metrics", "caf\xe9", "--openmetrics"}));
  expect_valid("cafe.prom");
}

// promtool warns of OpenMetrics, but finds nothing to say of the older format.
TEST_F(MetricsCommand, TheOlderTextHasNoWarning) {
  make_shop();
  write_file("older.prom", out_of({"metrics", "shop", "--prometheus"}));
  const ToolResult checked =
      shell("command -v promtool >/dev/null || exit 0; promtool check metrics <older.prom");
  EXPECT_EQ(checked.exit, 0) << checked.out << checked.err;
  const std::string text = read_file("older.prom");
  EXPECT_NE(text.find("# TYPE cellar_family_put_bytes_total counter\n"), std::string::npos) << text;
  EXPECT_EQ(text.find("# EOF"), std::string::npos);
}

TEST_F(MetricsCommand, FormatsExcludeEachOther) {
  make_shop();
  EXPECT_EQ(run({"metrics", "shop", "--openmetrics", "--prometheus"}).exit, 2);
  EXPECT_EQ(run({"metrics", "shop", "--prometheus", "--format", "json"}).exit, 2);
  const ToolResult refused = run({"metrics", "shop", "--openmetrics", "--format", "json"});
  EXPECT_EQ(refused.exit, 2);
  EXPECT_NE(refused.err.find("--openmetrics is a format of its own"), std::string::npos);
  EXPECT_EQ(run({"metrics", "nothing"}).exit, 3);
}

TEST_F(MetricsCommand, ARunningEngineIsSeenFromOutside) {
  EngineOptions options;
  options.metrics_file = path("live.prom").string();
  options.metrics_interval_s = 1;
  const std::unique_ptr<Engine> engine = open(options);
  ASSERT_NE(engine, nullptr);
  const auto table = filled(*engine, 100);
  EXPECT_GT(json_of({"metrics", "live"})["last_sequence"], 99);
  const auto ends = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  const auto is_written = [&] {
    return has_sample(read_file("live.prom"), "cellar_operations_total", "operation=\"put\"", "100");
  };
  while (!is_written() && std::chrono::steady_clock::now() < ends)
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_TRUE(is_written());
  expect_checked("live.prom");
  const Json all = Json::parse(to_json(engine->metrics()));
  EXPECT_EQ(all["engine"]["operations"][5]["name"], "put");
  EXPECT_EQ(all["engine"]["operations"][5]["count"], 100);
  EXPECT_EQ(schema_faults(all, schema_of("metrics")), std::vector<std::string>());
}

TEST_F(MetricsCommand, CommandsThatReadLeaveTheFileAlone) {
  make_shop();
  const std::string file = path("seen.prom").string();
  const ToolResult result = shell("CELLAR_ENGINE=metrics_file=" + file + " cellar status shop");
  EXPECT_EQ(result.exit, 0) << result.err;
  EXPECT_FALSE(std::filesystem::exists(file));
  EXPECT_EQ(shell("CELLAR_ENGINE=metrics_file=" + file + " cellar flush shop").exit, 0);
  EXPECT_TRUE(std::filesystem::exists(file));
}

// The collector runs as another user. The store itself stays closed to others.
TEST_F(MetricsCommand, OtherUsersMayReadTheFile) {
  make_shop();
  const ToolResult result = shell(
      "umask 022; CELLAR_ENGINE=metrics_file=m.prom cellar flush shop && stat -c %a m.prom shop/CURRENT; "
      "umask 077; CELLAR_ENGINE=metrics_file=n.prom cellar flush shop && stat -c %a n.prom");
  EXPECT_NE(result.out.find("644\n600\n"), std::string::npos) << result.out << result.err;
  EXPECT_TRUE(result.out.ends_with("600\n")) << result.out;
}

// The paths differ, but lead into the store.
TEST_F(MetricsCommand, TheFileIsKeptOutOfTheStore) {
  make_shop();
  std::filesystem::create_directory_symlink(path("shop"), path("link"));
  for (const std::string file : {"shop/a.prom", "./shop/a.prom", "link/a.prom"}) {
    const ToolResult refused = shell("CELLAR_ENGINE=metrics_file=" + file + " cellar flush shop/");
    EXPECT_NE(refused.exit, 0) << file;
    EXPECT_NE(refused.err.find("a store's directory"), std::string::npos) << refused.err;
  }
}

TEST_F(MetricsCommand, AWatchPrintsALineForEachPeriod) {
  const std::unique_ptr<Engine> engine = open();
  ASSERT_NE(engine, nullptr);
  const auto table = filled(*engine, 10);
  const std::string text = out_of({"status", "live", "--watch", "100ms", "--count", "3"});
  EXPECT_EQ(std::ranges::count(text, '\n'), 4) << text;
  EXPECT_TRUE(text.starts_with("time "));
  EXPECT_EQ(text.find("health"), std::string::npos);
  const std::string objects =
      out_of({"status", "live", "--watch", "100ms", "--count", "2", "--format", "jsonl"});
  EXPECT_EQ(std::ranges::count(objects, '\n'), 2) << objects;
  EXPECT_EQ(Json::parse(objects.substr(0, objects.find('\n')))["schema"], "cellar.status/1");
}

TEST_F(MetricsCommand, AWatchFollowsAWriter) {
  const std::unique_ptr<Engine> engine = open();
  ASSERT_NE(engine, nullptr);
  const auto table = filled(*engine, 10);
  std::atomic<bool> over = false;
  std::thread writing([&] {
    for (int i = 0; !over; ++i) {
      EXPECT_TRUE(table->put(Put("later" + std::to_string(i)).add("f", "q", "v")).ok());
      if (i % 10 == 9) {
        EXPECT_TRUE(engine->flush().ok());
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  });
  std::istringstream lines(
      out_of({"status", "live", "--watch", "100ms", "--count", "4", "--format", "jsonl"}));
  over = true;
  writing.join();
  uint64_t last = 0;
  int growths = 0;
  for (std::string line; std::getline(lines, line);) {
    const uint64_t sequence = Json::parse(line)["last_sequence"];
    growths += last != 0 && sequence > last ? 1 : 0;
    last = sequence;
  }
  EXPECT_EQ(growths, 3);
}

TEST_F(MetricsCommand, AWatchRedrawsOnATerminal) {
  make_shop();
  const std::string bytes = on_terminal({"status", "shop", "--watch", "100ms", "--count", "2"});
  EXPECT_NE(bytes.find("Ctrl-C ends"), std::string::npos) << bytes;
  EXPECT_NE(bytes.find("\x1b[9A"), std::string::npos)
      << bytes;  // the second state takes the place of the first
}

TEST_F(MetricsCommand, AWatchPrintsLinesOnATerminalThatIsTooLow) {
  make_shop();
  const std::string bytes =
      on_terminal({"status", "shop", "--watch", "100ms", "--count", "2"}, {.columns = 100, .rows = 9});
  EXPECT_EQ(bytes.find("\x1b["), std::string::npos) << bytes;
  EXPECT_NE(bytes.find("writes/s"), std::string::npos) << bytes;
}

// A line as wide as the terminal would lose its last character.
TEST_F(MetricsCommand, AWatchLeavesTheLastColumnFree) {
  make_shop();
  const std::string bytes =
      on_terminal({"status", "shop", "--watch", "100ms", "--count", "1"}, {.columns = 20, .rows = 50});
  std::istringstream lines(bytes);
  for (std::string line; std::getline(lines, line);)
    EXPECT_LE(line.substr(0, line.find("\x1b[K")).find_last_not_of('\r') + 1, 19u) << line;
}

TEST_F(MetricsCommand, AWatchGoesOnIfTheStoreIsAwayForAMoment) {
  make_shop();
  const ToolResult result = shell(
      "cellar status shop --watch 200ms --count 10 & sleep 0.7; mv shop away; sleep 0.7; mv away shop; wait "
      "$!");
  EXPECT_EQ(result.exit, 0) << result.err;
  EXPECT_EQ(std::ranges::count(result.out, '\n'), 11) << result.out;
  EXPECT_NE(result.out.find("the store shop does not exist"), std::string::npos) << result.out;
  const size_t failed = result.out.find('\n', result.out.rfind("does not exist"));
  EXPECT_LT(failed + 1, result.out.size()) << result.out;  // and a state again
}

TEST_F(MetricsCommand, AWatchEndsWithTheStatusOfTheSignal) {
  make_shop();
  EXPECT_EQ(shell("timeout --preserve-status -s INT 1 cellar status shop --watch 1").exit, 130);
  EXPECT_EQ(shell("timeout --preserve-status -s TERM 1 cellar status shop --watch 1").exit, 143);
  EXPECT_EQ(shell("cellar status shop --watch 100ms | head -2").exit, 0);  // nobody reads on
}

TEST_F(MetricsCommand, AWatchRefusesWhatItCannotDo) {
  make_shop();
  for (const auto& [words, text] : std::vector<std::pair<std::vector<std::string>, std::string>>{
           {{"status", "shop", "--watch", "soon"}, "\"soon"},
           {{"status", "shop", "--watch", "10ms"}, "not a period from 100ms to 1d"},
           {{"status", "shop", "--watch", "1", "--format", "json"}, "--format jsonl"},
           {{"status", "shop", "--count", "2"}, "--count needs --watch"}}) {
    const ToolResult refused = run(words);
    EXPECT_EQ(refused.exit, 2) << words[2];
    EXPECT_NE(refused.err.find(text), std::string::npos) << refused.err;
  }
  EXPECT_EQ(run({"status", "nothing", "--watch", "1"}).exit, 3);
  EXPECT_EQ(*parse_period_ms("2"), 2000);
  EXPECT_EQ(*parse_period_ms("500ms"), 500);
  EXPECT_FALSE(parse_period_ms("").ok());
  EXPECT_FALSE(parse_period_ms("99999999999999999999").ok());
}

}  // namespace
}  // namespace cellar::testing
