// Goal: the parts of `cellar experiment` are right: its text, its plan, its results in a file, its page.
// Method: texts and their answers in tests/data/experiment/text.txt; fixed results, of which the page is a
// golden file.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "base/plugins.h"
#include "tests/support/data_driven.h"
#include "tests/tools/xml_check.h"
#include "tools/experiment/experiment_page.h"
#include "tools/experiment/experiment_plan.h"
#include "tools/experiment/experiment_summary.h"
#include "tools/experiment/experiment_text.h"
#include "tools/experiment/run_record.h"
#include "tools/experiment/run_results.h"

namespace cellar::testing {
namespace {

namespace fs = std::filesystem;
using Ordered = nlohmann::ordered_json;

constexpr const char* kExperimentData = CELLAR_TEST_DATA_DIR "/experiment/";

std::string bytes_of_file(const std::string& file) {
  std::ostringstream text;
  text << std::ifstream(file, std::ios::binary).rdbuf();
  return text.str();
}

void register_all() {
  register_bloom_plugins();
  register_cache_plugins();
  register_compaction_plugins();
  register_hfile_plugins();
}

// ---- The text

std::string error_text(const Status& status) {
  std::string text = "error: " + std::string(status.message()) + "\n";
  // Each fault on a line of its own.
  for (size_t at; (at = text.find("; ")) != std::string::npos;) text.replace(at, 2, "\n  ");
  if (!status.place().empty()) text += "place: " + std::string(status.place()) + "\n";
  if (!status.hint().empty()) text += "hint: " + std::string(status.hint()) + "\n";
  return text;
}

std::string plan_text(const ExperimentText& text, const ExperimentPlan& plan) {
  std::string answer = text.name + " in " + text.directory + ": " + std::to_string(plan.runs.size()) +
                       " runs, seed " + std::to_string(text.seed) + "\n";
  for (const ExperimentConfiguration& each : plan.configurations) {
    answer += "configuration " + each.label + ":";
    for (const auto& [name, value] : each.options) answer += " " + name + "=" + value;
    answer += "\n";
  }
  for (const ExperimentWorkload& each : plan.workloads) {
    answer += "workload " + each.label + ":";
    for (const auto& [name, value] : each.fields()) answer += " " + name + "=" + value;
    answer += "\n";
  }
  return answer + "first run: " + plan.runs.front().identity + "\n";
}

TEST(ExperimentText, CasesOfTextsAndFaults) {
  register_all();
  run_cases("experiment/text.txt", [](const Case& c) -> std::string {
    if (c.command != "text") return unknown(c);
    const Result<ExperimentText> text = parse_experiment(c.input, "levels.json");
    if (!text.ok()) return error_text(text.status());
    const Result<ExperimentPlan> plan = plan_experiment(*text);
    return plan.ok() ? plan_text(*text, *plan) : error_text(plan.status());
  });
}

// ---- The plan

ExperimentPlan plan_of(const std::string& source) {
  register_all();
  const ExperimentText text = parse_experiment(source, "e.json").value();
  return plan_experiment(text).value();
}

constexpr const char* kTwoByTwo =
    R"({"compaction": ["exploring", "leveled"], "compression": ["none", "snappy", "gz"],
  "workload": ["ycsb_a", "ycsb_b"], "repetitions": 4, "seed": 3})";

TEST(ExperimentPlan, EachRoundHasEachCombinationOnceInAnOrderOfItsOwn) {
  const ExperimentPlan plan = plan_of(kTwoByTwo);
  ASSERT_EQ(plan.configurations.size(), 6u);
  ASSERT_EQ(plan.runs.size(), 48u);
  std::vector<std::vector<std::pair<size_t, size_t>>> rounds(4);
  std::set<std::string> identities;
  for (size_t i = 0; i < plan.runs.size(); ++i) {
    EXPECT_EQ(plan.runs[i].round, i / 12) << "rounds are one after the other";
    rounds[plan.runs[i].round].emplace_back(plan.runs[i].configuration, plan.runs[i].workload);
    identities.insert(plan.runs[i].identity);
    EXPECT_EQ(plan.runs[i].seed, plan.runs[i / 12 * 12].seed) << "the same work within a round";
  }
  EXPECT_EQ(identities.size(), 48u);
  EXPECT_NE(rounds[0], rounds[1]);
  for (auto& round : rounds) {
    std::ranges::sort(round);
    EXPECT_EQ(round, rounds[0]);
    EXPECT_EQ(std::set(round.begin(), round.end()).size(), 12u);
  }
  EXPECT_EQ(plan_of(kTwoByTwo).runs[5].identity, plan.runs[5].identity)
      << "the same text gives the same order";
}

