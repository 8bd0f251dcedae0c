// Lines of operations as Cellar's requests.
#include "tests/interop/region_requests.h"

#include <algorithm>
#include <cstdlib>
#include <stdexcept>

#include "base/coding.h"
#include "cellar/filter.h"

namespace cellar::interop {
namespace {

std::string value_of(std::string_view text) {
  if (!text.starts_with('#')) return std::string(text);
  std::string bytes(8, '\0');
  store_be64(bytes.data(), static_cast<uint64_t>(number(text.substr(1))));
  return bytes;
}

struct TimeRange {
  int64_t from = 0;
  int64_t until = kLatestTimestamp;
};

TimeRange range_of(std::string_view text) {
  if (text == "-") return {};
  const std::vector<std::string> ends = split(text, '-');
  return {number(ends.at(0)), number(ends.at(1))};
}

int64_t time_of(std::string_view text) { return text == "-" ? kNow : number(text); }

// Reads the fields that increments and appends share: TTL, range of the current value, timestamp.
template <class Computed>
void read_common(Computed& computed, Fields fields) {
  if (fields[2] != "-") computed.ttl_ms(number(fields[2]));
  const TimeRange range = range_of(fields[3]);
  computed.time_range(range.from, range.until);
  if (fields[4] != "-") computed.timestamp(number(fields[4]));
}

RowMutations::Mutation read_mutation(Fields fields) {
  if (fields[0] == "put") return read_put(fields);
  if (fields[0] == "delete") return read_delete(fields);
  if (fields[0] == "increment") return read_increment(fields);
  if (fields[0] == "append") return read_append(fields);
  throw std::invalid_argument(fields[0]);
}

CheckAndMutate::Change read_change(Fields fields) {
  if (fields[0] == "mutate") return read_mutations(fields);
  return std::visit([](auto&& mutation) -> CheckAndMutate::Change { return std::move(mutation); },
                    read_mutation(fields));
}

CompareOp compare_of(const std::string& name) {
  constexpr std::pair<std::string_view, CompareOp> kNames[] = {
      {"LESS", CompareOp::kLess},       {"LESS_OR_EQUAL", CompareOp::kLessOrEqual},
      {"EQUAL", CompareOp::kEqual},     {"NOT_EQUAL", CompareOp::kNotEqual},
      {"GREATER", CompareOp::kGreater}, {"GREATER_OR_EQUAL", CompareOp::kGreaterOrEqual},
  };
  for (const auto& [text, compare] : kNames)
    if (text == name) return compare;
  throw std::invalid_argument(name);
}

Result<FilterPtr> read_filter(const std::string& field) {
  const std::string text = field.substr(field.find('=') + 1);
  if (field.starts_with("filter=")) return parse_filter(text);
  if (field.starts_with("fuzzy=")) {
    std::vector<std::pair<std::string, std::string>> keys;
    for (const std::string& key : split(text, ',')) {
      auto& each = keys.emplace_back(key, std::string(key.size(), '\0'));
      for (size_t i = 0; i < key.size(); ++i)
        if (key[i] == '?') each.first[i] = '\0', each.second[i] = '\1';
    }
    return fuzzy_row_filter(keys);
  }
  if (!field.starts_with("ranges=")) throw std::invalid_argument(field);
  std::vector<KeyRange> ranges;
  for (const std::string& each : split(text, ',')) {
    const std::vector<std::string> parts = split(each, ':', 4);
    KeyRange& range = ranges.emplace_back(KeyRange{parts.at(0), parts.at(2)});
    if (parts.at(1) != "i" && !range.start.empty()) range.start += '\0';
    if (parts.at(3) == "i" && !range.stop.empty()) range.stop += '\0';
  }
  return multi_row_range_filter(std::move(ranges));
}

// One option of those that Get and Scan share.
template <class Read>
Status read_option(Read& read, const std::string& field) {
  const std::string name = field.substr(0, field.find('='));
  const std::string value = field.substr(field.find('=') + 1);
  if (name == "family") {
    read.family(value);
  } else if (name == "column") {
    const std::vector<std::string> parts = split(value, ':', 2);
    read.column(parts.at(0), parts.at(1));
  } else if (name == "versions") {
    read.versions(static_cast<uint32_t>(number(value)));
  } else if (name == "familylimit") {
    read.max_per_family(static_cast<uint32_t>(number(value))).count_cells_per_family(true);
  } else if (name == "familyoffset") {
    read.family_offset(static_cast<uint32_t>(number(value))).count_cells_per_family(true);
  } else if (name == "range") {
    read.time_range(range_of(value).from, range_of(value).until);
  } else {
    CELLAR_TRY_ASSIGN(FilterPtr filter, read_filter(field));
    read.filter(std::move(filter));
  }
  return {};
}

// One option that only Scan has.
bool read_scan_option(Scan& scan, const std::string& field) {
  const std::string name = field.substr(0, field.find('='));
  const std::string value = field.substr(field.find('=') + 1);
  if (name == "start" || name == "stop") {
    const std::vector<std::string> parts = split(value, ':', 2);
    const bool inclusive = parts.at(1) == "i";
    name == "start" ? scan.start(parts[0], inclusive) : scan.stop(parts[0], inclusive);
  } else if (name == "reversed") {
    scan.reversed(true);
  } else if (name == "raw") {
    scan.raw(true);
  } else if (name == "limit") {
    scan.limit(static_cast<uint64_t>(number(value)));
  } else if (name == "batch") {
    scan.batch(static_cast<uint32_t>(number(value)));
  } else {
    return false;
  }
  return true;
}

}  // namespace

std::vector<std::string> split(std::string_view text, char at, size_t parts) {
  std::vector<std::string> pieces;
  while (pieces.size() + 1 < parts && text.find(at) != std::string_view::npos) {
    pieces.emplace_back(text.substr(0, text.find(at)));
    text.remove_prefix(text.find(at) + 1);
  }
  pieces.emplace_back(text);
  return pieces;
}

int64_t number(std::string_view text) { return std::strtoll(std::string(text).c_str(), nullptr, 10); }

Put read_put(Fields fields) {
  Put put(fields[1]);
  for (const std::string& field : fields.subspan(3)) {
    const std::vector<std::string> item = split(field, ':', 4);
    put.add_at(item.at(0), item.at(1), time_of(item.at(2)), value_of(item.at(3)));
  }
  if (fields[2] != "-") put.ttl_ms(number(fields[2]));
  return put;
}

Delete read_delete(Fields fields) {
  Delete erase(fields[1], time_of(fields[2]));
  for (const std::string& field : fields.subspan(3)) {
    const std::vector<std::string> item = split(field, ':', 4);
    if (item[0] == "version") {
      erase.version(item.at(1), item.at(2), number(item.at(3)));
    } else if (item[0] == "latest") {
      erase.latest_version(item.at(1), item.at(2));
    } else if (item[0] == "column") {
      erase.column(item.at(1), item.at(2), time_of(item.at(3)));
    } else if (item[0] == "family") {
      erase.family(item.at(1), time_of(item.at(2)));
    } else if (item[0] == "familyversion") {
      erase.family_version(item.at(1), number(item.at(2)));
    } else {
      throw std::invalid_argument(field);
    }
  }
  return erase;
}

Increment read_increment(Fields fields) {
  Increment increment(fields[1]);
  increment.wrap_on_overflow(true);  // as HBase
  read_common(increment, fields);
  for (const std::string& field : fields.subspan(5)) {
    const std::vector<std::string> item = split(field, ':', 3);
    increment.add(item.at(0), item.at(1), number(item.at(2)));
  }
  return increment;
}

Append read_append(Fields fields) {
  Append append(fields[1]);
  read_common(append, fields);
  for (const std::string& field : fields.subspan(5)) {
    const std::vector<std::string> item = split(field, ':', 3);
    append.add(item.at(0), item.at(1), value_of(item.at(2)));
  }
  return append;
}

RowMutations read_mutations(Fields fields) {
  RowMutations all(fields[1]);
  for (size_t begin = 2; begin < fields.size();) {
    const auto end = static_cast<size_t>(
        std::find(fields.begin() + static_cast<std::ptrdiff_t>(begin), fields.end(), "|") - fields.begin());
    all.add(read_mutation(fields.subspan(begin, end - begin)));
    begin = end + 1;
  }
  return all;
}

Result<CheckAndMutate> read_check(Fields fields) {
  CheckAndMutate check(fields[1]);
  if (fields[3].starts_with("filter=")) {
    CELLAR_TRY_ASSIGN(FilterPtr filter, read_filter(fields[3]));
    check.if_passes(std::move(filter));
  } else {
    const std::vector<std::string> parts = split(fields[3], ':', 4);
    check.if_matches(parts.at(0), parts.at(1), compare_of(parts.at(2)), value_of(parts.at(3)));
  }
  const TimeRange range = range_of(fields[2]);
  check.time_range(range.from, range.until);
  check.then(read_change(fields.subspan(4)));
  return check;
}

Result<Get> read_get(Fields fields) {
  Get get(fields[1]);
  for (const std::string& field : fields.subspan(2)) CELLAR_TRY(read_option(get, field));
  return get;
}

Result<Scan> read_scan(Fields fields) {
  Scan scan;
  scan.load_families_on_demand(std::ranges::find(fields, "reversed") == fields.end());  // as HBase's side
  for (const std::string& field : fields.subspan(1))
    if (!read_scan_option(scan, field)) CELLAR_TRY(read_option(scan, field));
  return scan;
}

}  // namespace cellar::interop
