// Goal: `cellar stats` counts what is there. Method: the same figures are computed here from the output of
// `dump` for HBase's files, and from cells that this test wrote. The documents are compared with the schema.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <sstream>
#include <tuple>

#include "base/bytes.h"
#include "cellar/hfile_builder.h"
#include "tests/tools/schema_check.h"
#include "tests/tools/tool_runner.h"

namespace cellar::testing {
namespace {

using Json = nlohmann::json;
using Strings = std::vector<std::string>;

class Stats : public ToolTest {
 protected:
  std::vector<Json> dump(Strings files, const Strings& more = {}) const {
    files.insert(files.begin(), "dump");
    files.insert(files.end(), {"--format", "jsonl"});
    files.insert(files.end(), more.begin(), more.end());
    std::vector<Json> cells;
    std::istringstream lines(out_of(files));
    for (std::string text; std::getline(lines, text);) cells.push_back(Json::parse(text));
    return cells;
  }

  Json stats(Strings words) const {
    words.insert(words.begin(), "stats");
    Json json = json_of(words);
    for (const std::string& fault : schema_faults(json, schema_of("stats"))) ADD_FAILURE() << fault;
    EXPECT_EQ(json["schema"], "cellar.stats/1");
    EXPECT_EQ(json["complete"], true);
    return json;
  }

  static Json distribution(const Json& stats, const std::string& name) {
    for (const Json& each : stats["distributions"])
      if (each["name"] == name) return each;
    ADD_FAILURE() << "no distribution " << name;
    return {};
  }

  // Expects the right description of these values.
  static void expect_describes(const Json& said, std::vector<int64_t> values) {
    SCOPED_TRACE(said["name"].get<std::string>());
    std::ranges::sort(values);
    ASSERT_FALSE(values.empty());
    EXPECT_EQ(said["count"], values.size());
    EXPECT_EQ(said["min"], values.front());
    EXPECT_EQ(said["max"], values.back());
    double sum = 0;
    for (const int64_t value : values) sum += static_cast<double>(value);
    const double mean = sum / static_cast<double>(values.size());
    EXPECT_NEAR(said["mean"].get<double>(), mean, 1e-6 + mean * 1e-12);
    ASSERT_EQ(said["percentiles"].size(), 3u);
    for (const Json& each : said["percentiles"]) {
      const auto percent = each["percent"].get<double>();
      const double rank = std::ceil(percent / 100 * static_cast<double>(values.size()));
      EXPECT_EQ(each["at_most"], values[static_cast<size_t>(rank) - 1]) << percent;
      EXPECT_EQ(each["exact"], true);
    }
    for (const Json& bar : said.value("histogram", Json::array())) {
      EXPECT_EQ(bar["count"], std::ranges::count_if(values, [&](int64_t value) {
                  return bar["from"].get<int64_t>() <= value && value <= bar["to"].get<int64_t>();
                }));
    }
  }

