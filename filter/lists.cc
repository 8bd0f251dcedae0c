// Lists and wrappers: filters made of filters, with HBase's rules for merging what members say.
#include <algorithm>

#include "filter/parts.h"

namespace cellar {
namespace {

using enum FilterCode;

// The meaning of a code: is the cell included, and how far does the read move?
struct Meaning {
  bool include;
  int step;  // 0 next cell, 1 next column, 2 next row
};
constexpr Meaning meaning(FilterCode code) {
  switch (code) {
    case kInclude:
      return {true, 0};
    case kIncludeAndNextColumn:
      return {true, 1};
    case kIncludeAndNextRow:
      return {true, 2};
    case kSkip:
    case kSeekHint:
      return {false, 0};
    case kNextColumn:
      return {false, 1};
    default:
      return {false, 2};
  }
}
constexpr FilterCode code_of(Meaning meaning) {
  constexpr FilterCode kIn[] = {kInclude, kIncludeAndNextColumn, kIncludeAndNextRow};
  constexpr FilterCode kOut[] = {kSkip, kNextColumn, kNextRow};
  return meaning.include ? kIn[meaning.step] : kOut[meaning.step];
}

// Merges the codes of two members that must both agree. One can exclude the cell, and the longer move wins.
FilterCode merge_all(FilterCode a, FilterCode b) {
  if (a == kSeekHint || b == kSeekHint) return kSeekHint;
  const Meaning left = meaning(a);
  const Meaning right = meaning(b);
  return code_of({left.include && right.include, std::max(left.step, right.step)});
}

// Merges the codes of two members of which one is enough. One can include the cell, and the shorter move
// wins. The result is a seek only if both members seek.
FilterCode merge_any(FilterCode a, FilterCode b) {
  if (a == kSeekHint && b == kSeekHint) return kSeekHint;
  const Meaning left = meaning(a);
  const Meaning right = meaning(b);
  return code_of({left.include || right.include, std::min(left.step, right.step)});
}

// FilterList: the common part of both kinds of list.
class FilterList : public Filter {
 public:
  explicit FilterList(const std::vector<FilterPtr>& members) : in_(members.size(), true) {
    for (const FilterPtr& each : members) members_.emplace_back(*each);
  }

  void set_reversed(bool reversed) override {
    Filter::set_reversed(reversed);
    for (OwnFilter& each : members_) each->set_reversed(reversed);
  }
  void reset() override {
    for (OwnFilter& each : members_) each->reset();
  }
  void transform(CellView& cell) override {
    for (size_t i = 0; i < members_.size(); ++i)
      if (in_[i]) members_[i]->transform(cell);
  }
  bool needs_whole_row() const override {
    return std::ranges::any_of(members_, [](const OwnFilter& each) { return each->needs_whole_row(); });
  }
  bool depends_on_other_rows() const override {
    return std::ranges::any_of(members_, [](const OwnFilter& each) { return each->depends_on_other_rows(); });
  }
  // In both kinds every member edits, as in HBase: a DependentColumnFilter strips the row inside any_of too.
  void edit_row(std::vector<CellView>& cells) override {
    for (OwnFilter& each : members_) each->edit_row(cells);
  }
  bool is_family_essential(std::string_view family) const override {
    return members_.empty() || std::ranges::any_of(members_, [&](const OwnFilter& each) {
             return each->is_family_essential(family);
           });
  }

 protected:
  // Returns true if its text is several filters joined by a word.
  static bool is_joined(const OwnFilter& filter) {
    const auto* list = dynamic_cast<const FilterList*>(filter.operator->());
    if (list == nullptr || list->members_.empty()) return false;
    return list->members_.size() > 1 || is_joined(list->members_.front());
  }
  std::string text(std::string_view word) const {
    if (members_.empty()) return "FilterList()";
    std::string text;
    for (const OwnFilter& each : members_) {
      if (!text.empty()) text.append(" ").append(word).append(" ");
      const bool list = members_.size() > 1 && is_joined(each);
      text += list ? "(" + each->to_text() + ")" : each->to_text();
    }
    return text;
  }

