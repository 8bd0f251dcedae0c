// Made-up edits of made-up articles, and the text as of a date by looking at every edit.
#pragma once

#include <random>
#include <string>
#include <vector>

#include "examples/application.h"

namespace example {

constexpr int64_t kFirstMs = 1'100'000'000'000;  // November 2004

struct Edit {
  int64_t page = 0, revision = 0, time_ms = 0;
  std::string text, user;
};
using Edits = std::vector<Edit>;

// 100 pages with 1 to 60 revisions. Each revision changes a word or adds some.
inline Edits make_edits() {
  std::mt19937 random(24);
  const std::vector<std::string> words = {"the",    "river", "of",     "a",      "small", "town",  "and",
                                          "its",    "old",   "bridge", "built",  "by",    "stone", "year",
                                          "market", "north", "many",   "people", "was",   "in"};
  Edits edits;
  for (int64_t page = 1; page <= 100; ++page) {
    std::vector<std::string> text;
    int64_t time = kFirstMs + static_cast<int64_t>(random() % 1'000'000'000);
    const auto revisions = static_cast<int64_t>(page == 7 ? 60 : 1 + random() % 30);
    for (int64_t revision = 1; revision <= revisions; ++revision) {
      for (size_t n = 0; n < (revision == 1 ? 80 : random() % 20); ++n)
        text.push_back(words[random() % words.size()]);
      text[random() % text.size()] = words[random() % words.size()];
      Edit edit = {page, revision, time, "", "user" + std::to_string(random() % 9)};
      for (const std::string& word : text) edit.text += word + " ";
      edits.push_back(edit);
      time += 1 + static_cast<int64_t>(random() % 3'000'000'000);
    }
  }
  return edits;
}

// Returns the text of the last revision up to the date.
inline std::string by_search(const Edits& edits, int64_t page, int64_t date_ms) {
  const Edit* best = nullptr;
  for (const Edit& edit : edits) {
    if (edit.page == page && edit.time_ms <= date_ms && (best == nullptr || edit.revision > best->revision))
      best = &edit;
  }
  return best == nullptr ? "nothing" : best->text;
}

}  // namespace example
