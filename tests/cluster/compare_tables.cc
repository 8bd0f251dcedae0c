// Random requests to two tables, and their answers as texts.
#include "tests/cluster/compare_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "base/bytes.h"
#include "engine/values/check_reader.h"

namespace cellar::interop {
namespace {

constexpr std::string_view kCounters = "n";
constexpr size_t kChangesKept = 12;  // of each row, to find the cause of a difference

// A row as text, without the timestamps of counters.
template <class Cells>
std::string text_of(std::string_view row, const Cells& cells) {
  std::string text(row);
  for (const auto& each : cells) {
    const Cell cell(each);
    text += fmt::format(" {}:{}", cell.family, cell.qualifier);
    if (cell.family != kCounters) text += fmt::format("@{}", cell.timestamp);
    uint64_t hash = 0;
    for (const char c : cell.value) hash = hash * 31 + static_cast<uint8_t>(c);
    text += fmt::format("/{}={}:{:x}", type_name(cell.type), cell.value.size(), hash);
  }
  return text;
}

// Errors are alike if their codes are. Their texts help to find the cause of a difference.
constexpr char kMessageBegin = '\1';
constexpr char kMessageEnd = '\2';
std::string text_of(const Status& status) {
  return fmt::format("failed {}{}{}{}", code_name(status.code()), kMessageBegin, status.to_text(),
                     kMessageEnd);
}
std::string without_messages(std::string text) {
  for (size_t at = 0; (at = text.find(kMessageBegin, at)) != std::string::npos;)
    text.erase(at, text.find(kMessageEnd, at) - at + 1);
  return text;
}
std::string text_of(const Result<Row>& row) {
  return row.ok() ? text_of(row->cells.empty() ? "" : row->row, row->cells) : text_of(row.status());
}
std::string text_of(const Result<ActionResult>& result) {
  if (!result.ok()) return text_of(result.status());
  return fmt::format("{} {}", result->matched, text_of(Result<Row>(result->row)));
}

std::string done(const Status& status) { return status.ok() ? "ok" : text_of(status); }
std::string flag(const Result<bool>& flag) {
  return flag.ok() ? (*flag ? "true" : "false") : text_of(flag.status());
}

// Requests as texts, to find the cause of a difference.
std::string describe(const RowMutation& mutation) {
  std::string text;
  for (const Cell& each : mutation.cells())
    text += fmt::format(" {}:{}@{}/{}={}", each.family, each.qualifier, each.timestamp, type_name(each.type),
                        escaped(each.value.substr(0, 10)));
  return text;
}
std::string describe(const Delete& erase) {
  return fmt::format(" at {}{}", erase.timestamp(), describe(static_cast<const RowMutation&>(erase)));
}
std::string describe(const RowMutations& all) {
  std::string text;
  for (const RowMutations::Mutation& each : all.mutations())
    text += std::visit([](const auto& change) { return " |" + describe(change); }, each);
  return text;
}
std::string describe(const CheckAndMutate& check) {
  const auto change = [](const auto& each) -> std::string {
    if constexpr (requires { describe(each); }) return describe(each);
    return {};
  };
  return " then" + std::visit(change, CheckReader(check).change());
}

template <class Asked>
std::string describe_query(const Asked& asked) {
  std::string text = "columns=";
  for (const auto& [family, qualifiers] : asked.columns())
    text += fmt::format("{}:[{}] ", family, fmt::join(qualifiers, ","));
  text += fmt::format("times={}-{} ", asked.time_from(), asked.time_until());
  for (const auto& [family, times] : asked.family_time_ranges())
    text += fmt::format("times of {}={}-{} ", family, times.first, times.second);
  return text + fmt::format("versions={} max_per_family={} family_offset={} cache={} filter={}",
                            asked.versions(), asked.max_per_family(), asked.family_offset(),
                            asked.fill_cache(), asked.filter() == nullptr ? "" : asked.filter()->to_text());
}

std::string describe(const Get& get) { return get.row() + " " + describe_query(get); }
std::string describe(const Scan& scan) {
  std::string text;
  for (const KeyRange& each : scan.ranges()) text += fmt::format("range={}-{} ", each.start, each.stop);
  return text + fmt::format("start={}:{} stop={}:{} prefix={} reversed={} limit={} batch={} bytes={} {}",
                            scan.start(), scan.start_inclusive(), scan.stop(), scan.stop_inclusive(),
                            scan.prefix(), scan.reversed(), scan.limit(), scan.batch(),
                            scan.max_result_bytes(), describe_query(scan));
}

// Returns the rows at the first place where two answers of reads differ.
std::set<std::string> rows_of_difference(std::string_view one, std::string_view other) {
  const auto same = static_cast<size_t>(std::ranges::mismatch(one, other).in1 - one.begin());
  std::set<std::string> rows;
  for (std::string_view text : {one, other}) {
    const size_t begin = text.rfind("; ", same);
    if (begin != std::string_view::npos) text.remove_prefix(begin + 2);
    rows.emplace(text.substr(0, text.find(' ')));
  }
  return rows;
}

}  // namespace

template <class Ask>
void CompareTables::both(const std::string& kind, const Ask& ask, const std::string& about,
                         std::string_view changed_row) {
  ++counts_[kind];
  const std::string one = ask(*tables_[0]);
  const std::string other = ask(*tables_[1]);
  if (!changed_row.empty()) remember(changed_row, kind + about + " -> " + other);
  const std::string shown[2] = {without_messages(one), without_messages(other)};
  if (shown[0] == shown[1]) return;
  ++differences_;
  std::string text = fmt::format("difference {} {}\n  cluster {}\n  store   {}", kind, about, one, other);
  if (changed_row.empty()) {
    const std::string again = without_messages(ask(*tables_[0]));
    text += fmt::format("\n  cluster, asked again: {}", again == shown[1]   ? "as the store"
                                                        : again == shown[0] ? "as before"
                                                                            : again);
    for (const std::string& row : rows_of_difference(shown[0], shown[1]))
      for (const std::string& each : history_[row]) text += fmt::format("\n  before, to {}: {}", row, each);
  }
  report_(text);
}

void CompareTables::remember(std::string_view row, const std::string& change) {
  std::deque<std::string>& changes = history_[std::string(row)];
  changes.push_back(change);
  if (changes.size() > kChangesKept) changes.pop_front();
}

void CompareTables::step() {
  switch (draw_.random().below(16)) {
    case 0:
    case 1:
    case 2: {
      const Put put = draw_.put(draw_.row());
      return both(
          "put", [&](Table& t) { return done(t.put(put)); }, describe(put), put.row());
    }
    case 3: {
      const Delete erase = draw_.erase(draw_.row());
      return both(
          "erase", [&](Table& t) { return done(t.erase(erase)); }, describe(erase), erase.row());
    }
    case 4:
      return increment();
    case 5:
      return append();
    case 6: {
      if (draw_.only_repeatable()) return append();
      const RowMutations all = draw_.mutations(draw_.row());
      return both(
          "mutate", [&](Table& t) { return text_of(t.mutate(all)); }, describe(all), all.row());
    }
    case 7: {
      if (draw_.only_repeatable()) return increment();
      const CheckAndMutate check = draw_.check(draw_.row());
      return both(
          "check", [&](Table& t) { return text_of(t.check_and_mutate(check)); }, describe(check),
          check.row());
    }
    case 8:
      return batch();
    case 9:
    case 10: {
      const Get get = draw_.get();
      return both(
          "get", [&](Table& t) { return text_of(t.get_row(get)); }, describe(get));
    }
    case 11: {
      const Get get = draw_.get();
      return both(
          "exists", [&](Table& t) { return flag(t.exists(get)); }, describe(get));
    }
    case 12:
      return many();
    default:
      return scan();
  }
}

void CompareTables::increment() {
  const Increment increment = draw_.increment(draw_.row());
  both(
      "increment",
      [&](Table& table) {
        const auto sums = table.increment(increment);
        return sums.ok() ? fmt::format("{}", fmt::join(*sums, " ")) : text_of(sums.status());
      },
      describe(increment), increment.row());
}

void CompareTables::append() {
  const Append append = draw_.append(draw_.row());
  both(
      "append", [&](Table& table) { return text_of(table.append(append)); }, describe(append), append.row());
}

void CompareTables::batch() {
  const std::vector<Action> actions = draw_.actions();
  both(
      "batch",
      [&](Table& table) {
        std::string text;
        for (const Result<ActionResult>& each : table.batch(actions)) text += text_of(each) + "; ";
        return text;
      },
      {}, "a list");
  const auto keep = [this](const auto& action) {
    if constexpr (!std::is_same_v<std::decay_t<decltype(action)>, Get>)
      remember(action.row(), "in a list:" + describe(action));
  };
  for (const Action& each : actions) std::visit(keep, each);
}

void CompareTables::many() {
  std::vector<Get> gets;
  for (uint64_t i = draw_.random().below(20); i > 0; --i) gets.push_back(draw_.get());
  both("get_many", [&](Table& table) {
    const auto batches = table.get_many(gets);
    if (!batches.ok()) return text_of(batches.status());
    std::string text;
    for (const RowBatch& each : *batches) text += text_of(each.row().row(), each.row()) + "; ";
    return text;
  });
  both("exists_many", [&](Table& table) {
    const auto found = table.exists_many(gets);
    if (!found.ok()) return text_of(found.status());
    std::string text;
    for (const bool each : *found) text += each ? '1' : '0';
    return text;
  });
}

void CompareTables::scan() {
  const Scan scan = draw_.scan();
  // Where a row may be cut anywhere, the cuts are not compared.
  const bool any_parts = scan.max_result_bytes() != 0;
  both(
      "scan",
      [&](Table& table) {
        const auto scanner = table.scan(scan);
        if (!scanner.ok()) return text_of(scanner.status());
        std::string text;
        std::string open_row;
        for (const RowView row : **scanner) {
          const bool goes_on = any_parts && open_row == row.row();
          text += (goes_on ? "" : "; ") + text_of(goes_on ? "" : row.row(), row);
          if (!any_parts && row.more_cells_in_row()) text += " more";
          open_row = row.more_cells_in_row() ? std::string(row.row()) : "";
        }
        return text + ((*scanner)->status().ok() ? "" : text_of((*scanner)->status()));
      },
      describe(scan));
}

}  // namespace cellar::interop
