// Filters as messages. A filter does not tell its parts except as text, in the filter language; the terms of
// that text become the messages.
#include <fmt/core.h>

#include <charconv>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "filter/language_parser.h"
#include "hbase/wire/filter.pb.h"
#include "hbase/wire/filter_names.h"
#include "hbase/wire/to_wire.h"

namespace cellar::hbase::wire {
namespace {

using Arguments = std::span<const FilterArgument>;
using google::protobuf::MessageLite;

Result<WireFilter> made(std::string_view name, const MessageLite& message) {
  WireFilter filter;
  filter.set_class_name(std::string(kFilterPackage) + std::string(name));
  filter.set_message(message.SerializeAsString());
  return filter;
}

Status wrong(std::string_view name) {
  return Status::invalid_argument(
      fmt::format("{} does not write its arguments as the filter language has them", name));
}

template <class Number>
Result<Number> number_of(const FilterArgument& argument) {
  Number number = 0;
  const std::string& text = argument.text;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size())
    return Status::invalid_argument("a filter has no number: " + escaped(text));
  return number;
}

bool flag_of(const FilterArgument& argument) { return same_but_for_case(argument.text, "true"); }

Result<Compare> compare_of(const FilterArgument& argument) {
  for (const CompareOp op :
       {CompareOp::kLess, CompareOp::kLessOrEqual, CompareOp::kEqual, CompareOp::kNotEqual,
        CompareOp::kGreaterOrEqual, CompareOp::kGreater, CompareOp::kNoOp})
    if (argument.text == op_text(op)) return static_cast<Compare>(op);
  return Status::invalid_argument("a filter has no operator: " + escaped(argument.text));
}
static_assert(static_cast<int>(CompareOp::kLess) == LESS &&
              static_cast<int>(CompareOp::kNotEqual) == NOT_EQUAL &&
              static_cast<int>(CompareOp::kNoOp) == NO_OP);

Status set_comparison(Comparison& to, const FilterArgument& op, const FilterArgument& comparator) {
  CELLAR_TRY_ASSIGN(const Compare compare, compare_of(op));
  to.set_compare(compare);
  return to_wire_comparator(comparator.text, *to.mutable_comparator());
}

// ---- Makers, by the arguments of the language

Result<WireFilter> no_fields(std::string_view name, Arguments) { return made(name, NoFields()); }

Result<WireFilter> of_bytes(std::string_view name, Arguments arguments) {
  if (arguments.size() != 1) return wrong(name);
  BytesFilter message;
  message.set_bytes(arguments[0].text);
  return made(name, message);
}

Result<WireFilter> of_count(std::string_view name, Arguments arguments) {
  if (arguments.size() != 1) return wrong(name);
  CELLAR_TRY_ASSIGN(const uint64_t count, number_of<uint64_t>(arguments[0]));
  const uint64_t most = name == "PageFilter" ? uint64_t{INT64_MAX} : uint64_t{INT32_MAX};
  CountFilter message;
  message.set_count(static_cast<int64_t>(std::min(count, most)));
  return made(name, message);
}

Result<WireFilter> of_comparison(std::string_view name, Arguments arguments) {
  if (arguments.size() != 2) return wrong(name);
  ComparingFilter message;
  CELLAR_TRY(set_comparison(*message.mutable_comparison(), arguments[0], arguments[1]));
  return made(name, message);
}

Result<WireFilter> key_only(std::string_view name, Arguments arguments) {
  KeyOnlyFilter message;
  message.set_size_as_value(!arguments.empty() && flag_of(arguments[0]));
  return made(name, message);
}

Result<WireFilter> prefixes(std::string_view name, Arguments arguments) {
  MultipleColumnPrefixFilter message;
  for (const FilterArgument& each : arguments) message.add_prefixes(each.text);
  return made(name, message);
}

Result<WireFilter> qualifiers(std::string_view name, Arguments arguments) {
  QualifiersFilter message;
  for (const FilterArgument& each : arguments) message.add_qualifiers(each.text);
  return made(name, message);
}

Result<WireFilter> pagination(std::string_view name, Arguments arguments) {
  if (arguments.size() != 2) return wrong(name);
  ColumnPaginationFilter message;
  CELLAR_TRY_ASSIGN(const uint32_t columns, number_of<uint32_t>(arguments[0]));
  message.set_columns(static_cast<int32_t>(std::min<uint32_t>(columns, INT32_MAX)));
  if (arguments[1].quoted) {
    message.set_first_column(arguments[1].text);
  } else {
    CELLAR_TRY_ASSIGN(const uint32_t offset, number_of<uint32_t>(arguments[1]));
    message.set_offset(static_cast<int32_t>(std::min<uint32_t>(offset, INT32_MAX)));
  }
  return made(name, message);
}

Result<WireFilter> timestamps(std::string_view name, Arguments arguments) {
  TimestampsFilter message;
  message.set_can_hint(false);
  for (const FilterArgument& each : arguments) {
    if (same_but_for_case(each.text, "true")) {
      message.set_can_hint(true);
    } else {
      CELLAR_TRY_ASSIGN(const int64_t timestamp, number_of<int64_t>(each));
      message.add_timestamps(timestamp);
    }
  }
  return made(name, message);
}

// An empty end is open: the field is left out.
Result<WireFilter> column_range(std::string_view name, Arguments arguments) {
  if (arguments.size() != 4) return wrong(name);
  ColumnRangeFilter message;
  if (!arguments[0].text.empty()) message.set_min_column(arguments[0].text);
  message.set_min_inclusive(flag_of(arguments[1]));
  if (!arguments[2].text.empty()) message.set_max_column(arguments[2].text);
  message.set_max_inclusive(flag_of(arguments[3]));
  return made(name, message);
}

Result<WireFilter> single_column(std::string_view name, Arguments arguments) {
  if (arguments.size() != 6) return wrong(name);
  SingleColumnValueFilter message;
  message.set_family(arguments[0].text);
  message.set_qualifier(arguments[1].text);
  CELLAR_TRY_ASSIGN(const Compare compare, compare_of(arguments[2]));
  message.set_compare(compare);
  CELLAR_TRY(to_wire_comparator(arguments[3].text, *message.mutable_comparator()));
  message.set_filter_if_missing(flag_of(arguments[4]));
  message.set_latest_version_only(flag_of(arguments[5]));
  if (name == "SingleColumnValueFilter") return made(name, message);
  SingleColumnValueExcludeFilter outer;
  *outer.mutable_filter() = message;
  return made(name, outer);
}

Result<WireFilter> column_value(std::string_view name, Arguments arguments) {
  if (arguments.size() != 4) return wrong(name);
  ColumnValueFilter message;
  message.set_family(arguments[0].text);
  message.set_qualifier(arguments[1].text);
  CELLAR_TRY_ASSIGN(const Compare compare, compare_of(arguments[2]));
  message.set_compare(compare);
  CELLAR_TRY(to_wire_comparator(arguments[3].text, *message.mutable_comparator()));
  return made(name, message);
}

Result<WireFilter> dependent_column(std::string_view name, Arguments arguments) {
  if (arguments.size() < 2 || arguments.size() > 5 || arguments.size() == 4) return wrong(name);
  DependentColumnFilter message;
  message.set_family(arguments[0].text);
  message.set_qualifier(arguments[1].text);
  message.set_drop_dependent_column(arguments.size() > 2 && flag_of(arguments[2]));
  message.mutable_comparison()->set_compare(NO_OP);
  if (arguments.size() == 5)
    CELLAR_TRY(set_comparison(*message.mutable_comparison(), arguments[3], arguments[4]));
  return made(name, message);
}

// HBase's form of a mask: -1 for a byte of the key, 2 for any byte, where the key has 0.
Result<WireFilter> fuzzy_row(std::string_view name, Arguments arguments) {
  if (arguments.size() % 2 != 0) return wrong(name);
  FuzzyRowFilter message;
  message.set_mask_v2(true);
  for (size_t i = 0; i < arguments.size(); i += 2) {
    std::string key = arguments[i].text;
    std::string mask = arguments[i + 1].text;
    if (key.size() != mask.size()) return wrong(name);
    for (size_t at = 0; at < mask.size(); ++at) {
      const bool any = mask[at] == '1';
      if (any) key[at] = '\0';
      mask[at] = static_cast<char>(any ? 2 : -1);
    }
    auto* pair = message.add_keys();
    pair->set_first(key);
    pair->set_second(mask);
  }
  return made(name, message);
}

Result<WireFilter> row_ranges(std::string_view name, Arguments arguments) {
  if (arguments.empty() || arguments.size() % 4 != 0) return wrong(name);
  MultiRowRangeFilter message;
  for (; !arguments.empty(); arguments = arguments.subspan(4)) {
    RowRange& range = *message.add_ranges();
    range.set_start(arguments[0].text);
    range.set_start_inclusive(flag_of(arguments[1]));
    range.set_stop(arguments[2].text);
    range.set_stop_inclusive(flag_of(arguments[3]));
  }
  return made(name, message);
}

Result<WireFilter> random_row(std::string_view name, Arguments arguments) {
  if (arguments.empty()) return wrong(name);
  CELLAR_TRY_ASSIGN(const double chance, number_of<double>(arguments[0]));
  RandomRowFilter message;
  message.set_chance(static_cast<float>(chance));
  return made(name, message);
}

Result<WireFilter> list_of(FilterList::Combination combination, const std::vector<WireFilter>& members) {
  FilterList message;
  message.set_combination(combination);
  for (const WireFilter& each : members) *message.add_filters() = each;
  return made("FilterList", message);
}

Result<WireFilter> empty_list(std::string_view, Arguments) { return list_of(FilterList::ALL, {}); }

WireFilter of_filter(std::string_view name, const WireFilter& filter) {
  FilterOfFilter message;
  *message.mutable_filter() = filter;
  return made(name, message).value();
}

using Maker = Result<WireFilter> (*)(std::string_view, Arguments);
const std::map<std::string, Maker, std::less<>>& makers() {
  static const std::map<std::string, Maker, std::less<>> all = {
      {"KeyOnlyFilter", key_only},
      {"FirstKeyOnlyFilter", no_fields},
      {"FilterList", empty_list},
      {"PrefixFilter", of_bytes},
      {"ColumnPrefixFilter", of_bytes},
      {"InclusiveStopFilter", of_bytes},
      {"MultipleColumnPrefixFilter", prefixes},
      {"FirstKeyValueMatchingQualifiersFilter", qualifiers},
      {"ColumnCountGetFilter", of_count},
      {"PageFilter", of_count},
      {"ColumnPaginationFilter", pagination},
      {"TimestampsFilter", timestamps},
      {"RowFilter", of_comparison},
      {"FamilyFilter", of_comparison},
      {"QualifierFilter", of_comparison},
      {"ValueFilter", of_comparison},
      {"ColumnRangeFilter", column_range},
      {"SingleColumnValueFilter", single_column},
      {"SingleColumnValueExcludeFilter", single_column},
      {"DependentColumnFilter", dependent_column},
      {"ColumnValueFilter", column_value},
      {"FuzzyRowFilter", fuzzy_row},
      {"MultiRowRangeFilter", row_ranges},
      {"RandomRowFilter", random_row},
  };
  return all;
}

// Makes messages of the terms of the language.
struct WireBuilder {
  using Term = WireFilter;

  static WireFilter all(const std::vector<WireFilter>& members) {
    return list_of(FilterList::ALL, members).value();
  }
  static WireFilter any(const std::vector<WireFilter>& members) {
    return list_of(FilterList::ONE, members).value();
  }
  static WireFilter skip(const WireFilter& filter) { return of_filter("SkipFilter", filter); }
  static WireFilter while_match(const WireFilter& filter) { return of_filter("WhileMatchFilter", filter); }
  static bool knows(const std::string& name) { return makers().contains(name); }
  static Result<WireFilter> make(const std::string& name, const std::vector<FilterArgument>& arguments) {
    return makers().find(name)->second(name, arguments);
  }
};

}  // namespace

Status to_wire_filter(const Filter& filter, WireFilter& to) {
  const std::string text = filter.to_text();
  Result<WireFilter> made = filter_grammar::FilterParser<WireBuilder>(text, {}).parse();
  if (made.ok()) {
    to = std::move(made).value();
    return {};
  }
  return Status::not_supported(fmt::format("HBase's servers do not know the filter \"{}\": {}",
                                           escaped(text.substr(0, 100)), made.status().message()))
      .hinting("use the filters of cellar/filter.h, or filter what the scan returns");
}

}  // namespace cellar::hbase::wire