  std::vector<OwnFilter> members_;
  std::vector<bool> in_;  // which members included the last cell
};

class AllOf final : public FilterList {
 public:
  using FilterList::FilterList;
  std::unique_ptr<Filter> clone() const override { return std::make_unique<AllOf>(*this); }
  std::string to_text() const override { return text("AND"); }

  bool all_done() override {
    return std::ranges::any_of(members_, [](OwnFilter& each) { return each->all_done(); });
  }
  bool drop_row_key(const CellView& first) override {
    bool drop = false;
    for (OwnFilter& each : members_) drop = each->all_done() || each->drop_row_key(first) || drop;
    return drop;
  }
  FilterCode cell(const CellView& cell) override {
    FilterCode code = kInclude;
    for (OwnFilter& each : members_) {
      if (each->all_done()) return kNextRow;
      const FilterCode said = each->cell(cell);
      seeker_ = said == kSeekHint ? &each - members_.data() : -1;
      code = merge_all(code, said);
      if (!includes(code)) return code;
    }
    return code;
  }
  // The asking ended at the first member that excluded the cell, so only one can have wanted a seek.
  std::optional<Cell> seek_hint(const CellView& cell) override {
    if (seeker_ < 0) return std::nullopt;
    OwnFilter& seeker = members_[static_cast<size_t>(seeker_)];
    return seeker->all_done() ? std::nullopt : seeker->seek_hint(cell);
  }
  bool drop_row() override {
    return std::ranges::any_of(members_, [](OwnFilter& each) { return each->drop_row(); });
  }

 private:
  std::ptrdiff_t seeker_ = -1;  // the member that seeks
};

class AnyOf final : public FilterList {
 public:
  explicit AnyOf(const std::vector<FilterPtr>& members) : FilterList(members), last_(members.size()) {
    in_.assign(members.size(), false);
  }
  std::unique_ptr<Filter> clone() const override { return std::make_unique<AnyOf>(*this); }
  std::string to_text() const override { return text("OR"); }

  void reset() override {
    FilterList::reset();
    in_.assign(members_.size(), false);
    for (Answer& each : last_) each.code = kInclude;
  }
  bool all_done() override {
    return !members_.empty() &&
           std::ranges::all_of(members_, [](OwnFilter& each) { return each->all_done(); });
  }
  bool drop_row_key(const CellView& first) override {
    bool drop = !members_.empty();
    for (OwnFilter& each : members_) drop = (each->all_done() || each->drop_row_key(first)) && drop;
    return drop;
  }
  FilterCode cell(const CellView& cell) override {
    std::optional<FilterCode> code;
    for (size_t i = 0; i < members_.size(); ++i) {
      in_[i] = false;
      if (members_[i]->all_done()) continue;
      const FilterCode said = answer(i, cell);
      in_[i] = includes(said);
      code = code ? merge_any(*code, said) : said;
    }
    return code.value_or(members_.empty() ? kInclude : kSkip);
  }
  std::optional<Cell> seek_hint(const CellView& cell) override {
    std::optional<Cell> nearest;
    for (OwnFilter& each : members_) {
      if (each->all_done()) continue;
      std::optional<Cell> hint = each->seek_hint(cell);
      if (!hint) return std::nullopt;
      if (!nearest || beyond(*nearest, *hint)) nearest = std::move(hint);
    }
    return nearest;
  }
  bool drop_row() override {
    return !members_.empty() &&
           std::ranges::all_of(members_, [](OwnFilter& each) { return each->drop_row(); });
  }

 private:
  // The last answer of a member that moved farther than the list did.
  struct Answer {
    FilterCode code = kInclude;
    Cell at;
    std::optional<Cell> hint;
  };

  // Reversed reads go through rows backward, but through the cells of a row forward.
  std::strong_ordering on_the_way(std::strong_ordering rows, std::strong_ordering keys) const {
    return rows == 0 ? keys : reversed() ? 0 <=> rows : rows;
  }
  bool beyond(const Cell& a, const Cell& b) const {
    return on_the_way(a.row <=> b.row, compare_hints(a, b)) > 0;
  }

