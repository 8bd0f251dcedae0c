// FilterNames: the built-in names of the filter language, each with its arguments.
#include <fmt/format.h>

#include <charconv>

#include "base/bytes.h"
#include "cellar/plugin.h"
#include "filter/language.h"

namespace cellar {
namespace {

using Arguments = std::span<const FilterArgument>;

Status expected(const std::string& what) { return Status::invalid_argument("expected " + what); }

Status check_count(Arguments arguments, size_t least, size_t most, std::string_view form) {
  if (arguments.size() >= least && arguments.size() <= most) return {};
  return Status::invalid_argument(fmt::format("{} arguments", arguments.size()))
      .hinting(fmt::format("its arguments: ({})", form));
}

Result<std::string> bytes_of(const FilterArgument& argument) {
  if (!argument.quoted) return expected("bytes in quotes, not " + argument.text);
  return argument.text;
}

template <class T>
Result<T> number_of(const FilterArgument& argument) {
  T number = 0;
  const char* end = argument.text.data() + argument.text.size();
  const auto [stop, error] = std::from_chars(argument.text.data(), end, number);
  if (argument.quoted || error != std::errc() || stop != end || argument.text.empty())
    return expected("a number, not \"" + escaped(argument.text) + "\"");
  return number;
}

Result<bool> flag_of(const FilterArgument& argument) {
  if (!argument.quoted && same_but_for_case(argument.text, "true")) return true;
  if (!argument.quoted && same_but_for_case(argument.text, "false")) return false;
  return expected("true or false, not \"" + escaped(argument.text) + "\"");
}

Result<CompareOp> op_of(const FilterArgument& argument) {
  for (const CompareOp op :
       {CompareOp::kLess, CompareOp::kLessOrEqual, CompareOp::kEqual, CompareOp::kNotEqual,
        CompareOp::kGreaterOrEqual, CompareOp::kGreater, CompareOp::kNoOp})
    if (!argument.quoted && argument.text == op_text(op)) return op;
  return expected("an operator (<, <=, =, !=, >=, >), not \"" + escaped(argument.text) + "\"");
}

Result<ComparatorPtr> number_comparator(std::string_view type, const std::string& value) {
  if (type == "bigdecimal") return big_decimal(value);
  if (type == "long") {
    CELLAR_TRY_ASSIGN(const int64_t number, number_of<int64_t>({value, false}));
    return long_number(number);
  }
  const size_t colon = value.find(':');
  if (colon == std::string::npos) return expected("binarycomponent:offset:bytes");
  CELLAR_TRY_ASSIGN(const uint32_t offset, number_of<uint32_t>({value.substr(0, colon), false}));
  return binary_component(value.substr(colon + 1), offset);
}

// "type:value", in quotes; the first six are HBase's.
Result<ComparatorPtr> comparator_of(const FilterArgument& argument, CompareOp op) {
  CELLAR_TRY_ASSIGN(const std::string text, bytes_of(argument));
  const size_t colon = text.find(':');
  const std::string type = text.substr(0, colon);
  const std::string value = colon == std::string::npos ? "" : text.substr(colon + 1);
  const std::vector<std::string> types = {"binary",    "binaryprefix",    "regexstring", "regexstringnocase",
                                          "substring", "binarycomponent", "long",        "bigdecimal",
                                          "null",      "bitand",          "bitor",       "bitxor"};
  const bool text_only = type == "substring" || type.starts_with("regexstring");
  if (text_only && op != CompareOp::kEqual && op != CompareOp::kNotEqual)
    return Status::invalid_argument(type + " has no order").hinting("use = or !=");
  if (colon != std::string::npos) {
    if (type == "binary") return binary(value);
    if (type == "binaryprefix") return binary_prefix(value);
    if (type == "regexstring") return regex(value);
    if (type == "regexstringnocase") return regex_ignoring_case(value);
    if (type == "substring") return substring(value);
    if (type == "null") return null_value();
    if (type == "bitand") return bits_and(value);
    if (type == "bitor") return bits_or(value);
    if (type == "bitxor") return bits_xor(value);
    if (type == "long" || type == "bigdecimal" || type == "binarycomponent")
      return number_comparator(type, value);
  }
  const std::string nearest = nearest_name(type, types);
  return Status::invalid_argument(fmt::format("invalid comparator '{}'", escaped(text)))
      .hinting(nearest.empty() || colon == std::string::npos
                   ? "a comparator is 'type:value', such as 'binary:abc'"
                   : "did you mean " + nearest + ":?");
}

Result<std::vector<std::string>> all_bytes(Arguments arguments) {
  std::vector<std::string> all;
  for (const FilterArgument& each : arguments) {
    CELLAR_TRY_ASSIGN(std::string bytes, bytes_of(each));
    all.push_back(std::move(bytes));
  }
  return all;
}

// ---- Makers, by the arguments they take ----

FilterMaker no_arguments(FilterPtr (*make)()) {
  return [make](Arguments arguments) -> Result<FilterPtr> {
    CELLAR_TRY(check_count(arguments, 0, 0, ""));
    return make();
  };
}

FilterMaker one_text(FilterPtr (*make)(std::string_view)) {
  return [make](Arguments arguments) -> Result<FilterPtr> {
    CELLAR_TRY(check_count(arguments, 1, 1, "'bytes'"));
    CELLAR_TRY_ASSIGN(const std::string bytes, bytes_of(arguments[0]));
    return make(bytes);
  };
}

template <class T>
FilterMaker one_number(FilterPtr (*make)(T)) {
  return [make](Arguments arguments) -> Result<FilterPtr> {
    CELLAR_TRY(check_count(arguments, 1, 1, "number"));
    CELLAR_TRY_ASSIGN(const T number, number_of<T>(arguments[0]));
    return make(number);
  };
}

FilterMaker texts(FilterPtr (*make)(std::vector<std::string>)) {
  return [make](Arguments arguments) -> Result<FilterPtr> {
    CELLAR_TRY_ASSIGN(std::vector<std::string> all, all_bytes(arguments));
    return make(std::move(all));
  };
}

FilterMaker comparison(FilterPtr (*make)(CompareOp, ComparatorPtr)) {
  return [make](Arguments arguments) -> Result<FilterPtr> {
    CELLAR_TRY(check_count(arguments, 2, 2, "operator, 'type:value'"));
    CELLAR_TRY_ASSIGN(const CompareOp op, op_of(arguments[0]));
    CELLAR_TRY_ASSIGN(ComparatorPtr comparator, comparator_of(arguments[1], op));
    return make(op, std::move(comparator));
  };
}

using MakeSingleColumn = FilterPtr (*)(std::string_view, std::string_view, CompareOp, ComparatorPtr, bool,
                                       bool);
FilterMaker single_column(MakeSingleColumn make) {
  return [make](Arguments arguments) -> Result<FilterPtr> {
    constexpr std::string_view kForm =
        "'family', 'qualifier', operator, 'type:value'[, filterIfMissing, latestVersionOnly]";
    CELLAR_TRY(check_count(arguments, 4, 6, kForm));
    CELLAR_TRY(check_count(arguments, arguments.size() == 5 ? 6 : 4, 6, kForm));
    CELLAR_TRY_ASSIGN(const std::vector<std::string> column, all_bytes(arguments.first(2)));
    CELLAR_TRY_ASSIGN(const CompareOp op, op_of(arguments[2]));
    CELLAR_TRY_ASSIGN(ComparatorPtr comparator, comparator_of(arguments[3], op));
    bool filter_if_missing = false;
    bool latest_version_only = true;
    if (arguments.size() == 6) {
      CELLAR_TRY_ASSIGN(filter_if_missing, flag_of(arguments[4]));
      CELLAR_TRY_ASSIGN(latest_version_only, flag_of(arguments[5]));
    }
    return make(column[0], column[1], op, std::move(comparator), filter_if_missing, latest_version_only);
  };
}

Result<FilterPtr> make_key_only(Arguments arguments) {
  CELLAR_TRY(check_count(arguments, 0, 1, "[sizes as values]"));
  if (arguments.empty()) return key_only_filter();
  CELLAR_TRY_ASSIGN(const bool sizes, flag_of(arguments[0]));
  return sizes ? value_size_filter() : key_only_filter();
}

Result<FilterPtr> make_pagination(Arguments arguments) {
  CELLAR_TRY(check_count(arguments, 2, 2, "limit, offset or 'first column'"));
  CELLAR_TRY_ASSIGN(const uint32_t limit, number_of<uint32_t>(arguments[0]));
  if (arguments[1].quoted) return column_pagination_filter(limit, std::string_view(arguments[1].text));
  CELLAR_TRY_ASSIGN(const uint32_t offset, number_of<uint32_t>(arguments[1]));
  return column_pagination_filter(limit, offset);
}

Result<FilterPtr> make_timestamps(Arguments arguments) {
  bool seeks = false;
  if (!arguments.empty()) {
    if (const Result<bool> last = flag_of(arguments.back()); last.ok()) {
      seeks = *last;
      arguments = arguments.first(arguments.size() - 1);
    }
  }
  std::vector<int64_t> timestamps;
  for (const FilterArgument& each : arguments) {
    CELLAR_TRY_ASSIGN(const int64_t timestamp, number_of<int64_t>(each));
    if (timestamp < 0) return expected("timestamps of 0 or more");
    timestamps.push_back(timestamp);
  }
  return seeks ? seeking_timestamps_filter(std::move(timestamps)) : timestamps_filter(std::move(timestamps));
}

Result<FilterPtr> make_column_range(Arguments arguments) {
  CELLAR_TRY(check_count(arguments, 4, 4, "'min', inclusive, 'max', inclusive"));
  CELLAR_TRY_ASSIGN(const std::string min, bytes_of(arguments[0]));
  CELLAR_TRY_ASSIGN(const bool min_inclusive, flag_of(arguments[1]));
  CELLAR_TRY_ASSIGN(const std::string max, bytes_of(arguments[2]));
  CELLAR_TRY_ASSIGN(const bool max_inclusive, flag_of(arguments[3]));
  return column_range_filter(min, min_inclusive, max, max_inclusive);
}

Result<FilterPtr> make_dependent(Arguments arguments) {
  constexpr std::string_view kForm = "'family', 'qualifier'[, drop[, operator, 'type:value']]";
  CELLAR_TRY(check_count(arguments, 2, 5, kForm));
  CELLAR_TRY(check_count(arguments, arguments.size() == 4 ? 5 : 2, 5, kForm));
  CELLAR_TRY_ASSIGN(const std::vector<std::string> column, all_bytes(arguments.first(2)));
  bool drop = false;
  if (arguments.size() > 2) {
    CELLAR_TRY_ASSIGN(drop, flag_of(arguments[2]));
  }
  const auto make = drop ? dependent_column_exclude_filter : dependent_column_filter;
  if (arguments.size() < 5) return make(column[0], column[1], CompareOp::kNoOp, nullptr);
  CELLAR_TRY_ASSIGN(const CompareOp op, op_of(arguments[3]));
  CELLAR_TRY_ASSIGN(ComparatorPtr comparator, comparator_of(arguments[4], op));
  return make(column[0], column[1], op, std::move(comparator));
}

Result<FilterPtr> make_column_value(Arguments arguments) {
  CELLAR_TRY(check_count(arguments, 4, 4, "'family', 'qualifier', operator, 'type:value'"));
  CELLAR_TRY_ASSIGN(const std::vector<std::string> column, all_bytes(arguments.first(2)));
  CELLAR_TRY_ASSIGN(const CompareOp op, op_of(arguments[2]));
  CELLAR_TRY_ASSIGN(ComparatorPtr comparator, comparator_of(arguments[3], op));
  return column_value_filter(column[0], column[1], op, std::move(comparator));
}

// ---- Names that HBase's language does not have ----

Result<FilterPtr> make_fuzzy(Arguments arguments) {
  if (arguments.size() % 2 != 0) return expected("pairs of 'key', 'mask'");
  CELLAR_TRY_ASSIGN(const std::vector<std::string> all, all_bytes(arguments));
  std::vector<std::pair<std::string, std::string>> keys_and_masks;
  for (size_t i = 0; i < all.size(); i += 2) {
    std::string mask = all[i + 1];
    for (char& byte : mask) {
      if (byte != '0' && byte != '1')
        return expected("a mask of 0 (the key's byte) and 1 (any byte), not " + escaped(all[i + 1]));
      byte = static_cast<char>(byte - '0');
    }
    keys_and_masks.emplace_back(all[i], std::move(mask));
  }
  return fuzzy_row_filter(keys_and_masks);
}

Result<FilterPtr> make_row_ranges(Arguments arguments) {
  if (arguments.size() % 4 != 0) return expected("'start', inclusive, 'stop', inclusive, repeated");
  std::vector<KeyRange> ranges;
  for (; !arguments.empty(); arguments = arguments.subspan(4)) {
    KeyRange range;
    CELLAR_TRY_ASSIGN(range.start, bytes_of(arguments[0]));
    CELLAR_TRY_ASSIGN(const bool start_inclusive, flag_of(arguments[1]));
    CELLAR_TRY_ASSIGN(range.stop, bytes_of(arguments[2]));
    CELLAR_TRY_ASSIGN(const bool stop_inclusive, flag_of(arguments[3]));
    // A KeyRange includes its start only. The row after "a" is "a\0". A range that stops before its start
    // stays as it is: it is refused, or has no rows.
    const bool is_sound =
        range.stop.empty() || range.start < range.stop || (range.start == range.stop && stop_inclusive);
    if (is_sound && !start_inclusive && !range.start.empty()) range.start += '\0';
    if (is_sound && stop_inclusive && !range.stop.empty()) range.stop += '\0';
    ranges.push_back(std::move(range));
  }
  return multi_row_range_filter(std::move(ranges));
}

Result<FilterPtr> make_random_row(Arguments arguments) {
  CELLAR_TRY(check_count(arguments, 2, 2, "'chance from 0 to 1', seed"));
  CELLAR_TRY_ASSIGN(const double chance, number_of<double>({arguments[0].text, false}));
  CELLAR_TRY_ASSIGN(const uint64_t seed, number_of<uint64_t>(arguments[1]));
  return random_row_filter(chance, seed);
}

FilterNames built_in() {
  FilterNames names;
  names["KeyOnlyFilter"] = make_key_only;
  names["FirstKeyOnlyFilter"] = no_arguments(first_key_only_filter);
  names["FilterList"] = no_arguments([] { return all_of({}); });
  names["PrefixFilter"] = one_text(prefix_filter);
  names["ColumnPrefixFilter"] = one_text(column_prefix_filter);
  names["InclusiveStopFilter"] = one_text(inclusive_stop_filter);
  names["MultipleColumnPrefixFilter"] = texts(multiple_column_prefix_filter);
  names["FirstKeyValueMatchingQualifiersFilter"] = texts(first_key_value_matching_qualifiers_filter);
  names["ColumnCountGetFilter"] = one_number<uint32_t>(column_count_get_filter);
  names["PageFilter"] = one_number<uint64_t>(page_filter);
  names["ColumnPaginationFilter"] = make_pagination;
  names["TimestampsFilter"] = make_timestamps;
  names["RowFilter"] = comparison(row_filter);
  names["FamilyFilter"] = comparison(family_filter);
  names["QualifierFilter"] = comparison(qualifier_filter);
  names["ValueFilter"] = comparison(value_filter);
  names["ColumnRangeFilter"] = make_column_range;
  names["SingleColumnValueFilter"] = single_column(single_column_value_filter);
  names["SingleColumnValueExcludeFilter"] = single_column(single_column_value_exclude_filter);
  names["DependentColumnFilter"] = make_dependent;
  names["ColumnValueFilter"] = make_column_value;
  names["FuzzyRowFilter"] = make_fuzzy;
  names["MultiRowRangeFilter"] = make_row_ranges;
  names["RandomRowFilter"] = make_random_row;
  return names;
}

}  // namespace

FilterNames& known_filters() {
  static FilterNames names = built_in();
  return names;
}

}  // namespace cellar
