// The text form of a plug-in's choice, "name(key=value, …)", and the nearest valid name for a wrong one.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

#include "base/bytes.h"
#include "base/units.h"
#include "cellar/plugin.h"

namespace cellar {

namespace {

bool is_space(char c) { return c == ' ' || c == '\t'; }

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

bool is_word(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.';
  });
}

// Splits a text such as "12.5k" into its number and the rest. Returns false if the text does not begin
// with a number.
bool split_number(std::string_view text, double& number, std::string_view& unit) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return false;
  unit = trimmed(text.substr(static_cast<size_t>(end - text.data())));
  return true;
}

// Computes number * each as an integer. Returns false if the result is negative or `limit` or more.
bool scale(double number, double each, double limit, uint64_t& scaled) {
  const double value = number * each;
  if (!(value >= 0) || value >= limit) return false;
  scaled = static_cast<uint64_t>(value + 0.5);
  return true;
}

size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

}  // namespace

Result<PluginParams> PluginParams::parse(std::string_view text) {
  const std::string quoted = "\"" + escaped(text) + "\"";
  PluginParams params;
  const std::string_view whole = trimmed(text);
  const size_t open = whole.find('(');
  const std::string_view name = trimmed(whole.substr(0, open));
  if (!is_word(name)) return Status::invalid_argument(quoted + " does not begin with a name");
  params.name_ = name;
  if (open == whole.npos) return params;
  if (whole.back() != ')')
    return Status::invalid_argument(quoted + " lacks the closing parenthesis at its end");
  std::string_view inside = whole.substr(open + 1, whole.size() - open - 2);
  if (trimmed(inside).empty()) return params;
  std::string last;  // the key whose value a word may continue
  while (true) {
    const size_t comma = inside.find(',');
    const std::string_view item = trimmed(inside.substr(0, comma));
    const size_t equals = item.find('=');
    const std::string_view key = trimmed(item.substr(0, equals));
    if (equals == item.npos || !is_word(key)) {
      std::string fault = quoted + ": \"" + escaped(item) + "\" is not of the form key=value";
      if (last.empty() || !is_word(item)) return Status::invalid_argument(fault);
      params.values_[last].append(",").append(item);
      params.continued_.emplace(last, std::move(fault));
    } else {
      const std::string_view value = trimmed(item.substr(equals + 1));
      if (value.empty()) return Status::invalid_argument(quoted + ": " + std::string(key) + " has no value");
      if (!params.values_.emplace(key, value).second)
        return Status::invalid_argument(quoted + ": " + std::string(key) + " is given twice");
      last = key;
    }
    if (comma == inside.npos) return params;
    inside.remove_prefix(comma + 1);
  }
}

const std::string* PluginParams::find(std::string_view key) const {
  asked_.emplace(key, false);
  const auto found = values_.find(key);
  return found == values_.end() ? nullptr : &found->second;
}

void PluginParams::complain(std::string_view key, std::string_view expected) const {
  if (!complaint_.empty()) return;  // only the first complaint is reported
  const auto found = values_.find(key);
  complaint_ = std::string(key) + " of " + name_ + " must be " + std::string(expected);
  complaint_ += found == values_.end() ? ", and is missing" : ", not \"" + escaped(found->second) + "\"";
}

uint64_t PluginParams::count(std::string_view key, uint64_t otherwise) const {
  const std::string* value = find(key);
  if (value == nullptr) return otherwise;
  uint64_t parsed = 0;
  const auto [end, error] = std::from_chars(value->data(), value->data() + value->size(), parsed);
  if (error == std::errc() && end == value->data() + value->size()) return parsed;
  complain(key, "a whole number");
  return otherwise;
}

double PluginParams::number(std::string_view key, double otherwise) const {
  const std::string* value = find(key);
  if (value == nullptr) return otherwise;
  double parsed = 0;
  std::string_view unit;
  if (split_number(*value, parsed, unit) && unit.empty() && std::isfinite(parsed)) return parsed;
  complain(key, "a number");
  return otherwise;
}

uint64_t PluginParams::bytes(std::string_view key, uint64_t otherwise) const {
  const std::string* value = find(key);
  if (value == nullptr) return otherwise;
  constexpr double kLimit = 18446744073709551616.0;
  double parsed = 0;
  std::string_view unit;
  uint64_t scaled = 0;
  if (split_number(*value, parsed, unit)) {
    const bool known = unit.empty() || unit == "k" || unit == "m" || unit == "g" || unit == "K" ||
                       unit == "M" || unit == "G";
    const char kind = unit.empty() ? ' ' : static_cast<char>(unit[0] | 0x20);
    const double each = kind == 'k' ? 0x1p10 : kind == 'm' ? 0x1p20 : kind == 'g' ? 0x1p30 : 1;
    if (known && scale(parsed, each, kLimit, scaled)) return scaled;
  }
  int64_t in_words = 0;
  if (parse_bytes_in_words(*value, in_words) && in_words >= 0) return static_cast<uint64_t>(in_words);
  complain(key, "a size such as 4096, 64k, 8MiB or 1 GB");
  return otherwise;
}

