// Makes filters of messages: a maker for each Java class.
#include "hbase/wire/from_wire_filter.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/coding.h"
#include "cellar/environment.h"
#include "hbase/wire/filter.pb.h"
#include "hbase/wire/frames.h"

namespace cellar::hbase::wire {
namespace {

constexpr std::string_view kPackage = "org.apache.hadoop.hbase.filter.";

// Returns "PrefixFilter" for the full name of that class.
std::string_view short_name(std::string_view class_name) {
  return class_name.starts_with(kPackage) ? class_name.substr(kPackage.size()) : class_name;
}

template <class Message>
Result<Message> parsed(std::string_view bytes) {
  Message message;
  CELLAR_TRY(parse_message(message, bytes));
  return message;
}

Status without(std::string_view what) {
  return Status::invalid_argument(fmt::format("the message has no {}", what));
}

// ---- Comparators

// Returns the decimal text of a number in two's complement, big-endian.
std::string decimal_text(std::string_view bytes) {
  const bool negative = !bytes.empty() && static_cast<int8_t>(bytes.front()) < 0;
  std::vector<uint8_t> magnitude(bytes.begin(), bytes.end());
  if (negative) {
    bool carry = true;
    for (size_t at = magnitude.size(); at-- > 0;) {
      magnitude[at] = static_cast<uint8_t>(~magnitude[at] + (carry ? 1 : 0));
      carry = carry && magnitude[at] == 0;
    }
  }
  std::string digits;
  size_t first = 0;
  while (first < magnitude.size()) {
    uint32_t rest = 0;
    for (size_t at = first; at < magnitude.size(); ++at) {
      rest = rest << 8 | magnitude[at];
      magnitude[at] = static_cast<uint8_t>(rest / 10);
      rest %= 10;
    }
    digits += static_cast<char>('0' + rest);
    while (first < magnitude.size() && magnitude[first] == 0) ++first;
  }
  if (digits.empty()) digits = "0";
  if (negative) digits += '-';
  std::ranges::reverse(digits);
  return digits;
}

// Makes the comparator of Bytes.toBytes(BigDecimal): 4 bytes of scale, then the unscaled number.
Result<ComparatorPtr> big_decimal_of(std::string_view bytes) {
  constexpr size_t kNumberBytesMax = 4096;
  if (bytes.size() < 5 || bytes.size() > kNumberBytesMax)
    return Status::invalid_argument(
        fmt::format("a decimal number has 5 to {} bytes, this one {}", kNumberBytesMax, bytes.size()));
  const auto scale = static_cast<int32_t>(load_be32(bytes.data()));
  return big_decimal(fmt::format("{}e{}", decimal_text(bytes.substr(4)), -int64_t{scale}));
}

// Flags of java.util.regex.Pattern.
constexpr int32_t kIgnoreCase = 2;
constexpr int32_t kMultiLine = 8;
constexpr int32_t kLiteral = 16;
constexpr int32_t kDotAll = 32;
constexpr int32_t kUnicodeCase = 64;
constexpr int32_t kKnownFlags = kIgnoreCase | kMultiLine | kLiteral | kDotAll | kUnicodeCase;

Result<ComparatorPtr> regex_of(const RegexComparator& from) {
  const int32_t flags = from.has_flags() ? from.flags() : kDotAll;
  if ((flags & ~kKnownFlags) != 0)
    return Status::not_supported(fmt::format("the flags {} of a regular expression", flags & ~kKnownFlags))
        .hinting("use the flags CASE_INSENSITIVE, UNICODE_CASE, MULTILINE, LITERAL and DOTALL only");
  std::string pattern = from.pattern();
  if ((flags & kLiteral) != 0) pattern = "\\Q" + pattern + "\\E";
  if ((flags & kMultiLine) != 0) pattern = "(?m)" + pattern;
  if ((flags & kDotAll) == 0) pattern = "(?-s)" + pattern;
  return (flags & kIgnoreCase) != 0 ? regex_ignoring_case(pattern) : regex(pattern);
}

Result<ComparatorPtr> bits_of(const BitComparator& from) {
  const std::string& bytes = from.compared().value();
  switch (from.operation()) {
    case BitComparator::AND:
      return bits_and(bytes);
    case BitComparator::OR:
      return bits_or(bytes);
    case BitComparator::XOR:
      return bits_xor(bytes);
  }
  return without("known operation of bits");
}

Result<ComparatorPtr> comparator_of(std::string_view name, std::string_view bytes) {
  if (name == "NullComparator") return null_value();
  if (name == "RegexStringComparator") {
    CELLAR_TRY_ASSIGN(const RegexComparator from, parsed<RegexComparator>(bytes));
    return regex_of(from);
  }
  if (name == "SubstringComparator") {
    CELLAR_TRY_ASSIGN(const SubstringComparator from, parsed<SubstringComparator>(bytes));
    return substring(from.text());
  }
  if (name == "BitComparator") {
    CELLAR_TRY_ASSIGN(const BitComparator from, parsed<BitComparator>(bytes));
    return bits_of(from);
  }
  if (name == "BinaryComponentComparator") {
    CELLAR_TRY_ASSIGN(const ComponentComparator from, parsed<ComponentComparator>(bytes));
    return binary_component(from.value(), from.offset());
  }
  const bool of_bytes = name == "BinaryComparator" || name == "BinaryPrefixComparator" ||
                        name == "LongComparator" || name == "BigDecimalComparator";
  if (!of_bytes) return Status::not_supported("Cellar does not have this comparator");
  CELLAR_TRY_ASSIGN(const BytesComparator from, parsed<BytesComparator>(bytes));
  const std::string& value = from.compared().value();
  if (name == "BinaryComparator") return binary(value);
  if (name == "BinaryPrefixComparator") return binary_prefix(value);
  if (name == "BigDecimalComparator") return big_decimal_of(value);
  if (value.size() != sizeof(uint64_t)) return without("number of 8 bytes");
  return long_number(static_cast<int64_t>(load_be64(value.data())));
}

struct ReadComparison {
  CompareOp op = CompareOp::kEqual;
  ComparatorPtr comparator;  // null: none was sent
};

Result<ReadComparison> comparison_of(const Comparison& from) {
  ReadComparison read;
  CELLAR_TRY_ASSIGN(read.op, from_wire_compare(from.compare()));
  if (from.has_comparator()) {
    CELLAR_TRY_ASSIGN(read.comparator, from_wire_comparator(from.comparator()));
  }
  return read;
}

// ---- Filters

Result<FilterPtr> filter_of(const WireFilter& filter, size_t depth);

using ReadMaker = Result<FilterPtr> (*)(std::string_view bytes, size_t depth);

template <FilterPtr (*make)(CompareOp, ComparatorPtr)>
Result<FilterPtr> make_comparing(std::string_view bytes, size_t) {
  CELLAR_TRY_ASSIGN(const ComparingFilter from, parsed<ComparingFilter>(bytes));
  CELLAR_TRY_ASSIGN(ReadComparison read, comparison_of(from.comparison()));
  if (read.comparator == nullptr) return without("comparator");
  return make(read.op, std::move(read.comparator));
}

template <FilterPtr (*make)(std::string_view)>
Result<FilterPtr> make_of_bytes(std::string_view bytes, size_t) {
  CELLAR_TRY_ASSIGN(const BytesFilter from, parsed<BytesFilter>(bytes));
  return make(from.bytes());
}

template <FilterPtr (*make)(const FilterPtr&)>
Result<FilterPtr> make_of_filter(std::string_view bytes, size_t depth) {
  CELLAR_TRY_ASSIGN(const FilterOfFilter from, parsed<FilterOfFilter>(bytes));
  CELLAR_TRY_ASSIGN(const FilterPtr inner, filter_of(from.filter(), depth + 1));
  return make(inner);
}

FilterPtr same_filter(const FilterPtr& filter) { return filter; }

Result<FilterPtr> make_first_key_only(std::string_view, size_t) { return first_key_only_filter(); }

Result<FilterPtr> make_page(std::string_view bytes, size_t) {
  CELLAR_TRY_ASSIGN(const CountFilter from, parsed<CountFilter>(bytes));
  if (from.count() < 0) return without("number of rows of 0 or more");
  return page_filter(static_cast<uint64_t>(from.count()));
}

Result<FilterPtr> make_column_count(std::string_view bytes, size_t) {
  CELLAR_TRY_ASSIGN(const CountFilter from, parsed<CountFilter>(bytes));
  if (from.count() < 0 || from.count() > INT32_MAX) return without("number of columns of 0 or more");
  return column_count_get_filter(static_cast<uint32_t>(from.count()));
}

Result<FilterPtr> make_column_pagination(std::string_view bytes, size_t) {
  CELLAR_TRY_ASSIGN(const ColumnPaginationFilter from, parsed<ColumnPaginationFilter>(bytes));
  if (from.columns() < 0 || from.offset() < 0) return without("number of columns of 0 or more");
  const auto columns = static_cast<uint32_t>(from.columns());
  if (from.has_first_column()) return column_pagination_filter(columns, from.first_column());
  return column_pagination_filter(columns, static_cast<uint32_t>(from.offset()));
}

Result<FilterPtr> make_column_range(std::string_view bytes, size_t) {
  CELLAR_TRY_ASSIGN(const ColumnRangeFilter from, parsed<ColumnRangeFilter>(bytes));
  return column_range_filter(from.min_column(), from.min_inclusive(), from.max_column(),
                             from.max_inclusive());
}

Result<FilterPtr> make_column_prefixes(std::string_view bytes, size_t) {
  CELLAR_TRY_ASSIGN(const MultipleColumnPrefixFilter from, parsed<MultipleColumnPrefixFilter>(bytes));
  return multiple_column_prefix_filter({from.prefixes().begin(), from.prefixes().end()});
}

Result<FilterPtr> make_matching_qualifiers(std::string_view bytes, size_t) {
  CELLAR_TRY_ASSIGN(const QualifiersFilter from, parsed<QualifiersFilter>(bytes));
  return first_key_value_matching_qualifiers_filter({from.qualifiers().begin(), from.qualifiers().end()});
}

Result<FilterPtr> make_key_only(std::string_view bytes, size_t) {
  CELLAR_TRY_ASSIGN(const KeyOnlyFilter from, parsed<KeyOnlyFilter>(bytes));
  return from.size_as_value() ? value_size_filter() : key_only_filter();
}

Result<FilterPtr> make_random_row(std::string_view bytes, size_t) {
  CELLAR_TRY_ASSIGN(const RandomRowFilter from, parsed<RandomRowFilter>(bytes));
  return random_row_filter(from.chance(), system_random());
}

Result<FilterPtr> make_timestamps(std::string_view bytes, size_t) {
  CELLAR_TRY_ASSIGN(const TimestampsFilter from, parsed<TimestampsFilter>(bytes));
  std::vector<int64_t> timestamps(from.timestamps().begin(), from.timestamps().end());
  return from.can_hint() ? seeking_timestamps_filter(std::move(timestamps))
                         : timestamps_filter(std::move(timestamps));
}

// A mask says "must be equal" as 0 or -1, and "any byte" as 1 or 2, depending on the release.
Result<FilterPtr> make_fuzzy_row(std::string_view bytes, size_t) {
  CELLAR_TRY_ASSIGN(const FuzzyRowFilter from, parsed<FuzzyRowFilter>(bytes));
  std::vector<std::pair<std::string, std::string>> keys;
  for (const BytesBytesPair& pair : from.keys()) {
    std::string mask = pair.second();
    for (char& byte : mask) {
      if (byte == 0 || byte == -1) {
        byte = 0;
      } else if (byte == 1 || byte == 2) {
        byte = 1;
      } else {
        return without("mask of the bytes 0 and 1, or -1 and 2");
      }
    }
    keys.emplace_back(pair.first(), std::move(mask));
  }
  return fuzzy_row_filter(keys);
}

Result<FilterPtr> make_row_ranges(std::string_view bytes, size_t) {
  CELLAR_TRY_ASSIGN(const MultiRowRangeFilter from, parsed<MultiRowRangeFilter>(bytes));
  std::vector<KeyRange> ranges;
  for (const RowRange& each : from.ranges()) {
    KeyRange range{each.start(), each.stop()};
    if (!range.start.empty() && !each.start_inclusive()) range.start += '\0';
    if (!range.stop.empty() && each.stop_inclusive()) range.stop += '\0';
    ranges.push_back(std::move(range));
  }
  return multi_row_range_filter(std::move(ranges));
}

template <FilterPtr (*make)(std::string_view, std::string_view, CompareOp, ComparatorPtr, bool, bool)>
Result<FilterPtr> single_column(const SingleColumnValueFilter& from) {
  CELLAR_TRY_ASSIGN(const CompareOp op, from_wire_compare(from.compare()));
  CELLAR_TRY_ASSIGN(ComparatorPtr comparator, from_wire_comparator(from.comparator()));
  return make(from.family(), from.qualifier(), op, std::move(comparator), from.filter_if_missing(),
              from.latest_version_only());
}

Result<FilterPtr> make_single_column(std::string_view bytes, size_t) {
  CELLAR_TRY_ASSIGN(const SingleColumnValueFilter from, parsed<SingleColumnValueFilter>(bytes));
  return single_column<single_column_value_filter>(from);
}

Result<FilterPtr> make_single_column_exclude(std::string_view bytes, size_t) {
  CELLAR_TRY_ASSIGN(const SingleColumnValueExcludeFilter from, parsed<SingleColumnValueExcludeFilter>(bytes));
  return single_column<single_column_value_exclude_filter>(from.filter());
}

Result<FilterPtr> make_column_value(std::string_view bytes, size_t) {
  CELLAR_TRY_ASSIGN(const ColumnValueFilter from, parsed<ColumnValueFilter>(bytes));
  CELLAR_TRY_ASSIGN(const CompareOp op, from_wire_compare(from.compare()));
  CELLAR_TRY_ASSIGN(ComparatorPtr comparator, from_wire_comparator(from.comparator()));
  return column_value_filter(from.family(), from.qualifier(), op, std::move(comparator));
}

Result<FilterPtr> make_dependent_column(std::string_view bytes, size_t) {
  CELLAR_TRY_ASSIGN(const DependentColumnFilter from, parsed<DependentColumnFilter>(bytes));
  CELLAR_TRY_ASSIGN(ReadComparison read, comparison_of(from.comparison()));
  return from.drop_dependent_column()
             ? dependent_column_exclude_filter(from.family(), from.qualifier(), read.op,
                                               std::move(read.comparator))
             : dependent_column_filter(from.family(), from.qualifier(), read.op, std::move(read.comparator));
}

Result<FilterPtr> make_list(std::string_view bytes, size_t depth) {
  CELLAR_TRY_ASSIGN(const FilterList from, parsed<FilterList>(bytes));
  if (!from.has_combination()) return without("operator of its list");
  std::vector<FilterPtr> members;
  for (const WireFilter& each : from.filters()) {
    CELLAR_TRY_ASSIGN(FilterPtr member, filter_of(each, depth + 1));
    members.push_back(std::move(member));
  }
  return from.combination() == FilterList::ONE ? any_of(members) : all_of(members);
}

const std::map<std::string_view, ReadMaker>& read_makers() {
  static const std::map<std::string_view, ReadMaker> all = {
      {"RowFilter", make_comparing<row_filter>},
      {"FamilyFilter", make_comparing<family_filter>},
      {"QualifierFilter", make_comparing<qualifier_filter>},
      {"ValueFilter", make_comparing<value_filter>},
      {"PrefixFilter", make_of_bytes<prefix_filter>},
      {"ColumnPrefixFilter", make_of_bytes<column_prefix_filter>},
      {"InclusiveStopFilter", make_of_bytes<inclusive_stop_filter>},
      {"SkipFilter", make_of_filter<skip_filter>},
      {"WhileMatchFilter", make_of_filter<while_match_filter>},
      {"FilterWrapper", make_of_filter<same_filter>},
      {"FirstKeyOnlyFilter", make_first_key_only},
      {"PageFilter", make_page},
      {"ColumnCountGetFilter", make_column_count},
      {"ColumnPaginationFilter", make_column_pagination},
      {"ColumnRangeFilter", make_column_range},
      {"MultipleColumnPrefixFilter", make_column_prefixes},
      {"FirstKeyValueMatchingQualifiersFilter", make_matching_qualifiers},
      {"KeyOnlyFilter", make_key_only},
      {"RandomRowFilter", make_random_row},
      {"TimestampsFilter", make_timestamps},
      {"FuzzyRowFilter", make_fuzzy_row},
      {"MultiRowRangeFilter", make_row_ranges},
      {"SingleColumnValueFilter", make_single_column},
      {"SingleColumnValueExcludeFilter", make_single_column_exclude},
      {"ColumnValueFilter", make_column_value},
      {"DependentColumnFilter", make_dependent_column},
      {"FilterList", make_list},
  };
  return all;
}

Result<FilterPtr> filter_of(const WireFilter& filter, size_t depth) {
  if (depth >= kFilterDepthMax)
    return Status::invalid_argument(fmt::format("filters are nested more than {} times", kFilterDepthMax));
  const std::string_view name = short_name(filter.class_name());
  const auto maker = read_makers().find(name);
  if (maker == read_makers().end())
    return Status::not_supported(fmt::format("Cellar does not have the filter {}", escaped(name)))
        .hinting("docs/filters.md lists the filters");
  Result<FilterPtr> made = maker->second(filter.message(), depth);
  if (made.ok()) return made;
  return made.status().with_context(name);
}

}  // namespace

Result<CompareOp> from_wire_compare(int compare) {
  if (compare < 0 || compare > static_cast<int>(CompareOp::kNoOp))
    return Status::invalid_argument(fmt::format("no operator has the number {}", compare));
  return static_cast<CompareOp>(compare);
}

Result<ComparatorPtr> from_wire_comparator(const WireComparator& comparator) {
  const std::string_view name = short_name(comparator.class_name());
  Result<ComparatorPtr> made = comparator_of(name, comparator.message());
  if (made.ok()) return made;
  return made.status().with_context(escaped(name));
}

Result<FilterPtr> from_wire_filter(const WireFilter& filter) {
  constexpr size_t kFilterBytesMax = 1u << 20;  // a filter in a filter is copied for each level
  if (filter.message().size() > kFilterBytesMax)
    return Status::limit(fmt::format("a filter has more than {} bytes", kFilterBytesMax))
        .hinting("read parts of the rows, each with a filter of its own");
  return filter_of(filter, 0);
}

}  // namespace cellar::hbase::wire
