// FilterReference.
#include "tests/engine/filter_reference.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "cell/cell_codec.h"

namespace cellar::testing {
namespace {

using Predicate = std::function<bool(const CellView&)>;

// ---- Random filters; rows are of a, b, c and d, columns too, values and timestamps small ----

std::string word(Random& random, size_t most) {
  std::string text;
  for (size_t i = random.below(most + 1); i > 0; --i) text += static_cast<char>('a' + random.below(4));
  return text;
}

struct RandomTest {
  CompareOp op;
  ComparatorPtr comparator;
  bool passes(std::string_view stored) const { return cellar::passes(op, *comparator, stored); }
};
RandomTest random_test(Random& random, size_t most) {
  const auto op = static_cast<CompareOp>(random.below(6));
  const std::string given = word(random, most);
  switch (random.below(4)) {
    case 0:
      return {op, binary_prefix(given)};
    case 1:
      return {random.below(2) == 0 ? CompareOp::kEqual : CompareOp::kNotEqual, substring(given)};
    default:
      return {op, binary(given)};
  }
}

bool fuzzy_match(const std::string& key, const std::string& mask, std::string_view row) {
  for (size_t i = 0; i < std::min(row.size(), key.size()); ++i)
    if (mask[i] == '\0' && key[i] != row[i]) return false;
  return true;
}

RandomFilter random_fuzzy(Random& random) {
  std::vector<std::pair<std::string, std::string>> keys;
  for (size_t i = 0; i <= random.below(2); ++i) {
    auto& [key, mask] = keys.emplace_back(word(random, 4) + "b", "");
    for (size_t byte = 0; byte < key.size(); ++byte) mask += static_cast<char>(random.below(2));
  }
  return {*fuzzy_row_filter(keys), [keys](const CellView& cell) {
            return std::ranges::any_of(
                keys, [&](const auto& each) { return fuzzy_match(each.first, each.second, cell.row()); });
          }};
}

RandomFilter random_ranges(Random& random) {
  std::vector<KeyRange> ranges;
  for (size_t i = 0; i <= random.below(3); ++i) {
    KeyRange range{word(random, 3), word(random, 3)};
    if (!range.start.empty() && random.below(2) == 0) range.start += '\0';
    if (!range.stop.empty() && random.below(2) == 0) range.stop += '\0';
    if (!range.stop.empty() && range.start > range.stop) std::swap(range.start, range.stop);
    ranges.push_back(range);
  }
  return {*multi_row_range_filter(ranges), [ranges](const CellView& cell) {
            return std::ranges::any_of(ranges, [&](const KeyRange& range) {
              return cell.row().compare(range.start) >= 0 &&
                     (range.stop.empty() || cell.row().compare(range.stop) < 0);
            });
          }};
}

RandomFilter random_column_filter(Random& random) {
  const std::string min = word(random, 2);
  const std::string max = word(random, 2);
  switch (random.below(3)) {
    case 0:
      return {column_prefix_filter(min),
              [min](const CellView& cell) { return cell.qualifier().starts_with(min); }};
    case 1:
      return {multiple_column_prefix_filter({min, max}), [min, max](const CellView& cell) {
                return cell.qualifier().starts_with(min) || cell.qualifier().starts_with(max);
              }};
    default: {
      const bool low = random.below(2) == 0;
      const bool high = random.below(2) == 0;
      return {column_range_filter(min, low, max, high), [=](const CellView& cell) {
                const int from_min = cell.qualifier().compare(min);
                const int from_max = cell.qualifier().compare(max);
                return (min.empty() || from_min > 0 || (low && from_min == 0)) &&
                       (max.empty() || from_max < 0 || (high && from_max == 0));
              }};
    }
  }
}

RandomFilter random_compare_filter(Random& random) {
  const RandomTest test = random_test(random, 2);
  const std::string family(1, static_cast<char>('a' + random.below(2)));
  const std::string qualifier = word(random, 1);
  switch (random.below(5)) {
    case 0:
      return {row_filter(test.op, test.comparator),
              [test](const CellView& c) { return test.passes(c.row()); }};
    case 1:
      return {family_filter(test.op, test.comparator),
              [test](const CellView& c) { return test.passes(c.family()); }};
    case 2:
      return {qualifier_filter(test.op, test.comparator),
              [test](const CellView& c) { return test.passes(c.qualifier()); }};
    case 3:
      return {column_value_filter(family, qualifier, test.op, test.comparator), [=](const CellView& c) {
                return c.family() == family && c.qualifier() == qualifier && test.passes(c.value_bytes());
              }};
    default:
      return {value_filter(test.op, test.comparator),
              [test](const CellView& c) { return test.passes(c.value_bytes()); }};
  }
}

FilterPtr random_column_test(Random& random) {
  const RandomTest test = random_test(random, 2);
  const std::string family(1, static_cast<char>('a' + random.below(2)));
  const std::string qualifier = word(random, 1);
  const bool if_missing = random.below(2) == 0;
  const bool latest_only = random.below(2) == 0;
  switch (random.below(3)) {
    case 0:
      return single_column_value_filter(family, qualifier, test.op, test.comparator, if_missing, latest_only);
    case 1:
      return single_column_value_exclude_filter(family, qualifier, test.op, test.comparator, if_missing,
                                                latest_only);
    default: {
      const auto make = random.below(2) == 0 ? dependent_column_filter : dependent_column_exclude_filter;
      return make(family, qualifier, test.op, random.below(2) == 0 ? test.comparator : nullptr);
    }
  }
}

// Filters that remember.
FilterPtr random_counting_filter(Random& random) {
  const auto few = static_cast<uint32_t>(random.below(4));
  switch (random.below(7)) {
    case 0:
      return page_filter(few * 3);
    case 1:
      return column_count_get_filter(few * 4);
    case 2:
      return column_pagination_filter(few, static_cast<uint32_t>(random.below(3)));
    case 3:
      return column_pagination_filter(few, word(random, 2));
    case 4:
      return first_key_only_filter();
    case 5:
      return first_key_value_matching_qualifiers_filter({word(random, 1), word(random, 1)});
    default:
      return few == 0 ? key_only_filter() : value_size_filter();
  }
}

RandomFilter random_leaf(Random& random) {
  switch (random.below(11)) {
    case 0:
      return random_fuzzy(random);
    case 1:
      return random_ranges(random);
    case 2:
    case 3:
      return random_column_filter(random);
    case 4:
    case 5:
      return random_compare_filter(random);
    case 6: {
      const std::string prefix = word(random, 2);
      return {prefix_filter(prefix),
              [prefix](const CellView& cell) { return cell.row().starts_with(prefix); }};
    }
    case 7: {
      const std::string row = word(random, 3);
      // A stop is a stop in the direction of the read; as a predicate it is tested by the text cases.
      return {inclusive_stop_filter(row), {}};
    }
    case 8: {  // without hints: those pass over versions that use up the limit
      const std::vector<int64_t> times = {static_cast<int64_t>(random.below(6)),
                                          static_cast<int64_t>(random.below(6))};
      return {timestamps_filter(times),
              [times](const CellView& cell) { return std::ranges::count(times, cell.timestamp) > 0; }};
    }
    case 9:
      return {random_column_test(random), {}};
    default:
      return {random_counting_filter(random), {}};
  }
}

// ---- The reference ----

auto key_of(const Cell& cell) {
  return std::tuple(cell.row, cell.family, cell.qualifier, -cell.timestamp, -static_cast<int>(cell.type));
}

// One read by a filter's codes.
class Reference {
 public:
  Reference(const Filter& filter, const ReferenceRead& read) : filter_(filter.clone()), read_(read) {
    filter_->set_reversed(read.reversed);
  }