  static int64_t bytes_of(const Json& cell, const char* name) {
    return static_cast<int64_t>(unescaped(cell[name].get<std::string>()).value().size());
  }
  static int64_t key_bytes(const Json& cell) {
    return 12 + bytes_of(cell, "row") + bytes_of(cell, "family") + bytes_of(cell, "qualifier");
  }
  static int64_t value_bytes(const Json& cell) { return bytes_of(cell, "value"); }
};

TEST_F(Stats, FiguresAreThoseOfTheCells) {
  const Strings files = {example_file("versions.hfile"), example_file("weblog.hfile")};
  const Json all = stats({files[0], files[1], "--histogram", "key,value,row,cols,versions,age"});
  std::vector<int64_t> keys, values, row_bytes, row_cells, columns, versions, ages;
  std::map<std::string, int64_t> types;
  int64_t newest = 0;
  size_t cells = 0;
  for (const std::string& file : files) {
    std::map<std::string, std::pair<int64_t, int64_t>> rows;
    std::map<std::string, std::map<std::string, int64_t>> puts;
    for (const Json& cell : dump({file})) {
      const std::string row = cell["row"];
      keys.push_back(key_bytes(cell));
      values.push_back(value_bytes(cell));
      rows[row].first += keys.back() + values.back();
      rows[row].second += 1;
      puts[row];
      if (cell["type"] == "Put") puts[row][cell["qualifier"]] += 1;
      types[cell["type"]] += 1;
      ages.push_back(-cell["ts"].get<int64_t>());
      newest = std::max(newest, cell["ts"].get<int64_t>());
      ++cells;
    }
    for (const auto& [row, sums] : rows) {
      row_bytes.push_back(sums.first);
      row_cells.push_back(sums.second);
      columns.push_back(static_cast<int64_t>(puts[row].size()));
      for (const auto& [column, count] : puts[row]) versions.push_back(count);
    }
  }
  for (int64_t& age : ages) age += newest;
  EXPECT_EQ(all["cells"], cells);
  EXPECT_EQ(all["rows"], row_cells.size());
  EXPECT_EQ(all["columns"], versions.size());
  EXPECT_EQ(all["times"]["newest"], newest);
  for (const auto& [type, count] : types) EXPECT_EQ(all["types"][type], count) << type;
  expect_describes(distribution(all, "key_bytes"), keys);
  expect_describes(distribution(all, "value_bytes"), values);
  expect_describes(distribution(all, "row_bytes"), row_bytes);
  expect_describes(distribution(all, "row_cells"), row_cells);
  expect_describes(distribution(all, "columns"), columns);
  expect_describes(distribution(all, "versions"), versions);
  expect_describes(distribution(all, "age_ms"), ages);
  ASSERT_EQ(all["files"].size(), 2u);
  EXPECT_EQ(all["files"][0]["cells"], 600);
  EXPECT_EQ(all["files"][1]["rows"], 150);
}

TEST_F(Stats, GroupsAddUp) {
  const std::string file = example_file("versions.hfile");
  const std::vector<Json> cells = dump({file});
  std::map<std::string, std::map<std::string, size_t>> expected;
  for (const Json& cell : cells) {
    const std::string qualifier = cell["qualifier"];
    expected["family"][cell["family"]] += 1;
    expected["qualifier"]["cf:" + qualifier] += 1;
    expected["row-prefix"][cell["row"].get<std::string>().substr(0, 4)] += 1;
    expected["row-prefix:6"][cell["row"].get<std::string>().substr(0, 6)] += 1;
  }
  for (const auto& [by, groups] : expected) {
    const Json json = stats({file, "--by", by});
    EXPECT_EQ(json["by"], by);
    ASSERT_EQ(json["groups"].size(), groups.size()) << by;
    for (const Json& group : json["groups"]) {
      const auto found = groups.find(group["group"].get<std::string>());
      ASSERT_NE(found, groups.end()) << group.dump();
      EXPECT_EQ(group["cells"], found->second);
    }
    EXPECT_EQ(json["groups_left_out"]["cells"], 0);
  }
  for (const auto& [by, unit, first] :
       {std::tuple("day", 86400000, "2020-09-13"), std::tuple("hour", 3600000, "2020-09-13T12")}) {
    std::map<int64_t, size_t> counts;
    for (const Json& cell : cells) counts[cell["ts"].get<int64_t>() / unit] += 1;
    const Json json = stats({file, "--by", by});
    ASSERT_EQ(json["groups"].size(), counts.size()) << by;
    EXPECT_EQ(json["groups"][0]["group"], first);
    size_t at = 0;
    for (const auto& [time, count] : counts) EXPECT_EQ(json["groups"][at++]["cells"], count) << by << time;
  }
}

TEST_F(Stats, TheLargestAreFound) {
  const std::string file = example_file("versions.hfile");
  const Json json = stats({file, "--top", "3"});
  std::map<std::string, int64_t> bytes;
  std::map<std::string, int64_t> puts;
  for (const Json& cell : dump({file})) {
    bytes[cell["row"]] += key_bytes(cell) + value_bytes(cell);
    if (cell["type"] == "Put")
      puts[cell["row"].get<std::string>() + cell["qualifier"].get<std::string>()] += 1;
  }
  ASSERT_EQ(json["largest_rows"].size(), 3u);
  ASSERT_EQ(json["most_versions"].size(), 3u);
  std::vector<int64_t> sizes, counts;
  for (const auto& [row, size] : bytes) sizes.push_back(size);
  for (const auto& [column, count] : puts) counts.push_back(count);
  std::ranges::sort(sizes, std::greater());
  std::ranges::sort(counts, std::greater());
  for (size_t i = 0; i < 3; ++i) {
    const Json& row = json["largest_rows"][i];
    const Json& column = json["most_versions"][i];
    EXPECT_EQ(row["bytes"], sizes[i]);
    EXPECT_EQ(row["bytes"], bytes[row["row"]]);
    EXPECT_EQ(column["versions"], counts[i]);
    EXPECT_EQ(column["versions"],
              puts[column["row"].get<std::string>() + column["qualifier"].get<std::string>()]);
  }
  EXPECT_TRUE(stats({file, "--top", "0"})["largest_rows"].empty());
}

// 90,000 values of which no two have the same size would be 4 GB: timestamps are different instead.
TEST_F(Stats, MoreValuesThanAreKeptAreBoundedNotGuessed) {
  auto builder = HFileBuilder::create(posix_file_system(), path("many.hfile").string(),
                                      {.compression = "gz", .block_bytes = 65536});
  ASSERT_TRUE(builder.ok()) << builder.status().to_text();
  constexpr int kCells = 90000;
  for (int i = 0; i < kCells; ++i) {
    const std::string row = "row" + std::to_string(1000000 + i / 3);
    ASSERT_TRUE(builder
                    ->add(Cell(row, "f", "q" + std::to_string(i % 3), int64_t{1000} * i, CellType::kPut,
                               std::string(static_cast<size_t>(i % 50), 'v')))
                    .ok());
  }
  ASSERT_TRUE(builder->finish().ok());
  const Json json = stats({path("many.hfile").string(), "--by", "row-prefix:10", "--now", "90000000"});
  EXPECT_EQ(json["rows"], kCells / 3);
  expect_describes(distribution(json, "columns"), std::vector<int64_t>(kCells / 3, 3));
  const Json age = distribution(json, "age_ms");
  EXPECT_EQ(age["min"], 1000);
  EXPECT_EQ(age["max"], 90000000);
  const Json median = age["percentiles"][0];
  EXPECT_EQ(median["exact"], false);
  EXPECT_GE(median["at_most"], 45000000);
  EXPECT_LE(median["at_most"], 45000000 + 65536);
  EXPECT_EQ(json["groups"].size(), 10000u);
  EXPECT_EQ(json["groups_left_out"]["cells"], kCells - 30000);
  const std::string text = out_of({"stats", path("many.hfile").string(), "--histogram", "none"});
  const size_t line = text.find("\nage");
  ASSERT_NE(line, std::string::npos) << text;
  EXPECT_NE(text.substr(line, text.find('\n', line + 1) - line).find("≤ "), std::string::npos) << text;
}

TEST_F(Stats, ASelectionNarrows) {
  const std::string file = example_file("versions.hfile");
  for (const Strings& more : std::vector<Strings>{{"--row", "row-003"},
                                                  {"--column", "cf:q1", "--types", "put"},
                                                  {"--start", "row-010", "--stop", "row-012"}}) {
    Strings words = {file};
    words.insert(words.end(), more.begin(), more.end());
    EXPECT_EQ(stats(words)["cells"], dump({file}, more).size()) << more[1];
    EXPECT_GT(stats(words)["cells"], 0) << more[1];
  }
}

TEST_F(Stats, LinesHoldTheDocument) {
  const Strings words = {"stats", example_file("versions.hfile"), "--by", "family", "--format", "jsonl"};
  std::map<std::string, int> kinds;
  std::istringstream lines(out_of(words));
  for (std::string text; std::getline(lines, text);) {
    ASSERT_EQ(text.rfind("{\"kind\":\"", 0), 0u) << text;
    kinds[Json::parse(text)["kind"]] += 1;
  }
  EXPECT_EQ(kinds["total"], 1);
  EXPECT_EQ(kinds["file"], 1);
  EXPECT_EQ(kinds["distribution"], 7);
  EXPECT_EQ(kinds["group"], 1);
  EXPECT_EQ(kinds["row"], 5);
  EXPECT_EQ(kinds["column"], 5);
}

TEST_F(Stats, DamageEndsWithWhatWasCounted) {
  std::filesystem::copy(example_file("versions.hfile"), path("damaged.hfile"));
  std::string bytes = read_file("damaged.hfile");
  bytes[1500] = static_cast<char>(bytes[1500] ^ 0x10);
  write_file("damaged.hfile", bytes);
  const ToolResult result = run({"stats", "damaged.hfile", "--format", "json"});
  EXPECT_EQ(result.exit, 1);
  EXPECT_EQ(Json::parse(result.err)["error"]["code"], "CEL-CORRUPTION");
  const Json json = Json::parse(result.out);
  EXPECT_EQ(json["complete"], false);
  EXPECT_EQ(json["cells"], 58) << "the cells of the first block";
  const ToolResult text = run({"stats", "damaged.hfile"});
  EXPECT_NE(text.out.find("INCOMPLETE"), std::string::npos) << text.out;
}

TEST_F(Stats, WrongUsageIsSaid) {
  const std::string file = example_file("versions.hfile");
  EXPECT_EQ(error_of({"stats", file, "--histogram", "value,sizes"}, 2).value("code", ""), "CEL-USAGE");
  EXPECT_EQ(error_of({"stats", file, "--histogram", "valeu"}, 2).value("hint", ""), "did you mean value?");
  EXPECT_EQ(error_of({"stats", file, "--by", "row"}, 2).value("code", ""), "CEL-USAGE");
  EXPECT_EQ(error_of({"stats", file, "--by", "row-prefix:0"}, 2).value("code", ""), "CEL-USAGE");
  EXPECT_EQ(error_of({"stats", file, "--top", "1001"}, 2).value("code", ""), "CEL-USAGE");
  EXPECT_EQ(error_of({"stats", file, "--now", "soon"}, 2).value("code", ""), "CEL-INVALID-ARGUMENT");
  EXPECT_EQ(error_of({"stats"}, 2).value("code", ""), "CEL-USAGE");
  EXPECT_EQ(error_of({"stats", "nowhere"}, 3).value("code", ""), "CEL-NOT-FOUND");
  write_file("noise", "this is no HFile");
  EXPECT_EQ(error_of({"stats", "noise"}, 3).value("code", ""), "CEL-NOT-HFILE");
}

}  // namespace
}  // namespace cellar::testing
