// Reading the words of a step, and printing what it answered.
#include "tests/engine/semantics_words.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>

#include "base/bytes.h"
#include "base/coding.h"

namespace cellar::testing {

Words::Words(std::string_view line) : line_(line) {
  std::istringstream stream(line_);
  for (std::string word; stream >> word;) words_.push_back(word);
}

void Words::fail(const std::string& why) const { ADD_FAILURE() << why << ": " << line_; }

std::string Words::next() {
  if (done()) {
    fail("a word is missing");
    return "";
  }
  const std::string& word = words_[at_++];
  return word == "-" ? "" : unescaped(word).value_or(word);
}

bool Words::take(std::string_view word) {
  if (done() || words_[at_] != word) return false;
  ++at_;
  return true;
}

std::optional<std::string> Words::option(std::string_view key) {
  const std::string begin = std::string(key) + "=";
  for (size_t i = at_; i < words_.size() && words_[i] != "filter"; ++i) {
    if (!words_[i].starts_with(begin)) continue;
    const std::string value = words_[i].substr(begin.size());
    words_.erase(words_.begin() + static_cast<std::ptrdiff_t>(i));
    return unescaped(value).value_or(value);
  }
  return std::nullopt;
}

std::optional<std::pair<int64_t, int64_t>> Words::range(std::string_view key) {
  const std::optional<std::string> text = option(key);
  if (!text) return std::nullopt;
  const size_t comma = text->find(',');
  if (comma == std::string::npos) fail("a range is from,until");
  const std::string until = comma == std::string::npos ? "" : text->substr(comma + 1);
  return std::pair<int64_t, int64_t>(
      std::strtoll(text->c_str(), nullptr, 10),
      until.empty() ? kLatestTimestamp : std::strtoll(until.c_str(), nullptr, 10));
}

std::optional<int64_t> Words::timestamp() {
  if (done() || !words_[at_].starts_with('@')) return std::nullopt;
  return std::strtoll(words_[at_++].c_str() + 1, nullptr, 10);
}

int64_t Words::number() {
  const std::string word = next();
  char* end = nullptr;
  const int64_t number = std::strtoll(word.c_str(), &end, 10);
  if (word.empty() || *end != '\0') fail("\"" + word + "\" is not a number");
  return number;
}

bool Words::at_column() const { return !done() && words_[at_].find(':') != std::string::npos; }

std::pair<std::string, std::string> Words::column() {
  if (!at_column()) fail("a column family:qualifier is expected");
  const std::string word = next();
  const size_t colon = std::min(word.find(':'), word.size());
  return {word.substr(0, colon), colon == word.size() ? "" : word.substr(colon + 1)};
}

std::string Words::value() {
  const std::string word = next();
  if (!word.starts_with('#')) return word;
  std::string bytes;
  append_be64(bytes, static_cast<uint64_t>(std::strtoll(word.c_str() + 1, nullptr, 10)));
  return bytes;
}

std::string Words::rest() {
  std::string text;
  for (; at_ < words_.size(); ++at_) text += (text.empty() ? "" : " ") + words_[at_];
  return text;
}

std::vector<std::string> Words::rest_in_parts() {
  std::vector<std::string> parts;
  std::string text = rest();
  while (!text.empty()) {
    const size_t end = std::min(text.find("; "), text.size());
    parts.push_back(text.substr(0, end));
    text = end == text.size() ? "" : text.substr(end + 2);
  }
  return parts;
}

std::string Words::up_to(std::string_view end) {
  std::string text;
  for (; !done() && words_[at_] != end; ++at_) text += (text.empty() ? "" : " ") + words_[at_];
  if (!take(end)) fail("\"" + std::string(end) + "\" is missing");
  return text;
}

// ---- Writes ----

Put put_of(Words& words) {
  const std::optional<std::string> ttl = words.option("ttl");
  Put put(words.next());
  while (!words.done()) {
    const auto [family, qualifier] = words.column();
    const int64_t timestamp = words.timestamp().value_or(kNow);
    put.add_at(family, qualifier, timestamp, words.value());
  }
  if (ttl) put.ttl_ms(std::strtoll(ttl->c_str(), nullptr, 10));
  return put;
}

Delete delete_of(Words& words) {
  const std::string row = words.next();
  Delete erase(row, words.timestamp().value_or(kNow));
  while (!words.done()) {
    const std::string kind = words.next();
    if (kind == "family" || kind == "family_version") {
      const std::string family = words.next();
      const std::optional<int64_t> timestamp = words.timestamp();
      if (kind == "family") {
        erase.family(family, timestamp);
      } else {
        erase.family_version(family, timestamp.value_or(kNow));
      }
      continue;
    }
    const auto [family, qualifier] = words.column();
    const std::optional<int64_t> timestamp = words.timestamp();
    if (kind == "version") {
      erase.version(family, qualifier, timestamp.value_or(kNow));
    } else if (kind == "latest") {
      erase.latest_version(family, qualifier);
    } else if (kind == "column") {
      erase.column(family, qualifier, timestamp);
    } else {
      words.fail("\"" + kind + "\" is no kind of delete");
    }
  }
  return erase;
}

namespace {

// Adds the options that increments and appends share.
template <class Change>
void add_common(Change& change, Words& words) {
  if (const auto ttl = words.option("ttl")) change.ttl_ms(std::strtoll(ttl->c_str(), nullptr, 10));
  if (const auto range = words.range("range")) change.time_range(range->first, range->second);
}

}  // namespace

Increment increment_of(Words& words) {
  Increment increment(words.next());
  add_common(increment, words);
  while (!words.done()) {
    if (words.take("wrap")) {
      increment.wrap_on_overflow(true);
    } else if (const auto timestamp = words.timestamp()) {
      increment.timestamp(*timestamp);
    } else {
      const auto [family, qualifier] = words.column();
      increment.add(family, qualifier, words.number());
    }
  }
  return increment;
}

Append append_of(Words& words) {
  Append append(words.next());
  add_common(append, words);
  while (!words.done()) {
    if (words.take("silent")) {
      append.return_cells(false);
    } else if (const auto timestamp = words.timestamp()) {
      append.timestamp(*timestamp);
    } else {
      const auto [family, qualifier] = words.column();
      append.add(family, qualifier, words.value());
    }
  }
  return append;
}

RowMutations::Mutation mutation_of(const std::string& line) {
  Words words(line);
  const std::string kind = words.next();
  if (kind == "put") return put_of(words);
  if (kind == "delete") return delete_of(words);
  if (kind == "increment") return increment_of(words);
  if (kind != "append") words.fail("\"" + kind + "\" is no mutation");
  return append_of(words);
}

RowMutations row_mutations_of(const std::vector<std::string>& lines) {
  std::vector<RowMutations::Mutation> all;
  for (const std::string& line : lines) all.push_back(mutation_of(line));
  const std::string row(
      all.empty() ? "" : std::visit([](const auto& each) { return std::string(each.row()); }, all.front()));
  RowMutations mutations(row);
  for (RowMutations::Mutation& each : all) mutations.add(std::move(each));
  return mutations;
}

CheckAndMutate check_of(Words& words) {
  CheckAndMutate check(words.next());
  if (words.take("filter")) {
    check.if_passes(parse_filter(words.up_to("then")).value());
  } else {
    const std::string expected = words.value();
    const std::string op = words.next();
    constexpr std::pair<std::string_view, CompareOp> kOps[] = {
        {"<", CompareOp::kLess},      {"<=", CompareOp::kLessOrEqual},    {"=", CompareOp::kEqual},
        {"!=", CompareOp::kNotEqual}, {">=", CompareOp::kGreaterOrEqual}, {">", CompareOp::kGreater}};
    const auto* known =
        std::ranges::find(kOps, std::string_view(op), &std::pair<std::string_view, CompareOp>::first);
    const auto [family, qualifier] = words.column();
    if (known == std::end(kOps)) {
      words.fail("\"" + op + "\" is no comparison");
    } else {
      check.if_matches(family, qualifier, known->second, expected);
    }
    if (const auto range = words.range("range")) check.time_range(range->first, range->second);
    if (!words.take("then")) words.fail("\"then\" is missing");
  }
  if (words.take("mutate")) return check.then(row_mutations_of(words.rest_in_parts()));
  return std::visit([&](auto change) { return check.then(std::move(change)); }, mutation_of(words.rest()));
}

Action action_of(const std::string& line) {
  Words words(line);
  if (words.take("get")) return get_of(words, {});
  return std::visit([](auto each) -> Action { return each; }, mutation_of(line));
}

// ---- Reads ----

namespace {

uint32_t count_of(const std::string& text) {
  return text == "all" ? UINT32_MAX : static_cast<uint32_t>(std::strtoul(text.c_str(), nullptr, 10));
}

// The options with a value; those without stand among the families.
template <class Read>
void add_valued(Read& read, Words& words, const Snapshots& snapshots) {
  if (const auto versions = words.option("versions")) read.versions(count_of(*versions));
  if (const auto range = words.range("range")) read.time_range(range->first, range->second);
  if (const auto time = words.option("time")) {
    const int64_t at = std::strtoll(time->c_str(), nullptr, 10);
    read.time_range(at, at + 1);
  }
  while (const auto times = words.option("times")) {  // of one family
    const size_t comma = times->find(',');
    const size_t second = times->find(',', comma + 1);
    if (second == std::string::npos) return words.fail("times are family,from,until");
    read.family_time_range(times->substr(0, comma), std::strtoll(times->c_str() + comma + 1, nullptr, 10),
                           std::strtoll(times->c_str() + second + 1, nullptr, 10));
  }
  if (const auto most = words.option("max")) read.max_per_family(count_of(*most));
  if (const auto skipped = words.option("skip")) read.family_offset(count_of(*skipped));
  if (const auto name = words.option("at")) {
    const auto found = snapshots.find(*name);
    if (found == snapshots.end()) return words.fail("no snapshot " + *name);
    read.snapshot(found->second);
  }
}

// One word that Get and Scan have in common.
template <class Read>
void add_word(Read& read, Words& words) {
  if (words.take("all_families")) {
    read.load_families_on_demand(false);
  } else if (words.take("strict")) {
    read.strict_versions(true);
  } else if (words.take("by_cells")) {
    read.count_cells_per_family(true);
  } else if (words.take("no_cache")) {
    read.fill_cache(false);
  } else if (words.take("filter")) {
    const std::string text = words.rest();
    const auto filter = parse_filter(text);
    if (!filter.ok()) return words.fail(filter.status().to_text());
    read.filter(*filter);
  } else if (words.at_column()) {
    const auto [family, qualifier] = words.column();
    read.column(family, qualifier);
  } else {
    read.family(words.next());
  }
}

}  // namespace

Get get_of(Words& words, const Snapshots& snapshots) {
  Get get(words.next());
  add_valued(get, words, snapshots);
  while (!words.done()) add_word(get, words);
  return get;
}

Scan scan_of(Words& words, const Snapshots& snapshots) {
  Scan scan;
  add_valued(scan, words, snapshots);
  if (const auto row = words.option("start")) scan.start(*row);
  if (const auto row = words.option("after")) scan.start(*row, false);
  if (const auto row = words.option("stop")) scan.stop(*row);
  if (const auto row = words.option("through")) scan.stop(*row, true);
  if (const auto row = words.option("prefix")) scan.prefix(*row);
  if (const auto rows = words.option("limit")) scan.limit(std::strtoull(rows->c_str(), nullptr, 10));
  if (const auto cells = words.option("batch")) scan.batch(count_of(*cells));
  if (const auto bytes = words.option("bytes")) scan.max_result_bytes(count_of(*bytes));
  if (const auto cells = words.option("cursors")) scan.cursor_after_cells(count_of(*cells));
  while (!words.done()) {
    if (words.take("reversed")) {
      scan.reversed(true);
    } else if (words.take("raw")) {
      scan.raw(true);
    } else {
      add_word(scan, words);
    }
  }
  return scan;
}

// ---- Answers ----

namespace {

std::string text_of(std::string_view value) {
  const bool counter = value.size() == 8 && (value[0] == '\0' || value[0] == '\xFF');
  return counter ? "#" + std::to_string(static_cast<int64_t>(load_be64(value.data()))) : escaped(value);
}

std::string text_of(std::string_view family, std::string_view qualifier, int64_t timestamp, CellType type,
                    std::string_view value) {
  const std::string text =
      " " + std::string(family) + ":" + escaped(qualifier) + "@" + std::to_string(timestamp);
  return text + (type == CellType::kPut ? "=" + text_of(value) : " " + std::string(type_name(type)));
}

}  // namespace

std::string text_of(const RowView& row) {
  if (row.is_cursor()) return "cursor at " + escaped(row.row()) + "\n";
  if (row.empty()) return "nothing\n";
  std::string text = escaped(row.row()) + ":";
  for (const CellView& cell : row.cells())
    text += text_of(cell.family(), cell.qualifier(), cell.timestamp, cell.type(), cell.value_bytes());
  return text + (row.more_cells_in_row() ? " …\n" : "\n");
}

std::string text_of(const Row& row) {
  if (row.cells.empty()) return "nothing\n";
  std::string text = escaped(row.row) + ":";
  for (const Cell& cell : row.cells)
    text += text_of(cell.family, cell.qualifier, cell.timestamp, cell.type, cell.value);
  return text + "\n";
}

std::string text_of(const Status& failure) {
  return std::string(code_name(failure.code())) + ": " + std::string(failure.message()) + "\n";
}

}  // namespace cellar::testing
