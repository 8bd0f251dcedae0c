// Filters of rows that jump: fuzzy keys, several ranges.
#include <fmt/format.h>

#include <algorithm>

#include "base/bytes.h"
#include "filter/parts.h"

namespace cellar {
namespace {

constexpr size_t kNowhere = std::string_view::npos;

// One key, of which some bytes match any byte. "Agrees" refers to the bytes that a row and the key both have.
struct FuzzyPattern {
  std::string key;
  std::string mask;

  bool fixed(size_t at) const { return mask[at] == '\0'; }
  // The first byte in which the row does not agree.
  size_t difference(std::string_view row) const {
    for (size_t i = 0; i < std::min(row.size(), key.size()); ++i)
      if (fixed(i) && row[i] != key[i]) return i;
    return kNowhere;
  }
  // `head`, then what sorts last among the bytes that agree.
  std::string filled_high(std::string head) const {
    for (size_t i = head.size(); i < key.size(); ++i) head += fixed(i) ? key[i] : '\xff';
    return head;
  }
};

// No row between `row`, which does not agree, and the result agrees; nothing when none does.
std::optional<std::string> next_agreeing(const FuzzyPattern& pattern, std::string_view row) {
  const size_t at = pattern.difference(row);
  std::string next(row.substr(0, at));
  if (static_cast<uint8_t>(row[at]) < static_cast<uint8_t>(pattern.key[at])) return next + pattern.key[at];
  while (!next.empty()) {
    const auto last = static_cast<uint8_t>(next.back());
    if (!pattern.fixed(next.size() - 1) && last < 0xff) {
      next.back() = static_cast<char>(last + 1);
      return next;
    }
    next.pop_back();
  }
  return std::nullopt;
}

// The same for rows in descending order. A row's own beginnings agree as far as they go.
std::optional<std::string> previous_agreeing(const FuzzyPattern& pattern, std::string_view row) {
  const size_t at = pattern.difference(row);
  std::string head(row.substr(0, at));
  if (static_cast<uint8_t>(row[at]) > static_cast<uint8_t>(pattern.key[at]))
    return prefix_successor(pattern.filled_high(head + pattern.key[at]));
  if (head.empty()) return std::nullopt;
  return head;
}

class FuzzyRowFilter final : public Cloned<FuzzyRowFilter> {
 public:
  explicit FuzzyRowFilter(std::vector<FuzzyPattern> patterns) : patterns_(std::move(patterns)) {}

  std::string to_text() const override {
    std::string text = "FuzzyRowFilter(";
    for (const FuzzyPattern& each : patterns_) {
      std::string mask = each.mask;
      for (char& byte : mask) byte = static_cast<char>(byte + '0');
      text += (text.back() == '(' ? "" : ", ") + quoted(each.key) + ", " + quoted(mask);
    }
    return text + ")";
  }

  void reset() override { out_ = false; }
  bool all_done() override { return done_; }
  FilterCode cell(const CellView& cell) override {
    for (const FuzzyPattern& each : patterns_)
      if (each.difference(cell.row()) == kNowhere) return FilterCode::kInclude;
    out_ = true;
    return FilterCode::kSeekHint;
  }
  std::optional<Cell> seek_hint(const CellView& cell) override {
    std::optional<std::string> nearest;
    for (const FuzzyPattern& each : patterns_) {
      if (each.difference(cell.row()) == kNowhere) return row_hint(cell.row());
      const auto row = reversed() ? previous_agreeing(each, cell.row()) : next_agreeing(each, cell.row());
      if (row && (!nearest || (reversed() ? *row > *nearest : *row < *nearest))) nearest = row;
    }
    if (nearest) return row_hint(*nearest);
    done_ = true;
    return std::nullopt;
  }
  bool drop_row() override { return out_; }

