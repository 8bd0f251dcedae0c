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
  explicit FuzzyRowFilter(std::vector<FuzzyKey> keys) {
    for (FuzzyKey& each : keys) patterns_.push_back({std::move(each.key), std::move(each.mask)});
  }

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

bool holds(const FilterRowRange& range, std::string_view row) {
  const int from_start = row.compare(range.start);
  const int from_stop = row.compare(range.stop);
  return (range.start.empty() || (range.start_inclusive ? from_start >= 0 : from_start > 0)) &&
         (range.stop.empty() || (range.stop_inclusive ? from_stop <= 0 : from_stop < 0));
}

bool starts_before(const FilterRowRange& a, const FilterRowRange& b) {
  const int order = a.start.compare(b.start);
  return order != 0 ? order < 0 : a.start_inclusive && !b.start_inclusive;
}

// Returns true if b, which does not start before a, begins inside it or directly at its end.
bool touches(const FilterRowRange& a, const FilterRowRange& b) {
  if (a.stop.empty()) return true;
  const int order = b.start.compare(a.stop);
  return order < 0 || (order == 0 && (b.start_inclusive || a.stop_inclusive));
}

void extend(FilterRowRange& a, const FilterRowRange& b) {
  if (a.stop.empty()) return;
  const int order = b.stop.compare(a.stop);
  if (b.stop.empty() || order > 0) {
    a.stop = b.stop;
    a.stop_inclusive = b.stop_inclusive;
  } else if (order == 0) {
    a.stop_inclusive = a.stop_inclusive || b.stop_inclusive;
  }
}

std::vector<FilterRowRange> merged(std::vector<FilterRowRange> ranges) {
  std::ranges::sort(ranges, starts_before);
  std::vector<FilterRowRange> result;
  for (FilterRowRange& range : ranges) {
    if (!result.empty() && touches(result.back(), range)) {
      extend(result.back(), range);
    } else {
      result.push_back(std::move(range));
    }
  }
  return result;
}

class MultiRowRangeFilter final : public Cloned<MultiRowRangeFilter> {
 public:
  explicit MultiRowRangeFilter(std::vector<FilterRowRange> ranges) : ranges_(merged(std::move(ranges))) {}

  std::string to_text() const override {
    std::string text = "MultiRowRangeFilter(";
    for (const FilterRowRange& each : ranges_)
      text += fmt::format("{}{}, {}, {}, {}", text.back() == '(' ? "" : ", ", quoted(each.start),
                          each.start_inclusive, quoted(each.stop), each.stop_inclusive);
    return text + ")";
  }

  bool all_done() override { return done_; }
  // The row is judged here and its cells told, so that the answer can be a seek.
  bool drop_row_key(const CellView& first) override {
    if (done_) return true;
    const std::string_view row = first.row();
    // The first range that does not end before the row.
    const auto at = std::ranges::partition_point(ranges_, [&](const FilterRowRange& range) {
      return !range.stop.empty() && (range.stop_inclusive ? range.stop < row : range.stop <= row);
    });
    const bool inside = at != ranges_.end() && holds(*at, row);
    const FilterRowRange* next = nullptr;
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
  std::vector<FilterRowRange> ranges_;
  std::string target_;  // of the hint
  FilterCode code_ = FilterCode::kNextRow;
  bool done_ = false;
};

}  // namespace

Result<FilterPtr> fuzzy_row_filter(std::vector<FuzzyKey> keys) {
  if (keys.empty()) return Status::invalid_argument("a FuzzyRowFilter needs at least one key");
  for (const FuzzyKey& each : keys) {
    if (each.key.size() != each.mask.size())
      return Status::invalid_argument(
          fmt::format("key \"{}\" of a FuzzyRowFilter has {} bytes and its mask {}", escaped(each.key),
                      each.key.size(), each.mask.size()));
    if (each.mask.find_first_not_of(std::string_view("\0\1", 2)) != std::string::npos)
      return Status::invalid_argument(
          "a mask of a FuzzyRowFilter may contain only 0 (the key's byte) and 1 (any byte)");
  }
  return FilterPtr(std::make_shared<FuzzyRowFilter>(std::move(keys)));
}

Result<FilterPtr> multi_row_range_filter(std::vector<FilterRowRange> ranges) {
  if (ranges.empty()) return Status::invalid_argument("a MultiRowRangeFilter needs at least one range");
  for (const FilterRowRange& each : ranges)
    if (!each.stop.empty() && each.start > each.stop)
      return Status::invalid_argument(
          fmt::format("a range of a MultiRowRangeFilter starts at \"{}\", after its stop \"{}\"",
                      escaped(each.start), escaped(each.stop)));
  return FilterPtr(std::make_shared<MultiRowRangeFilter>(std::move(ranges)));
}

Result<FilterPtr> multi_row_prefix_filter(const std::vector<std::string>& prefixes) {
  std::vector<FilterRowRange> ranges;
  for (const std::string& prefix : prefixes)
    ranges.push_back({prefix, true, prefix_successor(prefix), false});
  return multi_row_range_filter(std::move(ranges));
}

}  // namespace cellar
