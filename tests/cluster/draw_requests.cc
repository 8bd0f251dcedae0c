// Random requests.
#include "tests/cluster/draw_requests.h"

#include <fmt/format.h>

#include <algorithm>

#include "cellar/filter.h"
#include "cellar/keys.h"

namespace cellar::interop {
namespace {

constexpr int64_t kTimes = 40;

}  // namespace

TableOptions DrawRequests::table() {
  TableOptions table;
  for (const char* const name : {"f", "g", "n"}) {
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
  constexpr const char* kAll[] = {"", "a", "ab", "b", "c"};
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
  return put;
}

Delete DrawRequests::erase(const std::string& row) {
  Delete erase(row, time());
  for (uint64_t i = random_.below(3); i > 0; --i) {
    switch (random_.below(4)) {
      case 0:
        erase.version(family(), qualifier(), time());
        break;
      case 1:
        erase.column(family(), qualifier(), time());
        break;
      case 2:
        erase.family_version(family(), time());
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

std::string DrawRequests::filter_text(size_t depth) {
  if (depth > 0 && random_.one_in(3)) {
    const std::string one = filter_text(depth - 1);
    switch (random_.below(3)) {
      case 0:
        return "(" + one + " AND " + filter_text(depth - 1) + ")";
      case 1:
        return "(" + one + " OR " + filter_text(depth - 1) + ")";
      default:
        return "SKIP (" + one + ")";  // WHILE begins anew in each region
    }
  }
  switch (random_.below(20)) {
    case 0:
      return "PrefixFilter('r1')";
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
      return "ColumnRangeFilter('a', true, 'b', " + std::string(random_.one_in(2) ? "true" : "false") + ")";
    case 8:
      return fmt::format("TimestampsFilter({}, {})", time(), time());
    case 9:
      return "KeyOnlyFilter(" + std::string(random_.one_in(2) ? "true" : "false") + ")";
    case 10:
      return "FirstKeyOnlyFilter()";
    case 11:
      return "InclusiveStopFilter('" + row() + "')";
    case 12:
      return fmt::format("ColumnPaginationFilter({}, {})", 1 + random_.below(3), random_.below(2));
    case 13:
      return "SingleColumnValueFilter('f', 'a', " + comparator() + ", true, true)";
    case 14:
      return "SingleColumnValueExcludeFilter('f', 'a', " + comparator() + ", false, true)";
    case 15:
      return "ColumnValueFilter('f', 'b', " + comparator() + ")";
    case 16:
      return "DependentColumnFilter('f', 'a', false)";
    case 17:
      return "FuzzyRowFilter('r00', '001', 'r11', '010')";
    case 18:
      return "MultiRowRangeFilter('r05', true, 'r12', false, 'r20', false, 'r41', true)";
    default:
      return "FirstKeyValueMatchingQualifiersFilter('a', 'c')";
  }
}

// The families of the comparison: the counters' own timestamps differ.
template <class Asked>
void DrawRequests::choose(Asked& asked) {
  if (random_.one_in(3))
    asked.column("f", qualifier());
  else if (random_.one_in(3))
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
    const std::string text = filter_text(2);
    Result<FilterPtr> filter = parse_filter(text);
    if (filter.ok()) asked.filter(*filter);
  }
  asked.fill_cache(!random_.one_in(5));
}

Get DrawRequests::get() {
  Get get(row());
  choose(get);
  return get;
}

Scan DrawRequests::scan() {
  Scan scan;
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
    const bool reversed = random_.one_in(3);
    if ((from > until) != reversed) std::swap(from, until);
    if (!random_.one_in(3)) scan.start(from, random_.one_in(2));
    if (!random_.one_in(3)) scan.stop(until, random_.one_in(2));
    scan.reversed(reversed);
  }
  choose(scan);
  if (scan.has_ranges() || !scan.prefix().empty()) scan.reversed(random_.one_in(3));
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
        all.emplace_back(mutations(at));
        break;
      case 4:
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
