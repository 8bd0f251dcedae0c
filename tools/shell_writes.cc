// The shell's commands that change rows: put, delete, deleteall, incr, append.
#include <fmt/format.h>

#include <array>

#include "base/bytes.h"
#include "tools/operands.h"
#include "tools/output.h"
#include "tools/shell_call.h"
#include "tools/store.h"

namespace cellar {
namespace {

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
  if (column.family.empty())
    return call.fault(call.position(i), "a column begins with its family", "write 'f:q'");
  CELLAR_TRY(call.at(call.position(i), check_family(call.session(), table, column.family)));
  return column;
}

// A label that is dropped would show the cell to everybody.
Status refuse_visibility(ShellCall& call) {
  const ShellValue* const label = call.option("VISIBILITY");
  if (label == nullptr) return {};
  return call.at(*label, Status::not_supported("a store has no visibility labels")
                             .hinting("leave VISIBILITY out only if everybody may read the cell"));
}

Result<int64_t> time_at(ShellCall& call, size_t i) {
  if (call.positions() <= i) return kNow;
  return call.time_of(call.position(i));
}

Status run_put(ShellCall& call) {
  constexpr std::array<std::string_view, 2> kOptions = {"TTL", "VISIBILITY"};
  CELLAR_TRY(call.take(kOptions, 4, 5, 4));
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
  return table->put(put);
}

Status run_delete(ShellCall& call) {
  constexpr std::array<std::string_view, 1> kOptions = {"VISIBILITY"};
  CELLAR_TRY(call.take(kOptions, 3, 4, 4));
  CELLAR_TRY(refuse_visibility(call));
  CELLAR_TRY_ASSIGN(const std::string row, call.text(1));
  CELLAR_TRY_ASSIGN(const int64_t time, time_at(call, 3));
  CELLAR_TRY_ASSIGN(const std::shared_ptr<Table> table, call.table());
  CELLAR_TRY_ASSIGN(const Column column, column_at(call, *table, 2));
  Delete erase(row);
  if (column.whole_family) {
    if (time == kNow)
      return call.fault(call.position(2), "a family is deleted with the time of the version, or whole",
                        "write 'f:q'; deleteall takes a whole family");
    erase.family_version(column.family, time);
  } else if (time == kNow) {
    erase.latest_version(column.family, column.qualifier);
  } else {
    erase.version(column.family, column.qualifier, time);
  }
  return table->erase(erase);
}

// Rows that begin with `prefix`, each deleted as `add` says.
Status delete_rows(ShellCall& call, Table& table, const std::string& prefix,
                   const std::optional<Column>& column, int64_t time) {
  if (prefix.empty())
    return call.fault(*call.option("ROWPREFIXFILTER"), "an empty prefix means every row",
                      "truncate empties a table");
  Scan scan;
  scan.prefix(prefix).fill_cache(false).batch(1);
  uint64_t rows = 0;
  CELLAR_TRY_ASSIGN(const std::unique_ptr<Scanner> scanner, table.scan(scan));
  std::string last;
  while (!call.session().stopping() && scanner->next()) {
    const std::string row(scanner->row().row());
    if (rows > 0 && row == last) continue;
    Delete erase(row, time);
    if (column && column->whole_family) erase.family(column->family);
    if (column && !column->whole_family) erase.column(column->family, column->qualifier);
    CELLAR_TRY(table.erase(erase));
    last = row;
    ++rows;
  }
  CELLAR_TRY(scanner->status());
  if (interrupted()) return interrupted_status(fmt::format("{} were deleted", counted(rows, "row")));
  call.session().talk(fmt::format("deleted in {}", counted(rows, "row")));
  return {};
}

Status run_deleteall(ShellCall& call) {
  constexpr std::array<std::string_view, 2> kOptions = {"ROWPREFIXFILTER", "VISIBILITY"};
  CELLAR_TRY(call.take(kOptions, 1, 4, 4));
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
  return table->erase(erase);
}

Status run_incr(ShellCall& call) {
  constexpr std::array<std::string_view, 1> kOptions = {"VISIBILITY"};
  CELLAR_TRY(call.take(kOptions, 3, 4, 4));
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
  const Result<std::vector<int64_t>> sums = table->increment(increment);
  if (!sums.ok()) return call.at(call.position(2), sums.status());
  Session& session = call.session();
  Records records(session.out(), session.format(), "cellar.incr/1", "counters");
  if (session.format() != Format::kRaw) records.bytes("column", column.family + ":" + column.qualifier);
  records.number("value", sums->front()).add();
  records.finish();
  return {};
}

Status run_append(ShellCall& call) {
  constexpr std::array<std::string_view, 2> kOptions = {"TTL", "VISIBILITY"};
  CELLAR_TRY(call.take(kOptions, 4, 4, 4));
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
  CELLAR_TRY_ASSIGN(const Row changed, table->append(append));
  Session& session = call.session();
  Records records(session.out(), session.format(), "cellar.append/1", "columns");
  for (const Cell& cell : changed.cells) {
    if (session.format() != Format::kRaw) records.bytes("column", cell.family + ":" + cell.qualifier);
    records.bytes("value", cell.value).add();
  }
  records.finish();
  return {};
}

constexpr std::array kVerbs = {
    ShellVerb{"put",
              "put 't', 'row', 'f:q', 'value'[, time][, {TTL => milliseconds}]\n"
              "put 'orders', 'user42', 'd:name', 'Ada'\n"
              "put 'orders', \"\\x00\\x01\", 'd:name', 'Ada', 1763748251203\n"
              "put orders user42 d:name Ada",
              "Write a cell", run_put},
    ShellVerb{"delete",
              "delete 't', 'row', 'f:q'[, time]\n"
              "delete 'orders', 'user42', 'd:mail'\n"
              "delete 'orders', 'user42', 'd:mail', 1763748251203",
              "Delete the newest version of a column, or the one of this time", run_delete},
    ShellVerb{"deleteall",
              "deleteall 't', 'row'[, 'f:q'[, time]]\n"
              "deleteall 'orders', 'user42'\n"
              "deleteall 'orders', 'user42', 'd'\n"
              "deleteall 'orders', {ROWPREFIXFILTER => 'user4'}",
              "Delete a row, a family or a column of it, or rows by prefix", run_deleteall},
    ShellVerb{"incr",
              "incr 't', 'row', 'f:q'[, amount]\n"
              "incr 'orders', 'user42', 'c:visits'\n"
              "incr 'orders', 'user42', 'c:stock', -1",
              "Add to a counter and print its new value", run_incr},
    ShellVerb{"append",
              "append 't', 'row', 'f:q', 'value'\n"
              "append 'orders', 'user42', 'd:log', 'paid;'",
              "Add to the end of a value and print the new one", run_append},
};

}  // namespace

std::span<const ShellVerb> shell_write_verbs() { return kVerbs; }

}  // namespace cellar
