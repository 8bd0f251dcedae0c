// Shared by the applications: a new store, questions whose answers are checked, and what each read cost.
//
// An application reads real data or a sample, stores it, asks questions, and compares each answer with one
// that was found without Cellar. The first wrong answer ends the program with exit status 1.
#pragma once

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cellar/cellar.h"

namespace example {

using namespace cellar;

// Questions: prints questions, answers and costs, and counts the answers that were right.
class Questions {
 public:
  // Prints a headline.
  void chapter(std::string_view title) { std::printf("\n%s\n", std::string(title).c_str()); }
  // Prints a line of text, indented.
  void say(std::string_view text) { std::printf("  %s\n", std::string(text).c_str()); }

  // Prints a question with its answer, and what the read cost. Error: kCorruption if the answer is not the
  // expected one.
  Status answer(std::string_view question, std::string_view answer, std::string_view expected,
                const ReadStats* cost = nullptr) {
    std::printf("  %s\n    %s\n", std::string(question).c_str(), std::string(answer).c_str());
    if (cost != nullptr) print(*cost);
    return same(question, answer, expected);
  }
  // Compares without printing, for questions in great numbers.
  Status same(std::string_view question, std::string_view answer, std::string_view expected) {
    if (answer != expected)
      return Status::corruption("wrong answer to \"" + std::string(question) + "\": \"" +
                                std::string(answer) + "\" instead of \"" + std::string(expected) + "\"");
    ++checked_;
    return {};
  }
  Status holds(std::string_view claim, bool holds) { return same(claim, holds ? "true" : "false", "true"); }

  static void print(const ReadStats& cost) {
    const uint64_t skipped = cost.files_skipped_range + cost.files_skipped_time + cost.files_skipped_ttl +
                             cost.files_skipped_bloom;
    std::printf("    cost: %" PRIu64 " of %" PRIu64 " files, %" PRIu64 " blocks (%" PRIu64
                " from disk), %" PRIu64 " cells examined, %" PRIu64 " returned\n",
                cost.files_considered - skipped, cost.files_considered,
                cost.blocks_from_cache + cost.blocks_from_disk, cost.blocks_from_disk, cost.cells_examined,
                cost.cells_returned);
  }
  uint64_t checked() const { return checked_; }

 private:
  uint64_t checked_ = 0;
};

// Opens a new store in the folder `path`. Removes the store of an earlier run.
inline Result<std::unique_ptr<Engine>> new_store(const std::string& path, EngineOptions options = {}) {
  std::error_code error;
  if (std::filesystem::exists(path, error) && !std::filesystem::exists(path + "/CURRENT", error) &&
      !std::filesystem::is_empty(path, error))
    return Status::invalid_argument(path + " is neither a store nor empty: name another folder");
  std::filesystem::remove_all(path, error);
  options.create_if_missing = true;
  return Engine::open(path, options);
}

// Returns a value, or a text for a column that is missing.
inline std::string or_none(std::optional<std::string_view> value, std::string_view none = "nothing") {
  return std::string(value.value_or(none));
}

// Adds a word to a list for people: "a, b, c".
inline void append(std::string& list, std::string_view word) {
  if (!list.empty()) list += ", ";
  list += word;
}

// An application's work: the folder of its store, the files named after it, and the questions.
using Application = std::function<Status(const std::string& store, const std::vector<std::string>& files,
                                         Questions& questions)>;

// main() of an application: program [STORE [FILE…]].
inline int run_application(int argc, char** argv, const std::string& store, const Application& application) {
  Questions questions;
  const std::vector<std::string> files(argv + (argc > 2 ? 2 : argc), argv + argc);
  const Status status = application(argc > 1 ? argv[1] : store, files, questions);
  if (!status.ok()) {
    std::fflush(stdout);
    std::fprintf(stderr, "%s\n", status.to_text().c_str());
    return 1;
  }
  std::printf("\n%" PRIu64 " answers were checked, and all are right.\n", questions.checked());
  return 0;
}

}  // namespace example