TEST(ExperimentPlan, DefaultsThatAreWrittenOutChangeNoIdentity) {
  const ExperimentPlan plan = plan_of(R"({"workload": "ycsb_a"})");
  EXPECT_EQ(
      plan_of(R"({"workload": "ycsb_a", "compaction": "exploring", "cache_bytes": "64m"})").runs[0].identity,
      plan.runs[0].identity);
  for (const char* other : {R"({"workload": "ycsb_b"})", R"({"workload": "ycsb_a", "compaction": "leveled"})",
                            R"({"workload": "ycsb_a", "seed": 2})", R"({"workload": "ycsb_a", "rows": 5000})",
                            R"({"workload": "ycsb_a", "cache_bytes": "1m"})"})
    EXPECT_NE(plan_of(other).runs[0].identity, plan.runs[0].identity) << other;
}

// ---- Results

RunRecord some_record(uint64_t number) {
  RunRecord record;
  record.identity = "run " + std::to_string(number);
  record.options = {{"compaction", "leveled"}};
  record.round = number;
  record.write_amplification = 3.25;
  record.stall_micros = 17;
  record.latencies = {{"get", 5, 1, 2, 3, 4, 5.5}};
  record.samples = {{.loading = true, .operations = 1000, .seconds = 0.5, .bytes_on_disk = 7}};
  return record;
}

TEST(RunRecord, ALineIsReadAsItWasWritten) {
  const Ordered json = to_json(some_record(3));
  const Result<RunRecord> read = record_of(json);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(to_json(*read), json);
  EXPECT_EQ(read->write_amplification, 3.25);
  EXPECT_FALSE(read->read_amplification.has_value());
  EXPECT_EQ(read->samples.size(), 1u);
  for (const auto& [name, value] : json.items()) {  // without any member, and with another type of it
    Ordered damaged = json;
    damaged.erase(name);
    EXPECT_FALSE(record_of(damaged).ok()) << name;
    damaged = json;
    damaged[name] = Ordered::array({Ordered::array()});
    EXPECT_FALSE(record_of(damaged).ok()) << name;
  }
}

class ExperimentResults : public ::testing::Test {
 protected:
  ExperimentResults()
      : directory_(fs::temp_directory_path() / ("cellar_results_test." + std::to_string(getpid()))) {
    fs::remove_all(directory_);
  }
  ~ExperimentResults() override { fs::remove_all(directory_); }

  std::string path() const { return directory_; }
  void write(const std::string& text) const {
    std::ofstream(results_path(directory_), std::ios::binary) << text;
  }

  const fs::path directory_;
};

TEST_F(ExperimentResults, AFileCutAnywhereKeepsItsWholeLines) {
  {
    const auto results = RunResults::open(path()).value();
    for (uint64_t i = 0; i < 3; ++i) ASSERT_TRUE(results->append(some_record(i)).ok());
  }
  const std::string whole = bytes_of_file(results_path(path()));
  for (size_t bytes = 0; bytes <= whole.size(); bytes += 1 + bytes % 7) {
    write(whole.substr(0, bytes));
    const auto lines =
        static_cast<size_t>(std::count(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(bytes), '\n'));
    const bool torn = bytes > 0 && whole[bytes - 1] != '\n';
    const auto results = RunResults::open(path()).value();
    ASSERT_EQ(results->records().size(), lines) << bytes;
    EXPECT_EQ(results->findings().size(), torn ? 1u : 0u) << bytes;
    ASSERT_TRUE(results->append(some_record(9)).ok());
    EXPECT_EQ(read_results(path()).value().records.size(), lines + 1) << bytes;
    EXPECT_EQ(read_results(path()).value().torn_bytes, 0u);
  }
}

