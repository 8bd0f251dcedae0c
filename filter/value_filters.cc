// Filters of cells by value and timestamp, and of rows by the value of a column.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/coding.h"
#include "filter/parts.h"

namespace cellar {
namespace {

class ValueFilter final : public Cloned<ValueFilter> {
 public:
  ValueFilter(CompareOp op, ComparatorPtr comparator) : op_(op), comparator_(std::move(comparator)) {}
  std::string to_text() const override { return test_text("ValueFilter", op_, *comparator_); }
  FilterCode cell(const CellView& cell) override {
    return passes(op_, *comparator_, cell.value_bytes()) ? FilterCode::kInclude : FilterCode::kSkip;
  }

 private:
  CompareOp op_;
  ComparatorPtr comparator_;
};

// A test of the values of one column.
struct ColumnTest {
  std::string family;
  std::string qualifier;
  CompareOp op = CompareOp::kNoOp;
  ComparatorPtr comparator;

  bool is_of(const CellView& cell) const { return in_column(cell, family, qualifier); }
  bool passes(const CellView& cell) const { return cellar::passes(op, *comparator, cell.value_bytes()); }
};

std::string column_test_text(std::string_view name, const ColumnTest& test, const std::string& more = "") {
  return fmt::format("{}({}, {}, {}, {}{})", name, quoted(test.family), quoted(test.qualifier),
                     op_text(test.op), quoted(test.comparator->to_text()), more);
}

class ColumnValueFilter final : public Cloned<ColumnValueFilter> {
 public:
  explicit ColumnValueFilter(ColumnTest test) : test_(std::move(test)) {}
  std::string to_text() const override { return column_test_text("ColumnValueFilter", test_); }
  void reset() override { found_ = false; }
  FilterCode cell(const CellView& cell) override {
    if (!test_.is_of(cell)) return found_ ? FilterCode::kNextRow : FilterCode::kNextColumn;
    found_ = true;
    return test_.passes(cell) ? FilterCode::kInclude : FilterCode::kSkip;
  }
  bool is_family_essential(std::string_view family) const override { return family == test_.family; }

 private:
  ColumnTest test_;
  bool found_ = false;
};

class SingleColumnValueFilter : public Filter {
 public:
  SingleColumnValueFilter(ColumnTest test, bool filter_if_missing, bool latest_version_only, bool exclude)
      : test_(std::move(test)),
        filter_if_missing_(filter_if_missing),
        latest_version_only_(latest_version_only),
        exclude_(exclude) {}
  std::unique_ptr<Filter> clone() const override { return std::make_unique<SingleColumnValueFilter>(*this); }
  bool depends_on_other_rows() const override { return false; }
  std::string to_text() const override {
    return column_test_text(exclude_ ? "SingleColumnValueExcludeFilter" : "SingleColumnValueFilter", test_,
                            ", " + flag_text(filter_if_missing_) + ", " + flag_text(latest_version_only_));
  }
  void reset() override { found_ = passed_ = false; }
  FilterCode cell(const CellView& cell) override {
    if (passed_) return FilterCode::kInclude;
    if (found_ && latest_version_only_) return FilterCode::kNextRow;
    if (!test_.is_of(cell)) return FilterCode::kInclude;
    found_ = true;
    passed_ = test_.passes(cell);
    return passed_ || !latest_version_only_ ? FilterCode::kInclude : FilterCode::kNextRow;
  }
  bool needs_whole_row() const override { return true; }
  void edit_row(std::vector<CellView>& cells) override {
    if (exclude_) std::erase_if(cells, [&](const CellView& cell) { return test_.is_of(cell); });
  }
  bool drop_row() override { return found_ ? !passed_ : filter_if_missing_; }
  bool is_family_essential(std::string_view family) const override {
    return !filter_if_missing_ || family == test_.family;
  }

 private:
  ColumnTest test_;
  bool filter_if_missing_;
  bool latest_version_only_;
  bool exclude_;
  bool found_ = false;
  bool passed_ = false;
};

class DependentColumnFilter final : public Cloned<DependentColumnFilter> {
 public:
  DependentColumnFilter(ColumnTest test, bool drop) : test_(std::move(test)), drop_(drop) {}
  std::string to_text() const override {
    if (test_.comparator != nullptr)
      return fmt::format("DependentColumnFilter({}, {}, {}, {}, {})", quoted(test_.family),
                         quoted(test_.qualifier), drop_, op_text(test_.op),
                         quoted(test_.comparator->to_text()));
    return call_text("DependentColumnFilter",
                     {quoted(test_.family), quoted(test_.qualifier), flag_text(drop_)});
  }
  void reset() override { timestamps_.clear(); }
  FilterCode cell(const CellView& cell) override {
    if (!test_.is_of(cell)) return FilterCode::kInclude;
    if (test_.comparator != nullptr && !test_.passes(cell)) return FilterCode::kSkip;
    timestamps_.insert(cell.timestamp);
    return drop_ ? FilterCode::kSkip : FilterCode::kInclude;
  }
  bool needs_whole_row() const override { return true; }
  void edit_row(std::vector<CellView>& cells) override {
    std::erase_if(cells, [&](const CellView& cell) { return !timestamps_.contains(cell.timestamp); });
  }

