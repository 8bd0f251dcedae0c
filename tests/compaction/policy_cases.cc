// Hand-worked cases of policies: the reader of stores, and the text of plans.
#include "tests/compaction/policy_cases.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <memory>
#include <sstream>

#include "base/plugins.h"
#include "compaction/plan.h"

namespace cellar::testing {
namespace {

// Returns the number at the beginning of `rest`, and moves `rest` past it.
int64_t number_of(std::string_view& rest) {
  size_t end = 0;
  const int64_t number = std::stoll(std::string(rest), &end);
  rest.remove_prefix(end);
  return number;
}

// Reads one letter and its number from `rest`, see files_of().
void read_letter(StoreFileInfo& file, std::string_view& rest) {
  const char letter = rest.front();
  EXPECT_NE(std::string_view("bmxdnsoicptrk").find(letter), std::string_view::npos) << rest;
  rest.remove_prefix(1);
  if (letter == 'b') file.busy = true;
  if (letter == 'm') file.major = true;
  if (letter == 'x') file.exclude_from_minor = true;
  if (std::string_view("bmx").find(letter) != std::string_view::npos) return;
  const int64_t number = number_of(rest);
  if (letter == 'd') file.deletes = static_cast<uint64_t>(number);
  if (letter == 'n') file.cells = static_cast<uint64_t>(number);
  if (letter == 's') file.sequence_max = static_cast<uint64_t>(number);
  if (letter == 'o') file.sequence_min = static_cast<uint64_t>(number);
  if (letter == 'i') file.id = static_cast<uint64_t>(number);
  if (letter == 'c') file.created_ms = number;
  if (letter == 'p') file.earliest_put = number;
  if (letter == 'r') file.last_read = static_cast<uint64_t>(number);
  if (letter == 'k') file.earliest_delete = number;
  if (letter != 't') return;
  EXPECT_TRUE(rest.starts_with("to")) << rest;
  rest.remove_prefix(2);
  file.time_min = file.earliest_put = number;
  file.time_max = number_of(rest);
}

StoreFileInfo file_of(std::string_view rest, uint64_t id) {
  StoreFileInfo file;
  file.id = id;
  file.cells = 10;
  file.first_row = "a";
  file.last_row = "z";
  if (const size_t colon = rest.find(':'); colon != rest.npos) {
    const size_t dash = rest.find('-');
    file.first_row = rest.substr(0, dash);
    file.last_row = rest.substr(dash + 1, colon - dash - 1);
    rest.remove_prefix(colon + 1);
  }
  file.bytes = static_cast<uint64_t>(number_of(rest));
  while (!rest.empty()) read_letter(file, rest);
  return file;
}

// Returns the text of the policy: the last word of the case, which may have spaces in its parentheses.
std::string policy_text(const Case& c) {
  const size_t space = c.args.rfind(' ', c.args.find('('));
  return c.args.substr(space == c.args.npos ? 0 : space + 1);
}

int64_t time_of(const Case& c, std::string_view key, int64_t otherwise) {
  const auto text = c.value(key);
  return text ? std::stoll(*text) : otherwise;
}

// A case's policy and store.
struct Store {
  std::unique_ptr<CompactionPolicy> policy;
  std::vector<StoreFileInfo> files;
  StoreShape shape;
  std::string error;

  explicit Store(const Case& c) : files(files_of(c.input)) {
    auto made = Registry<CompactionPolicy>::instance().make(policy_text(c));
    if (made.ok()) policy = std::move(*made);
    if (policy == nullptr) error = made.status().to_text();
    shape.files = files;
    shape.flush_bytes = c.count("flush", 10);
    shape.files_stop = static_cast<uint32_t>(c.count("stop", 100));
    shape.now_ms = time_of(c, "now", 0);
    shape.ttl_ms = time_of(c, "ttl", INT64_MAX);
    shape.erase_before_ms = time_of(c, "erase", INT64_MIN);
    shape.earliest_in_memory = time_of(c, "memory", INT64_MAX);
  }
};

}  // namespace

std::vector<StoreFileInfo> files_of(const std::string& input) {
  std::vector<StoreFileInfo> files;
  std::istringstream lines(input);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    uint32_t level = 0;
    words >> level;
    const size_t first = files.size();
    for (std::string word; words >> word;) files.push_back(file_of(word, files.size() + 1));
    for (size_t i = first; i < files.size(); ++i) {
      files[i].level = level;
      files[i].run = level != 0 ? first + 1 : 0;
    }
  }
  return files;
}

std::string text_of(const CompactionPlan& plan) {
  if (plan.drop) return fmt::format("drop {}", fmt::join(plan.inputs, " "));
  std::string text =
      fmt::format("{} {} to {} of level {}", plan.move ? "move" : "merge", fmt::join(plan.inputs, " "),
                  plan.run == 0 ? "a new run" : fmt::format("run {}", plan.run), plan.level);
  if (plan.file_bytes != 0) text += fmt::format(", files of {}", plan.file_bytes);
  if (!plan.file_starts.empty()) text += fmt::format(", files start at {}", fmt::join(plan.file_starts, " "));
  return text;
}

std::string pick_case(const Case& c) {
  const Store store(c);
  if (store.policy == nullptr) return store.error;
  std::vector<std::string> trace;
  const auto plan = store.policy->pick(store.shape, &trace);
  EXPECT_FALSE(trace.empty() && !plan) << "the policy does not explain why it has no plan";
  std::string lines;
  if (c.command == "explain")
    for (const std::string& line : trace) lines += line + "\n";
  if (!plan) return lines + "nothing";
  const Status checked = check_plan(*plan, store.shape, false);
  EXPECT_TRUE(checked.ok()) << c.input << "\n" << checked.to_text();
  return lines + text_of(*plan) + "\n" + plan->why;
}

std::string debt_case(const Case& c) {
  const Store store(c);
  return store.policy == nullptr ? store.error : std::to_string(store.policy->debt_bytes(store.shape));
}

std::string major_case(const Case& c) {
  const Store store(c);
  if (store.policy == nullptr) return store.error;
  const CompactionPlan plan = store.policy->major_output(store.shape);
  EXPECT_TRUE(plan.inputs.empty() && plan.run == 0 && !plan.move);
  return fmt::format("level {}, files of {}", plan.level, plan.file_bytes);
}

void run_policy_cases(const std::string& file) {
  register_compaction_plugins();
  run_cases(file, [](const Case& c) {
    if (c.command == "pick" || c.command == "explain") return pick_case(c);
    if (c.command == "debt") return debt_case(c);
    return c.command == "major" ? major_case(c) : unknown(c);
  });
}

}  // namespace cellar::testing
