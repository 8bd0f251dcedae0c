// Ranges of keys: with a prefix, joined, and cut into parts.
#include <algorithm>

#include "base/bytes.h"
#include "cellar/keys.h"

namespace cellar {

KeyRange with_prefix(std::string_view prefix, const KeyRange& range) {
  return {std::string(prefix).append(range.start),
          range.stop.empty() ? prefix_successor(prefix) : std::string(prefix).append(range.stop)};
}

std::vector<KeyRange> joined_ranges(std::vector<KeyRange> ranges) {
  std::erase_if(ranges, [](const KeyRange& each) { return !each.stop.empty() && each.start == each.stop; });
  const auto is_invalid = [](const KeyRange& each) { return !each.stop.empty() && each.start > each.stop; };
  const auto valid = std::stable_partition(ranges.begin(), ranges.end(), is_invalid);
  std::sort(valid, ranges.end(), [](const KeyRange& a, const KeyRange& b) { return a.start < b.start; });
  auto last = valid;  // of the ranges that are done
  for (auto at = valid; at != ranges.end(); ++at) {
    if (at == valid) continue;
    if (!last->stop.empty() && last->stop < at->start) {
      if (++last != at) *last = std::move(*at);
    } else if (!last->stop.empty() && (at->stop.empty() || at->stop > last->stop)) {
      last->stop = std::move(at->stop);
    }
  }
  if (valid != ranges.end()) ranges.erase(last + 1, ranges.end());
  return ranges;
}

std::vector<KeyRange> key_ranges(std::vector<std::string> cuts, size_t whole_prefix, const KeyRange& within) {
  if (whole_prefix != 0)
    for (std::string& cut : cuts) cut.resize(std::min(cut.size(), whole_prefix));
  std::ranges::sort(cuts);
  std::vector<KeyRange> ranges = {within};
  for (std::string& cut : cuts) {
    KeyRange& last = ranges.back();
    if (cut <= last.start || (!within.stop.empty() && cut >= within.stop)) continue;
    last.stop = cut;
    ranges.push_back({std::move(cut), within.stop});
  }
  return ranges;
}

}  // namespace cellar
