// Goal: policies pick what their rules say. Method: text cases below tests/data/compaction, worked out by
// hand: runs of files, and the next plan with its reason. Policies that have tests of their own are not here.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <sstream>

#include "base/plugins.h"
#include "compaction/plan.h"
#include "tests/support/data_driven.h"

namespace cellar::testing {
namespace {

// A number after a letter of a file: "d5". Moves `rest` on.
int64_t number_of(std::string_view& rest) {
  size_t end = 0;
  const int64_t number = std::stoll(std::string(rest), &end);
  rest.remove_prefix(end);
  return number;
}

// "a-c:100" with rows and bytes, or "100" with bytes of the rows a to z. Letters may follow:
// - b: busy; m: of a major compaction; x: excluded from minor compactions
// - n20: cells, else 10; d5: markers among them; c70: written at that time
// - t10to50: timestamps; the puts begin at the first one, or at p30
StoreFileInfo file_of(std::string_view rest) {
  StoreFileInfo file;
  file.first_row = "a";
  file.last_row = "z";
  file.cells = 10;
  if (const size_t colon = rest.find(':'); colon != rest.npos) {
    const size_t dash = rest.find('-');
    file.first_row = rest.substr(0, dash);
    file.last_row = rest.substr(dash + 1, colon - dash - 1);
    rest.remove_prefix(colon + 1);
  }
  file.bytes = static_cast<uint64_t>(number_of(rest));
  while (!rest.empty()) {
    const char letter = rest.front();
    rest.remove_prefix(1);
    if (letter == 'b') file.busy = true;
    if (letter == 'm') file.major = true;
    if (letter == 'x') file.exclude_from_minor = true;
    if (letter == 'n') file.cells = static_cast<uint64_t>(number_of(rest));
    if (letter == 'd') file.deletes = static_cast<uint64_t>(number_of(rest));
    if (letter == 'c') file.created_ms = number_of(rest);
    if (letter == 'p') file.earliest_put = number_of(rest);
    if (letter != 't') continue;
    file.time_min = file.earliest_put = number_of(rest);
    rest.remove_prefix(2);
    file.time_max = number_of(rest);
  }
  return file;
}

// One run a line, the oldest first: "2 a-c:100 d-f:100" is one of level 2. Files are numbered from 1 on.
std::vector<StoreFileInfo> files_of(const std::string& input) {
  std::vector<StoreFileInfo> files;
  std::istringstream lines(input);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    uint32_t level = 0;
    words >> level;
    const uint64_t run = level != 0 ? files.size() + 1 : 0;
    for (std::string word; words >> word;) {
      StoreFileInfo& file = files.emplace_back(file_of(word));
      file.id = files.size();
      file.level = level;
      file.run = run;
    }
  }
  return files;
}

std::string text_of(const CompactionPlan& plan) {
  if (plan.drop) return fmt::format("drop {}", fmt::join(plan.inputs, " "));
  std::string text = fmt::format("{} {}", plan.move ? "move" : "merge", fmt::join(plan.inputs, " "));
  if (plan.run != 0) text += fmt::format(" to run {}", plan.run);
  if (plan.level != 0) text += fmt::format(" of level {}", plan.level);
  if (plan.file_bytes != 0) text += fmt::format(", files of {}", plan.file_bytes);
  if (!plan.file_starts.empty()) text += fmt::format(", files start at {}", fmt::join(plan.file_starts, " "));
  return text;
}

int64_t time_of(const Case& c, std::string_view key, int64_t otherwise) {
  const auto text = c.value(key);
  return text ? std::stoll(*text) : otherwise;
}

// "pick now=100 ttl=50 erase=40 memory=70 flush=10 stop=5 POLICY", each but the policy with a default.
// "explain" also shows the lines of the trace.
std::string pick(const Case& c) {
  const size_t open = c.args.find('(');
  const size_t space = c.args.rfind(' ', open);
  const auto policy =
      Registry<CompactionPolicy>::instance().make(c.args.substr(space == c.args.npos ? 0 : space + 1));
  if (!policy.ok()) return policy.status().to_text();
  const std::vector<StoreFileInfo> files = files_of(c.input);
  StoreShape shape{.files = files};
  shape.flush_bytes = c.count("flush", 1);
  shape.files_stop = static_cast<uint32_t>(c.count("stop", 100));
  shape.now_ms = time_of(c, "now", 0);
  shape.ttl_ms = time_of(c, "ttl", INT64_MAX);
  shape.erase_before_ms = time_of(c, "erase", INT64_MIN);
  shape.earliest_in_memory = time_of(c, "memory", INT64_MAX);
  std::vector<std::string> trace;
  const auto plan = (*policy)->pick(shape, &trace);
  EXPECT_FALSE(trace.empty() && !plan) << "the policy does not explain why it has no plan";
  std::string lines;
  if (c.command == "explain")
    for (const std::string& line : trace) lines += line + "\n";
  if (!plan) return lines + "nothing";
  const Status checked = check_plan(*plan, shape, false);
  EXPECT_TRUE(checked.ok()) << c.input << "\n" << checked.to_text();
  return lines + text_of(*plan) + "\n" + plan->why;
}

class HandWorked : public ::testing::TestWithParam<const char*> {};

TEST_P(HandWorked, PicksAreAsOnPaper) {
  register_compaction_plugins();
  run_cases(std::string("compaction/") + GetParam() + ".txt", [](const Case& c) {
    return c.command == "pick" || c.command == "explain" ? pick(c) : unknown(c);
  });
}

INSTANTIATE_TEST_SUITE_P(Policies, HandWorked,
                         ::testing::Values("fifo", "ratio", "offpeak", "date_tiered", "stripe", "triggers"),
                         [](const auto& each) { return std::string(each.param); });

}  // namespace
}  // namespace cellar::testing