 private:
  ColumnTest test_;
  bool drop_;
  std::set<int64_t> timestamps_;
};

class TimestampsFilter final : public Cloned<TimestampsFilter> {
 public:
  TimestampsFilter(std::vector<int64_t> timestamps, bool seeks)
      : timestamps_(std::move(timestamps)), seeks_(seeks) {
    std::ranges::sort(timestamps_);
    timestamps_.erase(std::unique(timestamps_.begin(), timestamps_.end()), timestamps_.end());
  }
  std::string to_text() const override {
    std::string text = "TimestampsFilter(";
    for (const int64_t each : timestamps_) text += fmt::format("{}{}", text.back() == '(' ? "" : ", ", each);
    if (seeks_) text += text.back() == '(' ? "true" : ", true";
    return text + ")";
  }
  FilterCode cell(const CellView& cell) override {
    if (std::ranges::binary_search(timestamps_, cell.timestamp)) return FilterCode::kInclude;
    if (timestamps_.empty() || cell.timestamp < timestamps_.front()) {
      // HBase's smallest of none is larger than every timestamp.
      return FilterCode::kNextColumn;
    }
    return seeks_ ? FilterCode::kSeekHint : FilterCode::kSkip;
  }
  // Returns the next older requested timestamp. One exists, because otherwise cell() would have ended the
  // column. Reversed reads continue cell by cell, as HBase's do.
  std::optional<Cell> seek_hint(const CellView& cell) override {
    const auto after = std::ranges::lower_bound(timestamps_, cell.timestamp);
    if (!seeks_ || reversed() || after == timestamps_.begin()) return std::nullopt;
    return version_hint(cell, *std::prev(after));
  }

 private:
  std::vector<int64_t> timestamps_;
  bool seeks_;
};

class KeyOnlyFilter final : public Cloned<KeyOnlyFilter> {
 public:
  explicit KeyOnlyFilter(bool size) : shows_size_(size) {}
  std::string to_text() const override { return call_text("KeyOnlyFilter", {flag_text(shows_size_)}); }
  FilterCode cell(const CellView&) override { return FilterCode::kInclude; }
  void transform(CellView& cell) override {
    size_.clear();
    if (shows_size_) append_be32(size_, cell.value_size);
    cell.value = size_.data();
    cell.value_size = static_cast<uint32_t>(size_.size());
  }

 private:
  bool shows_size_;
  std::string size_;
};

ColumnTest column_test(std::string_view family, std::string_view qualifier, CompareOp op,
                       ComparatorPtr comparator) {
  return {std::string(family), std::string(qualifier), op, std::move(comparator)};
}

}  // namespace

FilterPtr value_filter(CompareOp op, ComparatorPtr comparator) {
  return std::make_shared<ValueFilter>(op, std::move(comparator));
}
FilterPtr column_value_filter(std::string_view family, std::string_view qualifier, CompareOp op,
                              ComparatorPtr comparator) {
  return std::make_shared<ColumnValueFilter>(column_test(family, qualifier, op, std::move(comparator)));
}
FilterPtr timestamps_filter(std::vector<int64_t> timestamps) {
  return std::make_shared<TimestampsFilter>(std::move(timestamps), false);
}
FilterPtr seeking_timestamps_filter(std::vector<int64_t> timestamps) {
  return std::make_shared<TimestampsFilter>(std::move(timestamps), true);
}
FilterPtr key_only_filter() { return std::make_shared<KeyOnlyFilter>(false); }
FilterPtr value_size_filter() { return std::make_shared<KeyOnlyFilter>(true); }
FilterPtr single_column_value_filter(std::string_view family, std::string_view qualifier, CompareOp op,
                                     ComparatorPtr comparator, bool filter_if_missing,
                                     bool latest_version_only) {
  return std::make_shared<SingleColumnValueFilter>(column_test(family, qualifier, op, std::move(comparator)),
                                                   filter_if_missing, latest_version_only, false);
}
FilterPtr single_column_value_exclude_filter(std::string_view family, std::string_view qualifier,
                                             CompareOp op, ComparatorPtr comparator, bool filter_if_missing,
                                             bool latest_version_only) {
  return std::make_shared<SingleColumnValueFilter>(column_test(family, qualifier, op, std::move(comparator)),
                                                   filter_if_missing, latest_version_only, true);
}
FilterPtr dependent_column_filter(std::string_view family, std::string_view qualifier, CompareOp op,
                                  ComparatorPtr comparator) {
  return std::make_shared<DependentColumnFilter>(column_test(family, qualifier, op, std::move(comparator)),
                                                 false);
}
FilterPtr dependent_column_exclude_filter(std::string_view family, std::string_view qualifier, CompareOp op,
                                          ComparatorPtr comparator) {
  return std::make_shared<DependentColumnFilter>(column_test(family, qualifier, op, std::move(comparator)),
                                                 true);
}

}  // namespace cellar