TEST_F(ExperimentResults, ADamagedLineIsNamed) {
  fs::create_directory(directory_);
  write(to_json(some_record(0)).dump() + "\n{\"kind\":\"result\"}\n");
  const Status status = read_results(path()).status();
  EXPECT_TRUE(status.is(Code::kCorruption));
  EXPECT_TRUE(status.place().ends_with("results.jsonl:2")) << status.place();
  EXPECT_FALSE(RunResults::open(path()).ok());
  write("\n");
  EXPECT_FALSE(read_results(path()).ok());
}

TEST_F(ExperimentResults, ADirectoryHasOneWriter) {
  const auto results = RunResults::open(path()).value();
  EXPECT_TRUE(RunResults::open(path()).status().is(Code::kLocked));
  fs::create_directories(fs::path(results->store_path()) / "wal");
  EXPECT_TRUE(results->remove_store().ok());
  EXPECT_FALSE(fs::exists(results->store_path()));
}

TEST_F(ExperimentResults, TheStoreOfAStoppedRunIsRemoved) {
  fs::create_directories(directory_ / "run-under-way" / "tables");
  const auto results = RunResults::open(path()).value();
  ASSERT_EQ(results->findings().size(), 1u);
  EXPECT_FALSE(fs::exists(results->store_path()));
}

// ---- The page

struct FixedResults {
  std::string source = bytes_of_file(std::string(kExperimentData) + "page.json");
  ExperimentText text = parse_experiment(source, "page.json").value();
  ExperimentPlan plan = plan_experiment(text).value();
  std::vector<RunRecord> records;

  explicit FixedResults(size_t lines = SIZE_MAX) {
    std::istringstream in(bytes_of_file(std::string(kExperimentData) + "results.jsonl"));
    for (std::string line; records.size() < lines && std::getline(in, line);)
      records.push_back(record_of(Ordered::parse(line)).value());
  }
  std::string page() const { return experiment_page(text, source, ExperimentSummary(plan, records)); }
};

class ExperimentPage : public ::testing::Test {
 protected:
  ExperimentPage() { register_all(); }
};

TEST_F(ExperimentPage, FixedResultsGiveThisPage) {
  const FixedResults fixed;
  ASSERT_EQ(fixed.records.size(), fixed.plan.runs.size()) << "the text has other runs than the results";
  const std::string page = fixed.page();
  const std::string file = std::string(kExperimentData) + "page.html";
  if (std::getenv("CELLAR_REWRITE") != nullptr) std::ofstream(file, std::ios::binary) << page;
  EXPECT_EQ(page == bytes_of_file(file), true) << "run with CELLAR_REWRITE=1 and look at " << file;
}

TEST_F(ExperimentPage, ItNeedsNothingElse) {
  const std::string page = FixedResults().page();
  for (const char* word :
       {"<script", "javascript:", "onload", "<link", "<img", "<iframe", "url(", "@import", "src="})
    EXPECT_EQ(page.find(word), std::string::npos) << word;
  for (size_t at = 0; (at = page.find("http", at)) != std::string::npos; ++at)
    EXPECT_EQ(page.substr(at, 26), "http://www.w3.org/2000/svg") << "only the name of SVG";
}

TEST_F(ExperimentPage, EachPictureIsXmlAndEachNameIsUnique) {
  const std::string page = FixedResults().page();
  size_t pictures = 0;
  for (size_t at = 0; (at = page.find("<svg", at)) != std::string::npos; ++at, ++pictures) {
    const size_t end = page.find("</svg>", at);
    ASSERT_NE(end, std::string::npos);
    EXPECT_EQ(xml_fault(page.substr(at, end + 6 - at)), "");
  }
  EXPECT_GE(pictures, 10u);
  std::set<std::string> names;
  for (size_t at = 0; (at = page.find(" id=\"", at)) != std::string::npos; ++at) {
    const std::string name = page.substr(at + 5, page.find('"', at + 5) - at - 5);
    EXPECT_TRUE(names.insert(name).second) << name;
  }
}