 private:
  std::vector<FuzzyPattern> patterns_;
  bool out_ = false;
  bool done_ = false;
};

// ---- Ranges ----

bool holds(const KeyRange& range, std::string_view row) {
  return row >= range.start && (range.stop.empty() || row < range.stop);
}

// Returns the ranges in their order, those that overlap or touch made one.
std::vector<KeyRange> merged(std::vector<KeyRange> ranges) {
  std::ranges::sort(ranges, {}, &KeyRange::start);
  std::vector<KeyRange> result;
  for (KeyRange& range : ranges) {
    if (result.empty() || (!result.back().stop.empty() && result.back().stop < range.start)) {
      result.push_back(std::move(range));
    } else if (std::string& stop = result.back().stop;
               !stop.empty() && (range.stop.empty() || range.stop > stop)) {
      stop = range.stop;
    }
  }
  return result;
}

// Returns two arguments of the language for an end of a range: "'row', inclusive". `row` + "\0" is written as
// the row, which the range then excludes at its start and includes at its stop.
std::string end_text(std::string_view row, bool is_start) {
  const bool after = row.size() > 1 && row.back() == '\0';
  if (after) row.remove_suffix(1);
  return fmt::format("{}, {}", quoted(row), after != is_start);
}

class MultiRowRangeFilter final : public Cloned<MultiRowRangeFilter> {
 public:
  explicit MultiRowRangeFilter(std::vector<KeyRange> ranges) : ranges_(merged(std::move(ranges))) {}

  std::string to_text() const override {
    std::string text = "MultiRowRangeFilter(";
    for (const KeyRange& each : ranges_)
      text +=
          (text.back() == '(' ? "" : ", ") + end_text(each.start, true) + ", " + end_text(each.stop, false);
    return text + ")";
  }

  bool all_done() override { return done_; }
  // The row is judged here and its cells told, so that the answer can be a seek.
  bool drop_row_key(const CellView& first) override {
    if (done_) return true;
    const std::string_view row = first.row();
    // The first range that does not end before the row.
    const auto at = std::ranges::partition_point(
        ranges_, [&](const KeyRange& range) { return !range.stop.empty() && range.stop <= row; });
    const bool inside = at != ranges_.end() && holds(*at, row);
    const KeyRange* next = nullptr;
    if (!inside && !reversed() && at != ranges_.end()) next = &*at;
    if (!inside && reversed() && at != ranges_.begin()) next = &*std::prev(at);
    target_ = next == nullptr ? "" : reversed() ? next->stop : next->start;
    done_ = !inside && next == nullptr;
    code_ = inside ? FilterCode::kInclude : FilterCode::kNextRow;
    if (next != nullptr && row != target_) code_ = FilterCode::kSeekHint;
    return false;
  }
  FilterCode cell(const CellView&) override { return code_; }
  std::optional<Cell> seek_hint(const CellView&) override { return row_hint(target_); }

 private:
  std::vector<KeyRange> ranges_;
  std::string target_;  // of the hint
  FilterCode code_ = FilterCode::kNextRow;
  bool done_ = false;
};

}  // namespace

Result<FilterPtr> fuzzy_row_filter(const std::vector<std::pair<std::string, std::string>>& keys_and_masks) {
  if (keys_and_masks.empty()) return Status::invalid_argument("a FuzzyRowFilter needs at least one key");
  std::vector<FuzzyPattern> patterns;
  for (const auto& [key, mask] : keys_and_masks) {
    if (key.size() != mask.size())
      return Status::invalid_argument(
          fmt::format("key \"{}\" of a FuzzyRowFilter has {} bytes and its mask {}", escaped(key), key.size(),
                      mask.size()));
    if (mask.find_first_not_of(std::string_view("\0\1", 2)) != std::string::npos)
      return Status::invalid_argument(
          "a mask of a FuzzyRowFilter may contain only 0 (the key's byte) and 1 (any byte)");
    patterns.push_back({key, mask});
  }
  return FilterPtr(std::make_shared<FuzzyRowFilter>(std::move(patterns)));
}

Result<FilterPtr> multi_row_range_filter(std::vector<KeyRange> ranges) {
  if (ranges.empty()) return Status::invalid_argument("a MultiRowRangeFilter needs at least one range");
  for (const KeyRange& each : ranges)
    if (!each.stop.empty() && each.start > each.stop)
      return Status::invalid_argument(
          fmt::format("a range of a MultiRowRangeFilter starts at \"{}\", after its stop \"{}\"",
                      escaped(each.start), escaped(each.stop)));
  return FilterPtr(std::make_shared<MultiRowRangeFilter>(std::move(ranges)));
}

Result<FilterPtr> multi_row_prefix_filter(const std::vector<std::string>& prefixes) {
  std::vector<KeyRange> ranges;
  for (const std::string& prefix : prefixes) ranges.push_back({prefix, prefix_successor(prefix)});
  return multi_row_range_filter(std::move(ranges));
}

}  // namespace cellar
