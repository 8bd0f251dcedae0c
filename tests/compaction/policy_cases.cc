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

StoreFileInfo file_of(const std::string& word, uint64_t id) {
  StoreFileInfo file;
  file.id = id;
  const size_t dash = word.find('-');
  const size_t colon = word.find(':');
  file.first_row = word.substr(0, dash);
  file.last_row = word.substr(dash + 1, colon - dash - 1);
  size_t end = 0;
  file.bytes = std::stoull(word.substr(colon + 1), &end);
  file.cells = 10;
  for (std::string rest = word.substr(colon + 1 + end); !rest.empty(); rest = rest.substr(end)) {
    const char kind = rest[0];
    end = 1;
    if (kind == 'b') {
      file.busy = true;
      continue;
    }
    size_t digits = 0;
    const uint64_t number = std::stoull(rest.substr(1), &digits);
    end += digits;
    if (kind == 'd') file.deletes = number;
    if (kind == 's') file.sequence_max = number;
    if (kind == 'o') file.sequence_min = number;
    if (kind == 'i') file.id = number;
    EXPECT_NE(std::string("dsoi").find(kind), std::string::npos) << word;
  }
  return file;
}

// Returns the text of the policy: what follows the words "key=value" of the case.
std::string policy_text(const Case& c) {
  std::string rest = c.args;
  while (rest.starts_with("flush=") || rest.starts_with("stop=")) rest = rest.substr(rest.find(' ') + 1);
  return rest;
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
  if (!plan) return "nothing";
  const Status checked = check_plan(*plan, store.shape, false);
  EXPECT_TRUE(checked.ok()) << c.input << "\n" << checked.to_text();
  return text_of(*plan) + "\n" + plan->why;
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
    if (c.command == "pick") return pick_case(c);
    if (c.command == "debt") return debt_case(c);
    return c.command == "major" ? major_case(c) : unknown(c);
  });
}

}  // namespace cellar::testing