  // Returns true if the member skips the cell by its last answer; then it is not asked.
  bool passed_by(const Answer& last, const CellView& cell) const {
    switch (last.code) {
      case kInclude:
      case kSkip:
        return false;
      case kSeekHint:
        return last.hint && on_the_way(cell.row() <=> std::string_view(last.hint->row),
                                       compare_hint(cell, *last.hint)) < 0;
      case kNextColumn:
      case kIncludeAndNextColumn:
        return in_column(cell, last.at.family, last.at.qualifier);
      default:
        return cell.family() == last.at.family;
    }
  }

  FilterCode answer(size_t member, const CellView& cell) {
    Answer& last = last_[member];
    if (passed_by(last, cell)) {
      if (last.code == kIncludeAndNextColumn) last.code = kNextColumn;
      if (last.code == kIncludeAndNextRow) last.code = kNextRow;
      return last.code;
    }
    last.code = members_[member]->cell(cell);
    last.hint.reset();
    if (last.code == kSeekHint) last.hint = members_[member]->seek_hint(cell);
    if (last.code == kInclude || last.code == kSkip) return last.code;
    last.at.family = cell.family();
    last.at.qualifier = cell.qualifier();
    return last.code;
  }

  std::vector<Answer> last_;
};

// ---- Wrappers: their filter's row edits are not asked for, as in HBase ----

class SkipFilter final : public Cloned<SkipFilter> {
 public:
  explicit SkipFilter(const Filter& filter) : filter_(filter) {}
  std::string to_text() const override { return "SKIP (" + filter_->to_text() + ")"; }
  void set_reversed(bool reversed) override {
    Filter::set_reversed(reversed);
    filter_->set_reversed(reversed);
  }
  void reset() override {
    filter_->reset();
    out_ = false;
  }
  FilterCode cell(const CellView& cell) override {
    const FilterCode code = filter_->cell(cell);
    out_ = out_ || code != kInclude;
    return code;
  }
  void transform(CellView& cell) override { filter_->transform(cell); }
  bool depends_on_other_rows() const override { return filter_->depends_on_other_rows(); }
  bool needs_whole_row() const override { return true; }
  bool drop_row() override { return out_; }
  bool is_family_essential(std::string_view family) const override {
    return filter_->is_family_essential(family);
  }

 private:
  OwnFilter filter_;
  bool out_ = false;
};

class WhileMatchFilter final : public Cloned<WhileMatchFilter> {
 public:
  explicit WhileMatchFilter(const Filter& filter) : filter_(filter) {}
  std::string to_text() const override { return "WHILE (" + filter_->to_text() + ")"; }
  void set_reversed(bool reversed) override {
    Filter::set_reversed(reversed);
    filter_->set_reversed(reversed);
  }
  void reset() override { filter_->reset(); }
  bool all_done() override { return done_ || filter_->all_done(); }
  bool drop_row_key(const CellView& first) override { return note(filter_->drop_row_key(first)); }
  FilterCode cell(const CellView& cell) override {
    const FilterCode code = filter_->cell(cell);
    note(code != kInclude);
    return code;
  }
  void transform(CellView& cell) override { filter_->transform(cell); }
  bool depends_on_other_rows() const override { return true; }
  bool needs_whole_row() const override { return true; }
  bool drop_row() override { return note(filter_->drop_row()); }
  bool is_family_essential(std::string_view family) const override {
    return filter_->is_family_essential(family);
  }

 private:
  bool note(bool out) {
    done_ = done_ || out;
    return out;
  }
  OwnFilter filter_;
  bool done_ = false;
};

}  // namespace

FilterPtr all_of(const std::vector<FilterPtr>& members) { return std::make_shared<AllOf>(members); }
FilterPtr any_of(const std::vector<FilterPtr>& members) { return std::make_shared<AnyOf>(members); }
FilterPtr skip_filter(const FilterPtr& filter) { return std::make_shared<SkipFilter>(*filter); }
FilterPtr while_match_filter(const FilterPtr& filter) { return std::make_shared<WhileMatchFilter>(*filter); }

}  // namespace cellar
