// The rank of a title is a number that looks like chance, the same on every run.
#include "bench/completions.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <set>
#include <string_view>
#include <utility>

#include "base/random.h"
#include "bench/bed.h"

namespace cellar::bench {
namespace {

std::string made_up_word(uint64_t number) {
  static constexpr const char* kSyllables[] = {"an", "ber", "chi", "do", "el", "for", "gra", "ho",
                                               "in", "ka",  "lo",  "ma", "ne", "or",  "pri", "qua",
                                               "ro", "sta", "ter", "u",  "vi", "wo"};
  Random random(number);
  std::string word;
  for (uint64_t syllables = 2 + random.below(3); syllables > 0; --syllables)
    word += kSyllables[random.below(std::size(kSyllables))];
  return word;
}

using Ranked = std::vector<std::pair<uint64_t, std::string_view>>;

// Takes the ten of highest rank out of titles that share a prefix.
std::string best_ten(const Ranked& all, size_t begin, size_t end) {
  Ranked best(all.begin() + static_cast<std::ptrdiff_t>(begin),
              all.begin() + static_cast<std::ptrdiff_t>(end));
  const size_t count = std::min<size_t>(10, best.size());
  std::partial_sort(best.begin(), best.begin() + static_cast<std::ptrdiff_t>(count), best.end(),
                    std::greater<>());
  std::string json = "[";
  for (size_t i = 0; i < count; ++i)
    json +=
        fmt::format("{}{{\"title\":\"{}\",\"rank\":{}}}", i == 0 ? "" : ",", best[i].second, best[i].first);
  return json + "]";
}

}  // namespace

std::vector<std::string> made_up_titles(size_t draws) {
  Random random(16);
  const auto word = [&] {  // the number of a word, small ones often
    const double unit = random.unit();
    return static_cast<uint64_t>(unit * unit * unit * 3000);
  };
  std::set<std::string> titles;
  for (size_t i = draws; i > 0; --i) {
    std::string title = made_up_word(word());
    for (uint64_t words = random.below(4); words > 0; --words) title += " " + made_up_word(word());
    if (title.size() >= kPrefixMin) titles.insert(title);
  }
  return {titles.begin(), titles.end()};
}

Completions completions_of(const std::vector<std::string>& titles) {
  Ranked ranked;
  for (const std::string& title : titles)
    ranked.emplace_back(mixed(std::hash<std::string>()(title)) % 1'000'000, title);
  Completions all;
  for (size_t size = kPrefixMin; size <= kPrefixMax; ++size) {
    for (size_t begin = 0, end = 0; begin < titles.size(); begin = end) {
      end = begin + 1;
      if (titles[begin].size() < size) continue;
      const std::string_view prefix = std::string_view(titles[begin]).substr(0, size);
      while (end < titles.size() && titles[end].starts_with(prefix)) ++end;
      all[std::string(prefix)] = best_ten(ranked, begin, end);
    }
  }
  return all;
}

}  // namespace cellar::bench