  std::vector<Row> run(const std::vector<Row>& rows) {
    std::vector<Row> result;
    for (const Row& row : rows) {
      if (done_ || filter_->all_done() || (read_.limit != 0 && result.size() == read_.limit)) break;
      std::map<std::string, std::vector<Cell>> needed;
      std::map<std::string, std::vector<Cell>> rest;
      for (const Cell& cell : row.cells) {
        const bool first = !read_.on_demand || read_.reversed || filter_->is_family_essential(cell.family);
        if (!first || !sought_past(cell)) (first ? needed : rest)[cell.family].push_back(cell);
      }
      if (needed.empty()) continue;
      filter_->reset();
      if (drop_row_key(needed.begin()->second.front())) continue;
      Row shown{row.row, {}};
      read_families(needed, shown);
      done_ = done_ || filter_->all_done();
      if (!keeps(shown)) continue;
      read_families(rest, shown);
      std::ranges::stable_sort(shown.cells, {}, &Cell::family);
      if (!shown.cells.empty()) result.push_back(std::move(shown));
    }
    return result;
  }

 private:
  static void view(OwnedCell& owned, const Cell& cell) {
    owned.assign(cell.row, cell.family, cell.qualifier, cell.timestamp, cell.type, cell.sequence, cell.value);
  }
  bool drop_row_key(const Cell& first) {
    OwnedCell owned;
    view(owned, first);
    return filter_->drop_row_key(owned.view());
  }
  bool sought_past(const Cell& cell) const {
    const auto target = targets_.find(cell.family);
    if (target == targets_.end()) return false;
    return read_.reversed ? cell.row > target->second : cell.row < target->second;
  }

