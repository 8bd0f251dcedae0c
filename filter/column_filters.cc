// Filters of families and columns.
#include <fmt/format.h>

#include <algorithm>

#include "filter/parts.h"

namespace cellar {
namespace {

class FamilyFilter final : public Cloned<FamilyFilter> {
 public:
  FamilyFilter(CompareOp op, ComparatorPtr comparator) : op_(op), comparator_(std::move(comparator)) {}
  std::string to_text() const override { return test_text("FamilyFilter", op_, *comparator_); }
  FilterCode cell(const CellView& cell) override {
    const bool in = cell.family().empty() || (passes(op_, *comparator_, cell.family()));
    return in ? FilterCode::kInclude : FilterCode::kNextRow;
  }

 private:
  CompareOp op_;
  ComparatorPtr comparator_;
};

class QualifierFilter final : public Cloned<QualifierFilter> {
 public:
  QualifierFilter(CompareOp op, ComparatorPtr comparator) : op_(op), comparator_(std::move(comparator)) {}
  std::string to_text() const override { return test_text("QualifierFilter", op_, *comparator_); }
  FilterCode cell(const CellView& cell) override {
    const bool in = passes(op_, *comparator_, cell.qualifier());
    return in ? FilterCode::kInclude : FilterCode::kSkip;
  }

 private:
  CompareOp op_;
  ComparatorPtr comparator_;
};

class ColumnPrefixFilter final : public Cloned<ColumnPrefixFilter> {
 public:
  explicit ColumnPrefixFilter(std::string_view prefix) : prefix_(prefix) {}
  std::string to_text() const override { return call_text("ColumnPrefixFilter", {quoted(prefix_)}); }
  FilterCode cell(const CellView& cell) override {
    if (cell.qualifier().starts_with(prefix_)) return FilterCode::kInclude;
    return cell.qualifier() < prefix_ ? FilterCode::kSeekHint : FilterCode::kNextRow;
  }
  std::optional<Cell> seek_hint(const CellView& cell) override { return column_hint(cell, prefix_); }

 private:
  std::string prefix_;
};

class MultipleColumnPrefixFilter final : public Cloned<MultipleColumnPrefixFilter> {
 public:
  // Sorted; those that another one begins are redundant. None: everything passes.
  explicit MultipleColumnPrefixFilter(std::vector<std::string> prefixes) {
    std::ranges::sort(prefixes);
    for (std::string& prefix : prefixes)
      if (prefixes_.empty() || !prefix.starts_with(prefixes_.back())) prefixes_.push_back(std::move(prefix));
  }
  std::string to_text() const override {
    std::string text = "MultipleColumnPrefixFilter(";
    for (const std::string& each : prefixes_) text += (text.back() == '(' ? "" : ", ") + quoted(each);
    return text + ")";
  }
  FilterCode cell(const CellView& cell) override {
    if (prefixes_.empty()) return FilterCode::kInclude;
    const auto after = next(cell);
    if (after != prefixes_.begin() && cell.qualifier().starts_with(*std::prev(after)))
      return FilterCode::kInclude;
    return after == prefixes_.end() ? FilterCode::kNextRow : FilterCode::kSeekHint;
  }
  std::optional<Cell> seek_hint(const CellView& cell) override {
    const auto after = next(cell);
    if (after == prefixes_.end()) return std::nullopt;
    return column_hint(cell, *after);
  }

 private:
  std::vector<std::string>::const_iterator next(const CellView& cell) const {
    return std::upper_bound(prefixes_.cbegin(), prefixes_.cend(), cell.qualifier(),
                            [](std::string_view a, std::string_view b) { return a < b; });
  }
  std::vector<std::string> prefixes_;
};

class ColumnRangeFilter final : public Cloned<ColumnRangeFilter> {
 public:
  ColumnRangeFilter(std::string_view min, bool min_inclusive, std::string_view max, bool max_inclusive)
      : min_(min), max_(max), min_inclusive_(min_inclusive), max_inclusive_(max_inclusive) {}
  std::string to_text() const override {
    return call_text("ColumnRangeFilter",
                     {quoted(min_), flag_text(min_inclusive_), quoted(max_), flag_text(max_inclusive_)});
  }
  FilterCode cell(const CellView& cell) override {
    const int from_min = min_.empty() ? 1 : cell.qualifier().compare(min_);
    if (from_min < 0) return FilterCode::kSeekHint;
    if (from_min == 0 && !min_inclusive_) return FilterCode::kNextColumn;
    const int from_max = max_.empty() ? -1 : cell.qualifier().compare(max_);
    const bool in = max_inclusive_ ? from_max <= 0 : from_max < 0;
    return in ? FilterCode::kInclude : FilterCode::kNextRow;
  }
  std::optional<Cell> seek_hint(const CellView& cell) override { return column_hint(cell, min_); }

