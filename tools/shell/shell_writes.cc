// The shell's commands that change rows: put, delete, deleteall, incr, append.
#include <fmt/format.h>

#include <array>

#include "base/bytes.h"
#include "tools/frame/operands.h"
#include "tools/frame/output.h"
#include "tools/shell/shell_call.h"
#include "tools/store/increment_error.h"
#include "tools/store/store.h"

namespace cellar {
namespace {

constexpr std::array<std::string_view, 4> kPutOptions = {"TTL", "VISIBILITY", "IF", "IF_ABSENT"};
constexpr std::array<std::string_view, 1> kDeleteOptions = {"VISIBILITY"};
constexpr std::array<std::string_view, 2> kDeleteallOptions = {"ROWPREFIXFILTER", "VISIBILITY"};
constexpr std::array<std::string_view, 3> kIncrOptions = {"TTL", "VISIBILITY", "OVERFLOW"};
constexpr std::array<std::string_view, 2> kAppendOptions = {"TTL", "VISIBILITY"};

struct Column {
  std::string family;
  std::string qualifier = {};  // empty without a colon, as HBase takes it
  bool whole_family = false;
};

// Position `i` as a column of the table.
Result<Column> column_at(ShellCall& call, const Table& table, size_t i) {
  CELLAR_TRY_ASSIGN(const std::string text, call.text(i));
  const size_t colon = text.find(':');
  Column column{.family = text.substr(0, colon), .whole_family = colon == std::string::npos};
  if (!column.whole_family) column.qualifier = text.substr(colon + 1);
  if (column.family.empty()) return call.fault(call.position(i), "a column needs a family", "write 'f:q'");
  CELLAR_TRY(call.at(call.position(i), check_family(call.session(), table, column.family)));
  return column;
}

// A label that is dropped would show the cell to everybody.
Status refuse_visibility(ShellCall& call) {
  const ShellValue* const label = call.option("VISIBILITY");
  if (label == nullptr) return {};
  return call.at(*label, Status::not_supported("a store has no visibility labels")
                             .hinting("leave out VISIBILITY only if everybody may read the cell"));
}

// Points the caret at the operand that an error of a write is about: the row if it is invalid, else
// `operand`. Errors of the store get no caret.
Status at_operand(ShellCall& call, size_t operand, const Status& status) {
  if (!status.is(Code::kInvalidArgument) && !status.is(Code::kLimit)) return status;
  const std::string& row = call.position(1).text;
  const bool row_is_wrong = row.empty() || row.size() > kRowBytesMax;
  return call.at(call.position(row_is_wrong ? 1 : operand), status);
}

Result<int64_t> time_at(ShellCall& call, size_t i) {
  if (call.positions() <= i) return kNow;
  return call.time_of(call.position(i));
}

// {IF => 'd:name=Ada'} and {IF_ABSENT => 'd:name'}: whether there is a condition.
Result<bool> add_condition(ShellCall& call, const Table& table, CheckAndMutate& check) {
  const ShellValue* const expected = call.option("IF");
  const ShellValue* const absent = call.option("IF_ABSENT");
  if (expected == nullptr && absent == nullptr) return false;
  if (expected != nullptr && absent != nullptr)
    return call.fault(*absent, "IF and IF_ABSENT exclude each other");
  const ShellValue& at = expected != nullptr ? *expected : *absent;
  CELLAR_TRY_ASSIGN(const std::string text, call.text_of(at));
  const size_t end = expected != nullptr ? text.find('=') : text.size();
  const size_t colon = text.find(':');
  if (end == std::string::npos || colon == 0 || colon >= end)
    return call.fault(at, fmt::format("invalid condition \"{}\"", escaped(text)),
                      "write IF => 'd:name=Ada', or IF_ABSENT => 'd:name'");
  const std::string family = text.substr(0, colon);
  const std::string qualifier = text.substr(colon + 1, end - colon - 1);
  CELLAR_TRY(call.at(at, check_family(call.session(), table, family)));
  if (absent != nullptr) {
    check.if_not_exists(family, qualifier);
  } else {
    check.if_equals(family, qualifier, text.substr(end + 1));
  }
  return true;
}

Status run_put(ShellCall& call) {
  CELLAR_TRY(call.take(kPutOptions, 4, 5));
  CELLAR_TRY(refuse_visibility(call));
  CELLAR_TRY_ASSIGN(const std::string row, call.text(1));
  CELLAR_TRY_ASSIGN(const std::string value, call.text(3));
  CELLAR_TRY_ASSIGN(const int64_t time, time_at(call, 4));
  CELLAR_TRY_ASSIGN(const std::shared_ptr<Table> table, call.table());
  CELLAR_TRY_ASSIGN(const Column column, column_at(call, *table, 2));
  Put put(row);
  put.add_at(column.family, column.qualifier, time, value);
  if (const ShellValue* const ttl = call.option("TTL")) {
    CELLAR_TRY_ASSIGN(const int64_t span, call.number_of(*ttl, 1));
    put.ttl_ms(span);
  }
  CheckAndMutate check(row);
  CELLAR_TRY_ASSIGN(const bool conditional, add_condition(call, *table, check));
  if (!conditional) return at_operand(call, 3, table->put(put));
  const Result<ActionResult> result = table->check_and_mutate(check.then(put));
  if (!result.ok()) return at_operand(call, 3, result.status());
  if (!result->matched) {
    call.session().answer_negative();
    call.session().talk("nothing was written: the condition does not hold");
  }
  return {};
}

Status run_delete(ShellCall& call) {
  CELLAR_TRY(call.take(kDeleteOptions, 3, 4));
  CELLAR_TRY(refuse_visibility(call));
  CELLAR_TRY_ASSIGN(const std::string row, call.text(1));
  CELLAR_TRY_ASSIGN(const int64_t time, time_at(call, 3));
  CELLAR_TRY_ASSIGN(const std::shared_ptr<Table> table, call.table());
  CELLAR_TRY_ASSIGN(const Column column, column_at(call, *table, 2));
  Delete erase(row);
  if (column.whole_family) {
    if (time == kNow)
      return call.fault(call.position(2), "a family needs the timestamp of the version here",
                        "write 'f:q'; deleteall deletes a whole family");
    erase.family_version(column.family, time);
  } else if (time == kNow) {
    erase.latest_version(column.family, column.qualifier);
  } else {
    erase.version(column.family, column.qualifier, time);
  }
  return at_operand(call, 2, table->erase(erase));
}

// Rows that begin with `prefix`, each deleted as `add` says.
Status delete_rows(ShellCall& call, Table& table, const std::string& prefix,
                   const std::optional<Column>& column, int64_t time) {
  if (prefix.empty())
    return call.fault(*call.option("ROWPREFIXFILTER"), "an empty prefix means every row",
                      "truncate empties a table");
  if (!call.confirmed(fmt::format("delete from all rows with the prefix {}?", escaped(prefix)))) return {};
  Scan scan;
  scan.prefix(prefix).fill_cache(false);
  if (time != kNow) scan.time_range(0, time + 1);
  if (column && column->whole_family) scan.family(column->family);
  if (column && !column->whole_family) scan.column(column->family, column->qualifier);
  uint64_t rows = 0;
  const auto on_way = [&](uint64_t done) { return rows = done, !call.session().stopping(); };
  const Result<uint64_t> deleted = table.erase_rows(scan, on_way);
  if (interrupted()) return interrupted_status(fmt::format("{} were deleted", counted(rows, "row")));
  CELLAR_TRY(deleted);
  call.session().talk(fmt::format("deleted cells of {}", counted(rows, "row")));
  return {};
}

Status run_deleteall(ShellCall& call) {
  CELLAR_TRY(call.take(kDeleteallOptions, 1, 4));
  CELLAR_TRY(refuse_visibility(call));
  const ShellValue* const prefix = call.option("ROWPREFIXFILTER");
  const size_t at = prefix != nullptr ? 1 : 2;  // of the column
  if (prefix == nullptr && call.positions() < 2)
    return call.fault(call.position(0), "deleteall needs a row or a prefix",
                      "to delete every row: truncate; the table itself: drop");
  CELLAR_TRY_ASSIGN(const int64_t time, time_at(call, at + 1));
  CELLAR_TRY_ASSIGN(const std::shared_ptr<Table> table, call.table());
  std::optional<Column> column;
  if (call.positions() > at && !(call.position(at).plain() && call.position(at).text.empty()) &&
      !call.position(at).is_word("nil")) {
    CELLAR_TRY_ASSIGN(column, column_at(call, *table, at));
  }
  if (prefix != nullptr) {
    CELLAR_TRY_ASSIGN(const std::string text, call.text_of(*prefix));
    return delete_rows(call, *table, text, column, time);
  }
  CELLAR_TRY_ASSIGN(const std::string row, call.text(1));
  Delete erase(row, time);
  if (column && column->whole_family) erase.family(column->family);
  if (column && !column->whole_family) erase.column(column->family, column->qualifier);
  return at_operand(call, 1, table->erase(erase));
}

// An increment fails because of its column, which is no counter, or of its amount.
Status at_fault_of_increment(ShellCall& call, Table& table, const std::string& row, const Column& column,
                             const Status& status) {
  constexpr size_t kCounterBytes = 8;
  size_t operand = 2;
  if (call.positions() > 3 && !row.empty() && row.size() <= kRowBytesMax) {
    CELLAR_TRY_ASSIGN(const RowBatch found, table.get(Get(row).column(column.family, column.qualifier)));
    const auto cells = found.row();
    operand = cells.empty() || cells.begin()->value_size == kCounterBytes ? 3 : 2;
  }
  return at_operand(call, operand, status);
}

Status run_incr(ShellCall& call) {
  CELLAR_TRY(call.take(kIncrOptions, 3, 4));
  CELLAR_TRY(refuse_visibility(call));
  CELLAR_TRY_ASSIGN(const std::string row, call.text(1));
  int64_t amount = 1;
  if (call.positions() > 3) {
    CELLAR_TRY_ASSIGN(amount, call.number_of(call.position(3), INT64_MIN));
  }
  CELLAR_TRY_ASSIGN(const std::shared_ptr<Table> table, call.table());
  CELLAR_TRY_ASSIGN(const Column column, column_at(call, *table, 2));
  Increment increment(row);
  increment.add(column.family, column.qualifier, amount);
  if (const ShellValue* const ttl = call.option("TTL")) {
    CELLAR_TRY_ASSIGN(const int64_t span, call.number_of(*ttl, 1));
    increment.ttl_ms(span);
  }
  if (const ShellValue* const overflow = call.option("OVERFLOW")) {
    CELLAR_TRY_ASSIGN(const std::string word, call.text_of(*overflow));
    const std::string wanted = upper_ascii(word);
    if (wanted != "WRAP" && wanted != "ERROR") return call.fault(*overflow, "expected WRAP or ERROR");
    increment.wrap_on_overflow(wanted == "WRAP");
  }
  const Result<std::vector<int64_t>> sums = table->increment(increment);
  if (!sums.ok()) {
    return at_fault_of_increment(call, *table, row, column,
                                 with_overflow_hint(sums.status(), "{OVERFLOW => 'WRAP'}"));
  }
  Session& session = call.session();
  Records records(session.out(), session.format(), "cellar.incr/1", "counters");
  if (session.format() != Format::kRaw) records.bytes("column", column.family + ":" + column.qualifier);
  records.number("value", sums->front()).add();
  records.finish();
  return {};
}

Status run_append(ShellCall& call) {
  CELLAR_TRY(call.take(kAppendOptions, 4, 4));
  CELLAR_TRY(refuse_visibility(call));
  CELLAR_TRY_ASSIGN(const std::string row, call.text(1));
  CELLAR_TRY_ASSIGN(const std::string value, call.text(3));
  CELLAR_TRY_ASSIGN(const std::shared_ptr<Table> table, call.table());
  CELLAR_TRY_ASSIGN(const Column column, column_at(call, *table, 2));
  Append append(row);
  append.add(column.family, column.qualifier, value);
  if (const ShellValue* const ttl = call.option("TTL")) {
    CELLAR_TRY_ASSIGN(const int64_t span, call.number_of(*ttl, 1));
    append.ttl_ms(span);
  }
  const Result<Row> appended = table->append(append);
  if (!appended.ok()) return at_operand(call, 3, appended.status());
  const Row& changed = *appended;
  Session& session = call.session();
  Records records(session.out(), session.format(), "cellar.append/1", "columns");
  for (const Cell& cell : changed.cells) {
    if (session.format() != Format::kRaw) records.bytes("column", cell.family + ":" + cell.qualifier);
    records.bytes("value", cell.value).add();
  }
  records.finish();
  return {};
}

constexpr std::array kWriteVerbs = {
    ShellVerb{"put",
              "put 't', 'row', 'f:q', 'value'[, time][, {OPTION => value, …}]\n"
              "put 'orders', 'user42', 'd:name', 'Ada'\n"
              "put 'orders', \"\\x00\\x01\", 'd:name', 'Ada', 1763748251203\n"
              "put orders user42 d:name Ada\n"
              "put 'orders', 'user42', 'd:name', 'Ada Lovelace', {IF => 'd:name=Ada'}\n"
              "options: TTL => milliseconds\n"
              "         IF => 'f:q=value', IF_ABSENT => 'f:q': otherwise nothing is written, exit status 1",
              "Write a cell", run_put, kPutOptions},
    ShellVerb{"delete",
              "delete 't', 'row', 'f:q'[, time]\n"
              "delete 'orders', 'user42', 'd:mail'\n"
              "delete 'orders', 'user42', 'd:mail', 1763748251203",
              "Delete the newest version of a column, or the version with this timestamp", run_delete,
              kDeleteOptions},
    ShellVerb{"deleteall",
              "deleteall 't', 'row'[, 'f:q'[, time]]\n"
              "deleteall 'orders', 'user42'\n"
              "deleteall 'orders', 'user42', 'd'\n"
              "deleteall 'orders', {ROWPREFIXFILTER => 'user4'}",
              "Delete a row, a family or column of it, or all rows with a prefix", run_deleteall,
              kDeleteallOptions},
    ShellVerb{"incr",
              "incr 't', 'row', 'f:q'[, amount]\n"
              "incr 'orders', 'user42', 'c:visits'\n"
              "incr 'orders', 'user42', 'c:stock', -1\n"
              "incr 'orders', 'user42', 'c:visits', 1, {OVERFLOW => 'WRAP'}\n"
              "options: TTL => milliseconds\n"
              "         OVERFLOW => 'WRAP': wrap around on overflow, as HBase does; default: an error",
              "Add to a counter and print its new value", run_incr, kIncrOptions},
    ShellVerb{"append",
              "append 't', 'row', 'f:q', 'value'\n"
              "append 'orders', 'user42', 'd:log', 'paid;'\n"
              "append orders user42 d:log 'sent;' ttl=86400000",
              "Append bytes to a value and print the new value", run_append, kAppendOptions},
};

}  // namespace

std::span<const ShellVerb> shell_write_verbs() { return kWriteVerbs; }

}  // namespace cellar
