// Random requests.
#include "tests/cluster/draw_requests.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <string_view>

#include "cellar/filter.h"
#include "cellar/keys.h"

namespace cellar::interop {
namespace {

constexpr int64_t kTimes = 40;

}  // namespace

TableOptions DrawRequests::table() {
  TableOptions table;
  for (const char* const name : {"e", "f", "g", "n"}) {
    FamilyOptions family;
    family.name = name;
    family.max_versions =
        1000;  // what is over the limit shows until a compaction drops it, which each does at its time
    family.compression = "none";
    table.families.push_back(family);
  }
  return table;
}

std::string DrawRequests::row() { return fmt::format("r{:02}", random_.below(60)); }
std::string DrawRequests::family() { return random_.one_in(3) ? "g" : "f"; }
std::string DrawRequests::qualifier() {
  constexpr const char* kAll[] = {"a", "ab", "b", "c"};
  return kAll[random_.below(std::size(kAll))];
}
std::string DrawRequests::value() {
  constexpr const char* kAll[] = {"", "1", "2", "12", "x", "xy", "XY"};
  if (random_.one_in(40)) return std::string(30'000, 'z');
  if (random_.one_in(6)) return plain_int64(static_cast<int64_t>(random_.below(5)));
  return kAll[random_.below(std::size(kAll))];
}
int64_t DrawRequests::time() {
  const int64_t back = static_cast<int64_t>(random_.below(kTimes));
  return std::max<int64_t>(now_ - back * back, 1);
}

Put DrawRequests::put(const std::string& row) {
  Put put(row);
  for (uint64_t i = 1 + random_.below(5); i > 0; --i) put.add_at(family(), qualifier(), next_time(), value());
  if (random_.one_in(6)) put.add_at("e", "", next_time(), value());
  return put;
}

Delete DrawRequests::erase(const std::string& row) {
  Delete erase(row, time());
  for (uint64_t i = random_.below(3); i > 0; --i) {
    switch (random_.below(5)) {
      case 0:
        erase.version(family(), qualifier(), time());
        break;
      case 1:
        erase.column(family(), qualifier(), time());
        break;
      case 2:
        erase.family_version(family(), time());
        break;
      case 3:
        erase.family("e", time());
        break;
      default:
        erase.family(family(), time());
        break;
    }
  }
  return erase;
}

Increment DrawRequests::increment(const std::string& row) {
  Increment increment(row);
  for (uint64_t i = 1 + random_.below(2); i > 0; --i)
    increment.add("n", random_.one_in(2) ? "x" : "y", static_cast<int64_t>(random_.below(100)) - 20);
  return increment;
}

Append DrawRequests::append(const std::string& row) {
  Append append(row);
  append.add("n", "text", value().substr(0, 10));
  return append;
}

RowMutations DrawRequests::mutations(const std::string& row) {
  RowMutations mutations(row);
  mutations.add(put(row));
  if (random_.one_in(2)) mutations.add(erase(row));
  if (random_.one_in(3)) mutations.add(increment(row));
  return mutations;
}

CheckAndMutate DrawRequests::check(const std::string& row) {
  CheckAndMutate check(row);
  const auto op_drawn = static_cast<CompareOp>(random_.below(6));
  if (random_.one_in(4))
    check.if_not_exists(family(), qualifier());
  else if (random_.one_in(4))
    check.if_passes(value_filter(op_drawn, binary(value())));
  else
    check.if_matches(family(), qualifier(), op_drawn, value());
  if (random_.one_in(4)) check.time_range(time(), time() + kTimes);
  switch (random_.below(4)) {
    case 0:
      return check.then(put(row));
    case 1:
      return check.then(erase(row));
    case 2:
      return check.then(increment(row));
    default:
      return check.then(mutations(row));
  }
}

std::string DrawRequests::op() {
  constexpr const char* kAll[] = {"<", "<=", "=", "!=", ">=", ">"};
  return kAll[random_.below(std::size(kAll))];
}

std::string DrawRequests::comparator() {
  switch (random_.below(7)) {
    case 0:
      return op() + ", 'binary:" + (random_.one_in(2) ? "12" : "x") + "'";
    case 1:
      return op() + ", 'binaryprefix:1'";
    case 2:
      return "!=, 'null:'";
    case 3:
      return "=, 'substring:Y'";
    case 4:
      return "!=, 'regexstring:^x'";
    case 5:
      return "=, 'bitand:1'";
    default:
      return op() + ", 'binaryprefix:x'";
  }
}

// Returns a filter without lists. The servers of HBase answer some combinations otherwise than Cellar
// (docs/hbase-differences.md), or fail at them. These are not drawn. tests/interop/region.py has the same
// rules.
std::string DrawRequests::simple_filter(bool reversed, bool named) {
  const char* const either = random_.one_in(2) ? "true" : "false";
  switch (random_.below(20)) {
    case 0:
      return named ? "ValueFilter(" + comparator() + ")" : "PrefixFilter('r1')";
    case 1:
      return "RowFilter(" + op() + ", 'binary:" + row() + "')";
    case 2:
      return "FamilyFilter(" + op() + ", 'binary:g')";
    case 3:
      return "QualifierFilter(" + op() + ", 'binary:ab')";
    case 4:
      return "ValueFilter(" + comparator() + ")";
    case 5:
      return "ColumnPrefixFilter('a')";
    case 6:
      return "MultipleColumnPrefixFilter('ab', 'c')";
    case 7:
      return fmt::format("ColumnRangeFilter('a', {}, 'b', true)", either);
    case 8:
      return fmt::format("TimestampsFilter({}, {})", time(), time());
    case 9:
      return fmt::format("KeyOnlyFilter({})", either);
    case 10:
      return "FirstKeyOnlyFilter()";
    case 11:
      return reversed ? "KeyOnlyFilter()" : "InclusiveStopFilter('" + row() + "')";
    case 12:
      return fmt::format("ColumnPaginationFilter({}, {})", 1 + random_.below(3), random_.below(2));
    case 13:
      return fmt::format("SingleColumnValueFilter('f', 'a', {}, {}, true)", comparator(), either);
    case 14:
      return fmt::format("SingleColumnValueExcludeFilter('f', 'a', {}, {}, true)", comparator(), either);
    case 15:
      return "ColumnValueFilter('f', 'b', " + comparator() + ")";
    case 16:
      return fmt::format("DependentColumnFilter('f', 'a', {})", either);
    case 17:
      return reversed ? "KeyOnlyFilter()" : "FuzzyRowFilter('r00', '001', 'r11', '010')";
    case 18:
      return "MultiRowRangeFilter('r05', true, 'r12', false, 'r20', false, 'r41', true)";
    default:
      return "FirstKeyValueMatchingQualifiersFilter('a', 'c')";
  }
}

// A list of filters, in which lists may lie.
std::string DrawRequests::filter_list(bool reversed, bool named) {
  const auto is_one_of = [](const std::string& text, std::initializer_list<std::string_view> names) {
    return std::ranges::any_of(names, [&text](std::string_view name) { return text.starts_with(name); });
  };
  const bool both = reversed || random_.one_in(2);  // a reversed scan may lose columns at an OR
  std::vector<std::string> members;
  for (uint64_t i = 2 + random_.below(2); i > 0; --i) members.push_back(simple_filter(reversed, named));
  if (random_.one_in(4))
    members.push_back(fmt::format("(ValueFilter({}) {} QualifierFilter({}, 'binary:b'))", comparator(),
                                  both ? "OR" : "AND", op()));
  const bool remembers = std::ranges::any_of(members, [&](const std::string& each) {
    return is_one_of(each, {"DependentColumn", "FirstKey", "ColumnPagination"}) ||
           (reversed && each.starts_with("SingleColumnValue"));
  });
  // A hint leads past cells that one which remembers must see.
  if (both && remembers)
    std::erase_if(members, [&](const std::string& each) {
      return is_one_of(each, {"ColumnPrefix", "MultipleColumnPrefix", "ColumnRange"});
    });
  return fmt::format("{}", fmt::join(members, both ? " AND " : " OR "));
}

std::string DrawRequests::nested_filter(size_t depth, bool reversed) {
  if (depth == 0 || random_.one_in(2)) return simple_filter(reversed, false);
  const std::string one = nested_filter(depth - 1, reversed);
  switch (random_.below(3)) {
    case 0:
      return "(" + one + " AND " + nested_filter(depth - 1, reversed) + ")";
    case 1:
      return "(" + one + " OR " + nested_filter(depth - 1, reversed) + ")";
    default:
      return "SKIP (" + one + ")";
  }
}

std::string DrawRequests::filter_text(bool reversed, bool named) {
  if (all_filters_) return nested_filter(2, reversed);
  if (random_.one_in(3)) return filter_list(reversed, named);
  std::string text = simple_filter(reversed, named);
  // WHILE begins anew in each region. HBase does not tell the filter in a SKIP which row it is at.
  const bool may_skip = !text.starts_with("MultiRowRange") && !text.starts_with("Fuzzy");
  return (may_skip && random_.one_in(6) ? "SKIP " : "") + text;
}

// Chooses what a read returns. The counters are left out, for their own timestamps differ.
template <class Asked>
void DrawRequests::choose(Asked& asked, bool reversed) {
  if (random_.one_in(12)) {  // with fewer versions or filters, HBase passes over markers in the empty column
    asked.families({"e", "f"}).all_versions();
    return;
  }
  const uint64_t columns = random_.below(4);
  if (columns == 0)
    asked.column("f", qualifier());
  else if (columns == 1)
    asked.column("f", "a").column("g", "b").column("f", "c");
  else
    asked.families({"f", "g"});
  if (random_.one_in(2)) asked.versions(1 + static_cast<uint32_t>(random_.below(4)));
  if (random_.one_in(5)) asked.all_versions();
  if (random_.one_in(4)) asked.time_range(time(), time() + kTimes / 2 + 20);
  if (random_.one_in(8)) asked.family_time_range("g", time(), time() + kTimes);
  if (random_.one_in(8))
    asked.max_per_family(1 + static_cast<uint32_t>(random_.below(3))).count_cells_per_family(true);
  if (random_.one_in(16)) asked.family_offset(1).count_cells_per_family(true);
  if (random_.one_in(2)) {
    Result<FilterPtr> filter = parse_filter(filter_text(reversed, columns < 2));
    if (filter.ok()) asked.filter(*filter);
  }
  asked.fill_cache(!random_.one_in(5));
}

Get DrawRequests::get() {
  Get get(row());
  choose(get, false);
  return get;
}

Scan DrawRequests::scan() {
  Scan scan;
  const bool reversed = random_.one_in(3);
  scan.reversed(reversed);
  if (random_.one_in(8)) {
    std::vector<KeyRange> ranges;
    for (uint64_t i = 1 + random_.below(4); i > 0; --i) {
      std::string from = row();
      std::string until = row();
      if (from > until) std::swap(from, until);
      ranges.push_back({from, until});
    }
    scan.ranges(ranges);
  } else if (random_.one_in(6)) {
    scan.prefix(random_.one_in(2) ? "r1" : "r4");
  } else {
    std::string from = row();
    std::string until = row();
    if ((from > until) != reversed) std::swap(from, until);
    if (!random_.one_in(3)) scan.start(from, random_.one_in(2));
    if (!random_.one_in(3)) scan.stop(until, random_.one_in(2));
  }
  choose(scan, reversed);
  // The client never loads families on demand. A row of which a filter or an offset leaves nothing in the
  // families that the filter needs would be empty otherwise.
  scan.load_families_on_demand(false);
  if (random_.one_in(3)) scan.limit(1 + random_.below(12));
  const bool whole = scan.filter() != nullptr && scan.filter()->needs_whole_row();
  if (random_.one_in(4) && !whole) scan.batch(1 + static_cast<uint32_t>(random_.below(4)));
  if (random_.one_in(5) && !whole && scan.batch() == 0) scan.max_result_bytes(20'000);
  return scan;
}

std::vector<Action> DrawRequests::actions() {
  std::vector<Action> all;
  for (uint64_t i = 1 + random_.below(12); i > 0; --i) {
    const std::string at = row();
    switch (random_.below(7)) {
      case 0:
        all.emplace_back(get());
        break;
      case 1:
        all.emplace_back(erase(at));
        break;
      case 2:
        all.emplace_back(increment(at));
        break;
      case 3:
        if (only_repeatable_)
          all.emplace_back(append(at));
        else
          all.emplace_back(mutations(at));
        break;
      case 4:
        if (only_repeatable_)
          all.emplace_back(put(at));
        else
          all.emplace_back(check(at));
        break;
      default:
        all.emplace_back(put(at));
        break;
    }
  }
  return all;
}

}  // namespace cellar::interop