  void read_families(const std::map<std::string, std::vector<Cell>>& families, Row& shown) {
    for (const auto& [family, cells] : families) {
      std::map<std::string, uint32_t> counts;
      std::optional<Cell> before;              // cells before this key are passed
      std::optional<std::string> done_column;  // the cells of this column are done, too
      for (const Cell& cell : cells) {
        if (done_ || (done_ = filter_->all_done())) return;
        if (before && key_of(cell) < key_of(*before)) continue;
        if (done_column && *done_column == cell.qualifier) continue;
        OwnedCell owned;
        view(owned, cell);
        CellView seen = owned.view();
        const FilterCode code = filter_->cell(seen);
        if (code == FilterCode::kSeekHint) before = follow(filter_->seek_hint(seen), cell);
        if (code == FilterCode::kNextColumn || code == FilterCode::kIncludeAndNextColumn)
          done_column = cell.qualifier;
        if (includes(code) && ++counts[cell.qualifier] > read_.versions) {
          done_column = cell.qualifier;
        } else if (includes(code)) {
          filter_->transform(seen);
          shown.cells.emplace_back(seen);
        }
        if (code == FilterCode::kNextRow || code == FilterCode::kIncludeAndNextRow) break;
        if (targets_.contains(family) && sought_past(cell)) break;
      }
    }
  }

  // Within the row: what to go on at. To another row: that is noted.
  std::optional<Cell> follow(std::optional<Cell> hint, const Cell& from) {
    if (!hint || hint->row == from.row) return hint;
    if (read_.reversed ? hint->row < from.row : hint->row > from.row) targets_[from.family] = hint->row;
    return std::nullopt;
  }

  bool keeps(Row& row) {
    const bool was_empty = row.cells.empty();
    if (!filter_->needs_whole_row()) return !was_empty && !filter_->drop_row();
    std::vector<OwnedCell> owned(row.cells.size());
    std::vector<CellView> views;
    for (size_t i = 0; i < owned.size(); ++i) {
      view(owned[i], row.cells[i]);
      views.push_back(owned[i].view());
    }
    filter_->edit_row(views);
    if (!views.empty() && filter_->drop_row()) return false;
    row.cells.clear();
    for (const CellView& each : views) row.cells.emplace_back(each);
    return !was_empty;
  }

  std::unique_ptr<Filter> filter_;
  ReferenceRead read_;
  std::map<std::string, std::string> targets_;  // the row a family was sent to
  bool done_ = false;
};

}  // namespace

RandomFilter random_filter(Random& random, int depth) {
  if (depth == 0 || random.below(3) == 0) return random_leaf(random);
  const size_t kind = random.below(10);
  if (kind == 0) return {skip_filter(random_filter(random, depth - 1).filter), {}};
  if (kind == 1) return {while_match_filter(random_filter(random, depth - 1).filter), {}};
  std::vector<FilterPtr> members;
  std::vector<Predicate> predicates;
  bool pure = true;
  for (size_t i = 0; i <= random.below(3); ++i) {
    RandomFilter member = random_filter(random, depth - 1);
    pure = pure && member.passes;
    members.push_back(std::move(member.filter));
    predicates.push_back(std::move(member.passes));
  }
  const bool all = kind < 6;
  Predicate passes = [=](const CellView& cell) {
    const auto asked = [&](const Predicate& each) { return each(cell); };
    return all ? std::ranges::all_of(predicates, asked) : std::ranges::any_of(predicates, asked);
  };
  return {all ? all_of(members) : any_of(members), pure ? passes : Predicate()};
}

std::vector<Row> filtered(const std::vector<Row>& rows, const Filter& filter, const ReferenceRead& read) {
  return Reference(filter, read).run(rows);
}

std::vector<Row> filtered(const std::vector<Row>& rows, const Predicate& passes, const ReferenceRead& read) {
  std::vector<Row> result;
  for (const Row& row : rows) {
    Row shown{row.row, {}};
    std::map<std::pair<std::string, std::string>, uint32_t> counts;
    for (const Cell& cell : row.cells) {
      OwnedCell owned;
      owned.assign(cell.row, cell.family, cell.qualifier, cell.timestamp, cell.type, 0, cell.value);
      if (passes(owned.view()) && ++counts[{cell.family, cell.qualifier}] <= read.versions)
        shown.cells.push_back(cell);
    }
    if (!shown.cells.empty() && (read.limit == 0 || result.size() < read.limit))
      result.push_back(std::move(shown));
  }
  return result;
}

}  // namespace cellar::testing