int64_t PluginParams::duration_ms(std::string_view key, int64_t otherwise) const {
  const std::string* value = find(key);
  if (value == nullptr) return otherwise;
  static constexpr struct {
    std::string_view name;
    double ms;
  } kUnits[] = {{"ms", 1}, {"s", 1e3}, {"m", 60e3}, {"h", 3600e3}, {"d", 86400e3}};
  constexpr double kLimit = 9223372036854775808.0;
  double parsed = 0;
  std::string_view unit;
  uint64_t scaled = 0;
  if (split_number(*value, parsed, unit)) {
    for (const auto& each : kUnits) {
      if (unit == each.name && scale(parsed, each.ms, kLimit, scaled)) return static_cast<int64_t>(scaled);
    }
    if (unit.empty() && parsed == 0) return 0;
  }
  complain(key, "a duration such as 500ms, 10s, 5m, 2h or 1d");
  return otherwise;
}

bool PluginParams::flag(std::string_view key, bool otherwise) const {
  const std::string* value = find(key);
  if (value == nullptr) return otherwise;
  if (*value == "true" || *value == "yes" || *value == "on" || *value == "1") return true;
  if (*value == "false" || *value == "no" || *value == "off" || *value == "0") return false;
  complain(key, "true or false");
  return otherwise;
}

std::string PluginParams::text(std::string_view key, std::string otherwise) const {
  const std::string* value = find(key);
  return value == nullptr ? std::move(otherwise) : *value;
}

std::vector<std::string> PluginParams::list(std::string_view key, std::string_view otherwise) const {
  const std::string* value = find(key);
  asked_.insert_or_assign(std::string(key), true);
  std::vector<std::string> parts;
  std::string_view rest = value != nullptr ? std::string_view(*value) : otherwise;
  while (true) {
    const size_t comma = rest.find(',');
    parts.emplace_back(trimmed(rest.substr(0, comma)));
    if (comma == rest.npos) return parts;
    rest.remove_prefix(comma + 1);
  }
}

uint64_t PluginParams::count_within(std::string_view key, uint64_t otherwise, uint64_t least,
                                    uint64_t most) const {
  const uint64_t value = count(key, otherwise);
  if (value >= least && value <= most) return value;
  complain(key, "a whole number from " + std::to_string(least) + " to " + std::to_string(most));
  return otherwise;
}

int64_t PluginParams::integer_within(std::string_view key, int64_t otherwise, int64_t least,
                                     int64_t most) const {
  int64_t parsed = otherwise;
  const std::string* value = find(key);
  bool whole = true;
  if (value != nullptr) {
    const auto [end, error] = std::from_chars(value->data(), value->data() + value->size(), parsed);
    whole = error == std::errc() && end == value->data() + value->size();
  }
  if (whole && parsed >= least && parsed <= most) return parsed;
  complain(key, "a whole number from " + std::to_string(least) + " to " + std::to_string(most));
  return otherwise;
}

double PluginParams::number_within(std::string_view key, double otherwise, double least, double most) const {
  const double value = number(key, otherwise);
  if (value >= least && value <= most) return value;
  const auto text = [](double limit) {
    char digits[32];
    const auto [end, error] = std::to_chars(digits, digits + sizeof(digits), limit);
    return error == std::errc() ? std::string(digits, end) : std::to_string(limit);
  };
  complain(key, "a number from " + text(least) + " to " + text(most));
  return otherwise;
}

std::string PluginParams::choice(std::string_view key, std::string_view otherwise,
                                 std::initializer_list<std::string_view> choices) const {
  std::string value = text(key, std::string(otherwise));
  if (std::ranges::find(choices, std::string_view(value)) != choices.end()) return value;
  std::string all;
  for (const std::string_view each : choices) all.append(all.empty() ? "" : " or ").append(each);
  complain(key, all);
  return std::string(otherwise);
}

Status PluginParams::finish() const {
  for (const auto& [key, fault] : continued_)
    if (const auto asked = asked_.find(key); asked != asked_.end() && !asked->second)
      return Status::invalid_argument(fault);
  if (!complaint_.empty()) return Status::invalid_argument(complaint_);
  std::vector<std::string> known;
  for (const auto& [key, as_list] : asked_) known.push_back(key);
  for (const auto& [key, value] : values_) {
    if (asked_.find(key) != asked_.end()) continue;
    std::string list;
    for (const std::string& each : known) list += (list.empty() ? "" : ", ") + each;
    return Status::invalid_argument(name_ + " has no parameter " + key +
                                    (known.empty() ? "; it takes none" : "; it takes " + list))
        .hinting(nearest_hint(key, known));
  }
  return {};
}

std::string nearest_name(std::string_view name, const std::vector<std::string>& choices) {
  constexpr size_t kDistanceMax = 2;
  std::string nearest;
  std::pair<size_t, size_t> least = {std::numeric_limits<size_t>::max(), 0};
  for (const std::string& choice : choices) {
    // A name that is a prefix of the other counts as a single edit. A distance equal to the name's length
    // would match anything.
    const bool begins =
        !name.empty() && !choice.empty() && (choice.starts_with(name) || name.starts_with(choice));
    const size_t edits = edit_distance(name, choice);
    const size_t distance = begins ? std::min<size_t>(edits, 1) : edits;
    const bool near = distance <= kDistanceMax && distance < std::max(name.size(), choice.size());
    if (near && std::pair(distance, edits) < least) {
      nearest = choice;
      least = {distance, edits};
    }
  }
  return nearest;
}

std::string nearest_hint(std::string_view name, const std::vector<std::string>& choices) {
  const std::string nearest = nearest_name(name, choices);
  return nearest.empty() ? "" : "did you mean " + nearest + "?";
}

}  // namespace cellar