TEST_F(ExperimentPage, TextsAreEscaped) {
  FixedResults fixed;
  const std::string evil = "<script>alert(\"1\")</script>&amp;]]>\x01";
  fixed.text.name = fixed.text.about = fixed.source = evil;
  for (ExperimentConfiguration& each : fixed.plan.configurations) each.label += evil;
  for (ExperimentWorkload& each : fixed.plan.workloads) each.label += evil;
  for (RunRecord& record : fixed.records) record.version = record.processor = evil;
  const std::string page = fixed.page();
  EXPECT_EQ(page.find("<script"), std::string::npos);
  EXPECT_EQ(page.find('\x01'), std::string::npos);
  EXPECT_NE(page.find("&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;&amp;amp;"), std::string::npos);
  for (size_t at = 0; (at = page.find("<svg", at)) != std::string::npos; ++at)
    EXPECT_EQ(xml_fault(page.substr(at, page.find("</svg>", at) + 6 - at)), "");
}

TEST_F(ExperimentPage, MissingAndForeignResultsAreTold) {
  FixedResults fixed(1);
  std::string page = fixed.page();
  EXPECT_NE(page.find("Results are missing"), std::string::npos);
  EXPECT_EQ(page.find("earlier text"), std::string::npos);
  fixed.records.push_back(fixed.records.front());
  fixed.records.back().identity = "of another text";
  page = fixed.page();
  EXPECT_NE(page.find("earlier text"), std::string::npos);
  FixedResults mixed;
  mixed.records.front().version = "0.0.1";
  mixed.records.back().processor = "another one";
  page = mixed.page();
  EXPECT_NE(page.find("different versions"), std::string::npos);
  EXPECT_NE(page.find("different machines"), std::string::npos);
}

TEST(ExperimentSummary, MediansAndSpreads) {
  const ExperimentPlan plan = plan_of(R"({"workload": "ycsb_a", "repetitions": 3})");
  std::vector<RunRecord> records(3);
  for (size_t i = 0; i < 3; ++i) {
    records[i].identity = plan.runs[i].identity;
    records[i].rate = std::vector<double>{30, 10, 20}[i];
    records[i].samples = {
        {.loading = true, .operations = 100, .seconds = 1, .bytes_on_disk = 10 * (i + 1)},
        {.loading = false, .operations = 200, .seconds = 2 + static_cast<double>(i), .bytes_on_disk = 5}};
  }
  const ExperimentSummary summary(plan, records);
  const std::optional<Spread> rate = spread_of(
      summary.records(0, 0), [](const RunRecord& each) { return std::optional<double>(each.rate); });
  ASSERT_TRUE(rate.has_value());
  EXPECT_EQ(rate->median, 20);
  EXPECT_EQ(rate->least, 10);
  EXPECT_EQ(rate->most, 30);
  const RunCourse disk =
      summary.course(0, 0, [](const RunSample& sample, const RunSample&, const RunSample&) {
        return std::optional<double>(static_cast<double>(sample.bytes_on_disk));
      });
  EXPECT_EQ(disk.at, (std::vector<double>{100, 200}));
  EXPECT_EQ(disk.values, (std::vector<double>{20, 5}));
  // Seconds count from the beginning of a phase; operations go on.
  const RunCourse speed =
      summary.course(0, 0, [](const RunSample& sample, const RunSample& before, const RunSample&) {
        return std::optional<double>(static_cast<double>(sample.operations - before.operations) /
                                     (sample.seconds - before.seconds));
      });
  EXPECT_EQ(speed.values, (std::vector<double>{100, 100.0 / 3}));
  EXPECT_FALSE(spread_of(summary.records(0, 0), latency_figure("get", "p99")).has_value());
}

}  // namespace
}  // namespace cellar::testing