 private:
  std::string min_;
  std::string max_;
  bool min_inclusive_;
  bool max_inclusive_;
};

class ColumnCountGetFilter final : public Cloned<ColumnCountGetFilter> {
 public:
  explicit ColumnCountGetFilter(uint32_t columns) : columns_(columns) {}
  std::string to_text() const override { return fmt::format("ColumnCountGetFilter({})", columns_); }
  void reset() override { count_ = 0; }
  bool all_done() override { return count_ > columns_; }
  bool depends_on_other_rows() const override { return true; }
  FilterCode cell(const CellView&) override {
    return ++count_ > columns_ ? FilterCode::kNextColumn : FilterCode::kIncludeAndNextColumn;
  }

 private:
  uint32_t columns_;
  uint64_t count_ = 0;
};

class ColumnPaginationFilter final : public Cloned<ColumnPaginationFilter> {
 public:
  ColumnPaginationFilter(uint32_t columns, uint32_t skipped) : columns_(columns), skipped_(skipped) {}
  ColumnPaginationFilter(uint32_t columns, std::string_view first)
      : columns_(columns), first_(std::string(first)) {}
  std::string to_text() const override {
    return call_text("ColumnPaginationFilter",
                     {fmt::format("{}", columns_), first_ ? quoted(*first_) : fmt::format("{}", skipped_)});
  }
  void reset() override { count_ = 0; }
  FilterCode cell(const CellView& cell) override {
    if (count_ >= uint64_t{skipped_} + columns_) return FilterCode::kNextRow;
    // Once a column was taken, those of the next family count wherever they begin, as in HBase.
    if (first_ && count_ == 0 && cell.qualifier() < *first_) return FilterCode::kSeekHint;
    return count_++ < skipped_ ? FilterCode::kNextColumn : FilterCode::kIncludeAndNextColumn;
  }
  std::optional<Cell> seek_hint(const CellView& cell) override { return column_hint(cell, *first_); }

 private:
  uint32_t columns_;
  uint32_t skipped_ = 0;
  std::optional<std::string> first_;
  uint64_t count_ = 0;
};

class FirstKeyOnlyFilter final : public Cloned<FirstKeyOnlyFilter> {
 public:
  std::string to_text() const override { return "FirstKeyOnlyFilter()"; }
  void reset() override { found_ = false; }
  FilterCode cell(const CellView&) override {
    return std::exchange(found_, true) ? FilterCode::kNextRow : FilterCode::kInclude;
  }

 private:
  bool found_ = false;
};

class FirstKeyValueMatchingQualifiersFilter final : public Cloned<FirstKeyValueMatchingQualifiersFilter> {
 public:
  explicit FirstKeyValueMatchingQualifiersFilter(std::vector<std::string> qualifiers)
      : qualifiers_(std::move(qualifiers)) {}
  std::string to_text() const override {
    std::string text = "FirstKeyValueMatchingQualifiersFilter(";
    for (const std::string& each : qualifiers_) text += (text.back() == '(' ? "" : ", ") + quoted(each);
    return text + ")";
  }
  void reset() override { found_ = false; }
  FilterCode cell(const CellView& cell) override {
    if (found_) return FilterCode::kNextRow;
    found_ = std::ranges::find(qualifiers_, cell.qualifier()) != qualifiers_.end();
    return FilterCode::kInclude;
  }

 private:
  std::vector<std::string> qualifiers_;
  bool found_ = false;
};

}  // namespace

FilterPtr family_filter(CompareOp op, ComparatorPtr comparator) {
  return std::make_shared<FamilyFilter>(op, std::move(comparator));
}
FilterPtr qualifier_filter(CompareOp op, ComparatorPtr comparator) {
  return std::make_shared<QualifierFilter>(op, std::move(comparator));
}
FilterPtr column_prefix_filter(std::string_view prefix) {
  return std::make_shared<ColumnPrefixFilter>(prefix);
}
FilterPtr multiple_column_prefix_filter(std::vector<std::string> prefixes) {
  return std::make_shared<MultipleColumnPrefixFilter>(std::move(prefixes));
}
FilterPtr column_range_filter(std::string_view min, bool min_inclusive, std::string_view max,
                              bool max_inclusive) {
  return std::make_shared<ColumnRangeFilter>(min, min_inclusive, max, max_inclusive);
}
FilterPtr column_count_get_filter(uint32_t columns) {
  return std::make_shared<ColumnCountGetFilter>(columns);
}
FilterPtr column_pagination_filter(uint32_t columns, uint32_t skipped) {
  return std::make_shared<ColumnPaginationFilter>(columns, skipped);
}
FilterPtr column_pagination_filter(uint32_t columns, std::string_view first) {
  return std::make_shared<ColumnPaginationFilter>(columns, first);
}
FilterPtr first_key_only_filter() { return std::make_shared<FirstKeyOnlyFilter>(); }
FilterPtr first_key_value_matching_qualifiers_filter(std::vector<std::string> qualifiers) {
  return std::make_shared<FirstKeyValueMatchingQualifiersFilter>(std::move(qualifiers));
}

}  // namespace cellar
