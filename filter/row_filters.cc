// Filters of rows: by key, prefix, stop, page, chance.
#include <fmt/format.h>

#include "base/random.h"
#include "filter/parts.h"

namespace cellar {
namespace {

class RowFilter final : public Cloned<RowFilter> {
 public:
  RowFilter(CompareOp op, ComparatorPtr comparator) : op_(op), comparator_(std::move(comparator)) {}
  std::string to_text() const override { return test_text("RowFilter", op_, *comparator_); }
  void reset() override { out_ = false; }
  bool drop_row_key(const CellView& first) override {
    return out_ = out_ || !passes(op_, *comparator_, first.row());
  }
  FilterCode cell(const CellView&) override { return out_ ? FilterCode::kNextRow : FilterCode::kInclude; }
  bool drop_row() override { return out_; }

 private:
  CompareOp op_;
  ComparatorPtr comparator_;
  bool out_ = false;
};

class PrefixFilter final : public Cloned<PrefixFilter> {
 public:
  explicit PrefixFilter(std::string_view prefix) : prefix_(prefix) {}
  std::string to_text() const override { return call_text("PrefixFilter", {quoted(prefix_)}); }
  void reset() override { out_ = true; }
  bool all_done() override { return passed_; }
  // Rows shorter than the prefix are out, but never the end, as in HBase.
  bool drop_row_key(const CellView& first) override {
    if (passed_ || first.row().size() < prefix_.size()) return true;
    const int order = first.row().substr(0, prefix_.size()).compare(prefix_);
    passed_ = reversed() ? order < 0 : order > 0;
    return out_ = order != 0;
  }
  FilterCode cell(const CellView&) override { return out_ ? FilterCode::kNextRow : FilterCode::kInclude; }
  bool drop_row() override { return out_; }

 private:
  std::string prefix_;
  bool passed_ = false;
  bool out_ = true;
};

class InclusiveStopFilter final : public Cloned<InclusiveStopFilter> {
 public:
  explicit InclusiveStopFilter(std::string_view row) : row_(row) {}
  std::string to_text() const override { return call_text("InclusiveStopFilter", {quoted(row_)}); }
  bool all_done() override { return done_; }
  bool drop_row_key(const CellView& first) override {
    if (done_) return true;
    const int order = first.row().compare(row_);
    return done_ = reversed() ? order < 0 : order > 0;
  }
  FilterCode cell(const CellView&) override { return done_ ? FilterCode::kNextRow : FilterCode::kInclude; }

 private:
  std::string row_;
  bool done_ = false;
};

class PageFilter final : public Cloned<PageFilter> {
 public:
  explicit PageFilter(uint64_t rows) : rows_max_(rows) {}
  std::string to_text() const override { return fmt::format("PageFilter({})", rows_max_); }
  bool depends_on_other_rows() const override { return true; }
  bool all_done() override { return rows_ >= rows_max_; }
  FilterCode cell(const CellView&) override { return FilterCode::kInclude; }
  bool needs_whole_row() const override { return true; }
  bool drop_row() override { return ++rows_ > rows_max_; }

 private:
  uint64_t rows_max_;
  uint64_t rows_ = 0;
};

class RandomRowFilter final : public Cloned<RandomRowFilter> {
 public:
  RandomRowFilter(double chance, uint64_t seed) : chance_(chance), seed_(seed), random_(seed) {}
  std::string to_text() const override {
    return call_text("RandomRowFilter", {quoted(fmt::format("{}", chance_)), fmt::format("{}", seed_)});
  }
  bool depends_on_other_rows() const override { return true; }
  void reset() override { out_ = false; }
  bool drop_row_key(const CellView&) override {
    constexpr double kUnit = 1.0 / (uint64_t{1} << 53);
    const double drawn = static_cast<double>(random_.next() >> 11) * kUnit;
    return out_ = !(drawn < chance_);
  }
  FilterCode cell(const CellView&) override { return out_ ? FilterCode::kNextRow : FilterCode::kInclude; }
  bool needs_whole_row() const override { return true; }
  bool drop_row() override { return out_; }

 private:
  double chance_;
  uint64_t seed_;
  Random random_;
  bool out_ = false;
};

}  // namespace

FilterPtr row_filter(CompareOp op, ComparatorPtr comparator) {
  return std::make_shared<RowFilter>(op, std::move(comparator));
}
FilterPtr prefix_filter(std::string_view prefix) { return std::make_shared<PrefixFilter>(prefix); }
FilterPtr inclusive_stop_filter(std::string_view row) { return std::make_shared<InclusiveStopFilter>(row); }
FilterPtr page_filter(uint64_t rows) { return std::make_shared<PageFilter>(rows); }
FilterPtr random_row_filter(double chance, uint64_t seed) {
  return std::make_shared<RandomRowFilter>(chance, seed);
}

}  // namespace cellar
