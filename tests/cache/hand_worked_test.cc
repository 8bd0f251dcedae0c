// Goal: policies evict what their rules say. Method: text cases below tests/data/cache, worked out by hand:
// the blocks that are asked for, and what each of them drives out.
//
// A case is "run capacity=4 policy(parameter=value)". Its lines hold blocks: a letter, capitals for blocks of
// in-memory families, "a:3" with its bytes (else 1), "-a" to erase it. The answer repeats each word: "a*" was
// found, "a>bc" drove out b and c, "a!" was not kept. The last line names the blocks that are left.
#include <gtest/gtest.h>

#include <array>
#include <cctype>
#include <sstream>
#include <string>

#include "cache/block_cache.h"
#include "tests/support/data_driven.h"

namespace cellar::testing {
namespace {

class Course {
 public:
  Course(uint64_t capacity, const std::string& policy) {
    auto made = BlockCache::create(capacity, policy, 1);
    if (made.ok()) cache_ = std::move(*made);
    error_ = made.status().to_text();
  }
  ~Course() {
    for (BlockSlot& slot : slots_)
      if (cache_ != nullptr) cache_->erase(slot);
  }

  std::string run(const std::string& input) {
    if (cache_ == nullptr) return error_;
    std::string answer;
    std::istringstream lines(input);
    for (std::string line; std::getline(lines, line);) {
      std::istringstream words(line);
      std::string answers;
      for (std::string word; words >> word;) answers += (answers.empty() ? "" : " ") + step(word);
      answer += answers + "\n";
    }
    answer += "left";
    for (const char letter : present()) answer += std::string(" ") + letter;
    return answer;
  }

 private:
  BlockSlot& slot_of(char letter) { return slots_[static_cast<size_t>(letter)]; }

  std::string present() {
    std::string letters;
    for (char letter = 'A'; letter <= 'z'; ++letter)
      if (cache_->holds(slot_of(letter))) letters += letter;
    return letters;
  }

  std::string step(const std::string& word) {
    if (word[0] == '-') {
      cache_->erase(slot_of(word[1]));
      return word;
    }
    const char letter = word[0];
    const std::string name(1, letter);
    if (cache_->lookup(slot_of(letter))) return name + "*";
    const uint64_t bytes = word.size() > 2 ? std::stoull(word.substr(2)) : 1;
    auto* const block = new CachedBlock(bytes, std::isupper(static_cast<unsigned char>(letter)) != 0);
    block->set_id(static_cast<uint64_t>(letter));
    const std::string before = present();
    cache_->insert(slot_of(letter), block);
    if (!cache_->holds(slot_of(letter))) return name + "!";
    std::string gone;
    for (const char each : before)
      if (!cache_->holds(slot_of(each))) gone += each;
    return gone.empty() ? name : name + ">" + gone;
  }

  std::shared_ptr<BlockCache> cache_;
  std::string error_;
  std::array<BlockSlot, 128> slots_;
};

class HandWorked : public ::testing::TestWithParam<const char*> {};

TEST_P(HandWorked, VictimsAreAsOnPaper) {
  run_cases(std::string("cache/") + GetParam() + ".txt", [](const Case& c) {
    if (c.command != "run") return unknown(c);
    const size_t space = c.args.find(' ');
    return Course(c.count("capacity", 4), c.args.substr(space + 1)).run(c.input);
  });
}

INSTANTIATE_TEST_SUITE_P(Policies, HandWorked,
                         ::testing::Values("slru", "sieve", "s3fifo", "arc", "w_tinylfu"),
                         [](const auto& each) { return std::string(each.param); });

}  // namespace
}  // namespace cellar::testing
