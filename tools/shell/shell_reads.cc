// The shell's commands that read: get, scan, count, get_counter.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/bytes.h"
#include "base/coding.h"
#include "base/text_width.h"
#include "tools/frame/cell_printer.h"
#include "tools/frame/operands.h"
#include "tools/frame/progress.h"
#include "tools/frame/read_cost.h"
#include "tools/frame/read_options.h"
#include "tools/query/key_fields.h"
#include "tools/query/scan_options.h"
#include "tools/query/table_rows.h"
#include "tools/shell/shell_call.h"
#include "tools/store/store.h"

namespace cellar {
namespace {

constexpr std::array<std::string_view, 2> kColumnOptions = {"COLUMN", "COLUMNS"};
// HBase's names of them are maxResultsPerColumnFamily and rowOffsetPerColumnFamily.
constexpr std::string_view kFamilyMax = "MAXRESULTSPERCOLUMNFAMILY";
constexpr std::string_view kFamilyOffset = "ROWOFFSETPERCOLUMNFAMILY";

constexpr std::array<std::string_view, 10> kGetOptions = {"COLUMN",   "COLUMNS",    "TIMESTAMP", "TIMERANGE",
                                                          "VERSIONS", "FILTER",     "FORMATTER", "MAXLENGTH",
                                                          kFamilyMax, kFamilyOffset};
constexpr std::array<std::string_view, 20> kScanOptions = {
    "COLUMNS",   "COLUMN",   "STARTROW", "STOPROW",      "ROWPREFIXFILTER", "LIMIT",      "TIMERANGE",
    "TIMESTAMP", "VERSIONS", "RAW",      "REVERSED",     "FILTER",          "FORMATTER",  "MAXLENGTH",
    "BATCH",     kFamilyMax, "METRICS",  "CACHE_BLOCKS", "ALL_METRICS",     kFamilyOffset};
// The options of scan that select rows and cells. HBase's count hands all of them to its scan.
constexpr std::array<std::string_view, 18> kCountOptions = {
    "COLUMNS",   "COLUMN",    "STARTROW",    "STOPROW",      "ROWPREFIXFILTER", "LIMIT",
    "TIMERANGE", "TIMESTAMP", "VERSIONS",    "RAW",          "REVERSED",        "FILTER",
    kFamilyMax,  "METRICS",   "ALL_METRICS", "CACHE_BLOCKS", "INTERVAL",        kFamilyOffset};

struct Formatter {
  std::string_view name;
  std::string_view form;  // of --as
};
constexpr std::array kFormatters = {
    Formatter{"toLong", "long"},   Formatter{"toInt", "int"},
    Formatter{"toShort", "short"}, Formatter{"toDouble", "double"},
    Formatter{"toFloat", "float"}, Formatter{"toBoolean", "boolean"},
    Formatter{"toString", "utf8"}, Formatter{"toStringBinary", "escaped"},
    Formatter{"toHex", "hex"},
};

// HBase's name, or a word of --as.
std::string form_of(std::string_view formatter) {
  for (const Formatter& each : kFormatters)
    if (each.name == formatter) return std::string(each.form);
  const std::vector<std::string> forms = value_forms();
  const auto found = std::ranges::find(forms, formatter);
  return found == forms.end() ? "" : *found;
}

Status unknown_formatter(ShellCall& call, const ShellValue& at, const std::string& name,
                         std::string_view more = "") {
  std::vector<std::string> names;
  for (const Formatter& each : kFormatters) names.emplace_back(each.name);
  for (const std::string& form : value_forms()) names.push_back(form);
  return call.fault(at, fmt::format("unknown formatter \"{}\"", escaped(name)),
                    fmt::format("{}{}", fmt::join(names, ", "), more));
}

// Returns true if HBase would look up the ending, such as "toFixed", among the methods of its Bytes. It then
// is not part of the qualifier.
bool is_method(std::string_view ending) {
  return ending.size() > 2 && ending.starts_with("to") && ending[2] >= 'A' && ending[2] <= 'Z';
}

// A filter may be written over several lines: outside its quotes a line's end is a blank.
std::string on_one_line(std::string text) {
  bool quoted = false;
  for (char& c : text) {
    quoted = quoted != (c == '\'');
    if (!quoted && (c == '\n' || c == '\r' || c == '\t')) c = ' ';
  }
  return text;
}

// A column of HBase's shell: "f", "f:q", "f:q:toInt".
struct ReadColumn {
  std::string family;
  std::optional<std::string> qualifier = {};
};

class ReadRequest {
 public:
  // Adds "f:q" or "f:q:toInt"; the rule goes to the printer.
  Status add_column(ShellCall& call, const ShellValue& at, const std::string& text);
  // Reads the options that get, scan and count share. Position `from` is the first column.
  Status take(ShellCall& call, size_t from);
  template <class Read>
  Status apply(ShellCall& call, const Table& table, Read& read);
  const ValueRules& rules() const { return rules_; }
  size_t value_width() const { return value_width_; }
  // Returns true if the cost of the read is told.
  bool explained() const { return explained_; }
  bool raw() const { return raw_; }

 private:
  Status take_times(ShellCall& call);
  Status take_family_limits(ShellCall& call);
  Status take_versions(ShellCall& call);
  Status take_showing(ShellCall& call);

  std::vector<std::pair<ReadColumn, const ShellValue*>> columns_;
  std::optional<std::pair<int64_t, int64_t>> times_;
  std::optional<uint32_t> versions_;
  uint32_t family_max_ = 0;  // no limit
  uint32_t family_offset_ = 0;
  FilterPtr filter_;
  ValueRules rules_;
  size_t value_width_ = SIZE_MAX;
  bool explained_ = false;
  bool raw_ = false;
};

Status ReadRequest::add_column(ShellCall& call, const ShellValue& at, const std::string& text) {
  const size_t colon = text.find(':');
  ReadColumn column{.family = text.substr(0, colon)};
  if (column.family.empty()) return call.fault(at, "a column needs a family", "write 'f:q'");
  if (colon != std::string::npos) {
    column.qualifier = text.substr(colon + 1);
    const size_t last = column.qualifier->rfind(':');
    std::string ending = last == std::string::npos ? "" : column.qualifier->substr(last + 1);
    constexpr std::string_view kBytesClass = "c(org.apache.hadoop.hbase.util.Bytes).";
    const bool of_bytes = ending.starts_with(kBytesClass);
    if (of_bytes) ending.erase(0, kBytesClass.size());
    if (ending.starts_with("c("))
      return call.fault(at, "a Java class cannot format values here",
                        "toLong, toInt, toDouble and toString can");
    if (const std::string form = form_of(ending); form.empty()) {
      if (of_bytes || is_method(ending))
        return unknown_formatter(call, at, ending,
                                 of_bytes ? "" : "; for a column with this name, add :toStringBinary");
    } else {
      column.qualifier->resize(last);
      CELLAR_TRY(
          rules_.add(fmt::format("{}:{}={}", escaped(column.family), escaped(*column.qualifier), form)));
    }
  }
  columns_.emplace_back(std::move(column), &at);
  return {};
}

// As in HBase a time range holds against a timestamp, in whatever order they stand.
Status ReadRequest::take_times(ShellCall& call) {
  if (const ShellValue* const moment = call.option("TIMESTAMP")) {
    CELLAR_TRY_ASSIGN(const int64_t time, call.time_of(*moment));
    if (time >= kLatestTimestamp) return call.fault(*moment, "no cell has this timestamp");
    times_ = {time, time + 1};
    if (call.has("TIMERANGE")) call.session().talk("note   TIMESTAMP has no effect because of TIMERANGE");
  }
  if (const ShellValue* const range = call.option("TIMERANGE")) {
    if (range->kind != ShellValue::Kind::kList || range->items.size() != 2)
      return call.fault(*range, "a time range needs two times",
                        "TIMERANGE => [from, until]; until is excluded");
    CELLAR_TRY_ASSIGN(const int64_t from, call.time_of(range->items[0]));
    CELLAR_TRY_ASSIGN(const int64_t until, call.time_of(range->items[1]));
    if (from > until) return call.fault(*range, "the first time is later than the second");
    times_ = {from, until};
  }
  return {};
}

// A scan of HBase takes what is less than 1 for 1, a get refuses it.
Status ReadRequest::take_versions(ShellCall& call) {
  const ShellValue* const versions = call.option("VERSIONS");
  if (versions == nullptr) return {};
  CELLAR_TRY_ASSIGN(const std::string text, call.text_of(*versions));
  if (const Result<int64_t> given = parse_integer(text);
      call.statement().name != "get" && given.ok() && *given < 1) {
    versions_ = 1;
    return {};
  }
  const Result<uint32_t> number = parse_versions(text);
  if (!number.ok())
    return call.fault(*versions, std::string(number.status().message()), number.status().hint());
  versions_ = *number;
  return {};
}

// FORMATTER, MAXLENGTH, METRICS, ALL_METRICS.
Status ReadRequest::take_showing(ShellCall& call) {
  rules_ = ValueRules::of_format(call.session().format());
  if (call.state().values) rules_.set_values(*call.state().values);
  if (const ShellValue* const formatter = call.option("FORMATTER")) {
    CELLAR_TRY_ASSIGN(const std::string name, call.text_of(*formatter));
    const std::string form = form_of(name);
    if (form.empty()) return unknown_formatter(call, *formatter, name);
    rules_ = ValueRules(value_form_of(form));
  }
  if (const ShellValue* const length = call.option("MAXLENGTH")) {
    CELLAR_TRY_ASSIGN(const int64_t width, call.number_of(*length, -1));
    if (width >= 0) value_width_ = static_cast<size_t>(width);
    if (width >= 0 && call.session().format() != Format::kTable)
      call.session().talk("note   MAXLENGTH has no effect: this format prints whole values");
  }
  explained_ = call.state().explain || call.has("METRICS");
  if (const ShellValue* const all = call.option("ALL_METRICS")) {
    CELLAR_TRY_ASSIGN(const bool wanted, call.flag_of(*all));
    explained_ = explained_ || wanted;
  }
  return {};
}

Status ReadRequest::take_family_limits(ShellCall& call) {
  for (const auto& [name, to] :
       {std::pair<std::string_view, uint32_t*>{kFamilyMax, &family_max_}, {kFamilyOffset, &family_offset_}}) {
    const ShellValue* const value = call.option(name);
    if (value == nullptr) continue;
    // HBase's word for no limit is -1.
    CELLAR_TRY_ASSIGN(const int64_t columns, call.number_of(*value, name == kFamilyMax ? -1 : 0));
    if (columns > UINT32_MAX) return call.fault(*value, fmt::format("{} is larger than 4,294,967,295", name));
    *to = static_cast<uint32_t>(std::max<int64_t>(columns, 0));
  }
  return {};
}

Status ReadRequest::take(ShellCall& call, size_t from) {
  CELLAR_TRY(take_family_limits(call));
  CELLAR_TRY(take_showing(call));
  std::vector<const ShellValue*> named = call.options(kColumnOptions);
  for (size_t i = from; i < call.positions(); ++i) named.push_back(&call.position(i));
  for (const ShellValue* const value : named) {
    CELLAR_TRY_ASSIGN(const std::vector<std::string> texts, call.texts_of(*value));
    for (size_t i = 0; i < texts.size(); ++i)
      CELLAR_TRY(add_column(call, value->items.empty() ? *value : value->items[i], texts[i]));
  }
  CELLAR_TRY(take_times(call));
  CELLAR_TRY(take_versions(call));
  if (const ShellValue* const raw = call.option("RAW")) {
    CELLAR_TRY_ASSIGN(raw_, call.flag_of(*raw));
  }
  if (const ShellValue* const filter = call.option("FILTER")) {
    CELLAR_TRY_ASSIGN(const std::string text, call.text_of(*filter));
    Result<FilterPtr> parsed = parse_filter(on_one_line(text));
    if (!parsed.ok()) return call.at(*filter, parsed.status());
    filter_ = std::move(*parsed);
  }
  return {};
}

template <class Read>
Status ReadRequest::apply(ShellCall& call, const Table& table, Read& read) {
  for (const auto& [column, at] : columns_) {
    CELLAR_TRY(call.at(*at, check_family(call.session(), table, column.family)));
    if (column.qualifier) {
      read.column(column.family, *column.qualifier);
    } else {
      read.family(column.family);
    }
  }
  if (times_) read.time_range(times_->first, times_->second);
  if (versions_) read.versions(*versions_);
  if (filter_ != nullptr) read.filter(filter_);
  read.max_per_family(family_max_).family_offset(family_offset_);
  if (!call.has("FORMATTER")) use_table_schema(call.session(), table, rules_);
  return {};
}

CellPrinterOptions printing(ShellCall& call, const ReadRequest& request) {
  CellPrinterOptions options;
  options.format = call.session().format();
  options.rules = request.rules();
  options.value_width = request.value_width();
  options.types = request.raw();
  if (!call.state().full && !call.has("MAXLENGTH")) options.line_width = call.session().out().columns();
  return options;
}

// Ends what a read printed: how much it was, and what it cost where that is asked.
void finish(ShellCall& call, CellPrinter& printer, uint64_t rows, const ReadCost& cost, bool explained) {
  Session& session = call.session();
  printer.finish(explained ? json_members(cost) : "");
  session.out().flush();
  tell_of_cut_values(session, printer);
  if (explained && session.format() != Format::kJson) explain(session, cost);
  if (session.format() == Format::kTable && !session.stopping())
    session.talk(fmt::format("{}, {}", counted(rows, "row"), counted(printer.cells(), "cell")));
}

Status run_get(ShellCall& call) {
  CELLAR_TRY(call.take(kGetOptions, 2, SIZE_MAX));
  ReadRequest request;
  CELLAR_TRY(request.take(call, 2));
  CELLAR_TRY_ASSIGN(const std::string row, call.text(1));
  CELLAR_TRY_ASSIGN(const std::shared_ptr<Table> table, call.table());
  ReadCost cost;
  Get get(row);
  get.stats(&cost.stats);
  if (request.explained()) get.explain(&cost.explanation);
  CELLAR_TRY(request.apply(call, *table, get));
  const Progress clock(call.session(), "get", 0);
  CELLAR_TRY_ASSIGN(const RowBatch rows, table->get(get));
  cost.micros = clock.micros();
  CellPrinter printer(call.session().out(), printing(call, request));
  for (const CellView& cell : rows.row()) printer.add(cell);
  finish(call, printer, rows.empty() ? 0 : 1, cost, request.explained());
  return {};
}

// Applies STARTROW, STOPROW and ROWPREFIXFILTER as HBase does. A prefix overrides a start and a stop. A stop
// that equals the start is included (Scan's old constructor).
Status take_range(ShellCall& call, Scan& scan) {
  const ShellValue* const prefix = call.option("ROWPREFIXFILTER");
  const auto add = [&](std::string_view name, auto&& use) -> Status {
    const ShellValue* const value = call.option(name);
    if (value == nullptr) return {};
    CELLAR_TRY_ASSIGN(const std::string row, call.text_of(*value));
    if (prefix == nullptr) {
      use(row);
    } else {
      call.session().talk(fmt::format("note   {} has no effect because of ROWPREFIXFILTER", name));
    }
    return {};
  };
  CELLAR_TRY(add("STARTROW", [&](const std::string& row) { scan.start(row); }));
  CELLAR_TRY(add("STOPROW", [&](const std::string& row) {
    const bool one_row = !row.empty() && row == scan.start();
    scan.stop(row, one_row);
  }));
  if (prefix == nullptr) return {};
  CELLAR_TRY_ASSIGN(const std::string row, call.text_of(*prefix));
  scan.prefix(row);
  return {};
}

// The range, LIMIT, REVERSED, CACHE_BLOCKS, RAW.
Status take_rows(ShellCall& call, const ReadRequest& request, Scan& scan) {
  CELLAR_TRY(take_range(call, scan));
  if (request.raw()) scan.raw(true);
  if (const ShellValue* const limit = call.option("LIMIT")) {
    CELLAR_TRY_ASSIGN(const int64_t rows, call.number_of(*limit, INT64_MIN));
    if (rows > 0) scan.limit(static_cast<uint64_t>(rows));
  }
  if (const ShellValue* const reversed = call.option("REVERSED")) {
    CELLAR_TRY_ASSIGN(const bool backwards, call.flag_of(*reversed));
    scan.reversed(backwards);
  }
  if (const ShellValue* const cached = call.option("CACHE_BLOCKS")) {
    CELLAR_TRY_ASSIGN(const bool fill, call.flag_of(*cached));
    scan.fill_cache(fill);
  }
  tell_of_empty_range(call.session(), scan, {"STARTROW", "STOPROW"});
  return {};
}

Status run_scan(ShellCall& call) {
  CELLAR_TRY(call.take(kScanOptions, 1, 1));
  Scan scan;
  ReadCost cost;
  scan.stats(&cost.stats);
  ReadRequest request;
  CELLAR_TRY(request.take(call, 1));
  if (request.explained()) scan.explain(&cost.explanation);
  CELLAR_TRY(take_rows(call, request, scan));
  if (const ShellValue* const batch = call.option("BATCH")) {
    CELLAR_TRY_ASSIGN(const int64_t cells, call.number_of(*batch, INT64_MIN));
    if (cells > UINT32_MAX) return call.fault(*batch, "BATCH is larger than 4,294,967,295");
    if (cells > 0) scan.batch(static_cast<uint32_t>(cells));
  }
  CELLAR_TRY_ASSIGN(const std::shared_ptr<Table> table, call.table());
  CELLAR_TRY(request.apply(call, *table, scan));
  CellPrinter printer(call.session().out(), printing(call, request));
  const uint64_t row_limit = call.has("LIMIT") ? 0 : call.state().row_limit;
  if (row_limit > 0) scan.limit(row_limit);
  CELLAR_TRY_ASSIGN(const uint64_t rows, print_rows(call.session(), *table, scan, printer, cost));
  finish(call, printer, rows, cost, request.explained());
  if (row_limit > 0 && rows == row_limit)
    call.session().talk(
        fmt::format("note   .limit ended the scan; LIMIT => {} prints more, .limit off all rows", rows * 10));
  return {};
}

// INTERVAL => 2, or 2 as HBase once wrote it; 0: none is given.
Result<uint64_t> interval_of(ShellCall& call) {
  const ShellValue* every = call.option("INTERVAL");
  if (call.positions() > 1) {
    if (every != nullptr) return call.fault(call.position(1), "the interval is given twice");
    every = &call.position(1);
  }
  if (every == nullptr) return 0;
  CELLAR_TRY_ASSIGN(const int64_t rows, call.number_of(*every, 1));
  return static_cast<uint64_t>(rows);
}

Status run_count(ShellCall& call) {
  CELLAR_TRY(call.take(kCountOptions, 1, 2));
  CELLAR_TRY_ASSIGN(const uint64_t interval, interval_of(call));
  ReadCost cost;
  ReadRequest request;
  CELLAR_TRY(request.take(call, call.positions()));
  Scan scan;
  scan.fill_cache(false);
  CELLAR_TRY(take_rows(call, request, scan));
  CELLAR_TRY_ASSIGN(const std::shared_ptr<Table> table, call.table());
  CELLAR_TRY(request.apply(call, *table, scan));
  scan.stats(&cost.stats);
  if (request.explained()) scan.explain(&cost.explanation);
  CELLAR_TRY(print_count(call.session(), *table, scan, {.interval = interval, .cost = &cost}));
  call.session().out().flush();
  if (request.explained()) explain(call.session(), cost);
  return {};
}

Status run_get_counter(ShellCall& call) {
  CELLAR_TRY(call.take({}, 3, 3));
  CELLAR_TRY_ASSIGN(const std::string row, call.text(1));
  CELLAR_TRY_ASSIGN(const std::string column, call.text(2));
  const std::string family = column.substr(0, column.find(':'));
  const std::string qualifier = column.substr(std::min(family.size() + 1, column.size()));
  CELLAR_TRY_ASSIGN(const std::shared_ptr<Table> table, call.table());
  CELLAR_TRY(call.at(call.position(2), check_family(call.session(), *table, family)));
  CELLAR_TRY_ASSIGN(const RowBatch rows, table->get(Get(row).column(family, qualifier)));
  const Row found = rows.row().to_row();
  const auto value = found.value(family, qualifier);
  if (value && value->size() != 8)
    return call.fault(call.position(2),
                      fmt::format("column {} is not a counter: its value has {} bytes, not 8",
                                  escaped(column), value->size()),
                      "get prints the value");
  Session& session = call.session();
  if (!value) {
    session.talk(fmt::format("row {1} has no counter {0}", readable(column), readable(row)));
    if (session.format() == Format::kTable) return {};
  }
  Records records(session.out(), session.format(), "cellar.get-counter/1", "counters");
  if (value) {
    if (session.format() != Format::kRaw) records.bytes("column", column);
    records.number("value", static_cast<int64_t>(load_be64(value->data()))).add();
  }
  records.finish();
  return {};
}

constexpr std::array kReadVerbs = {
    ShellVerb{
        "get",
        "get 't', 'row'[, 'f:q', …][, {OPTION => value, …}]\n"
        "get 'orders', 'user42', 'd:name'\n"
        "get 'orders', 'user42', {COLUMN => ['d', 'c:stock:toLong'], VERSIONS => 4}\n"
        "get 'orders', 'user42', {TIMERANGE => [0, 1763748251203]}\n"
        "options: COLUMN TIMESTAMP TIMERANGE VERSIONS FILTER FORMATTER MAXLENGTH, and those per family of\n"
        "         scan",
        "Print one row, or columns of it", run_get, kGetOptions},
    ShellVerb{"scan",
              "scan 't'[, {OPTION => value, …}]\n"
              "scan 'orders', {COLUMNS => ['d', 'c:stock'], STARTROW => 'user1', LIMIT => 10}\n"
              "scan 'orders', {ROWPREFIXFILTER => 'user4', FILTER => \"ValueFilter(=, 'substring:Ada')\"}\n"
              "scan orders columns=d limit=3 reversed=true\n"
              "options: COLUMNS LIMIT STARTROW STOPROW ROWPREFIXFILTER TIMERANGE TIMESTAMP VERSIONS RAW\n"
              "         REVERSED FILTER FORMATTER MAXLENGTH BATCH CACHE_BLOCKS ALL_METRICS\n"
              "         maxResultsPerColumnFamily and rowOffsetPerColumnFamily, which count columns",
              "Print rows in order", run_scan, kScanOptions},
    ShellVerb{"count",
              "count 't'[, interval][, OPTION => value, …]\n"
              "count 'orders', STARTROW => 'user1', STOPROW => 'user5'\n"
              "count 'orders', INTERVAL => 1000, COLUMNS => 'd'\n"
              "INTERVAL => n, or n alone, prints progress to standard error every n rows; the other\n"
              "options are those of scan",
              "Count rows and cells, by reading them", run_count, kCountOptions},
    ShellVerb{"get_counter",
              "get_counter 't', 'row', 'f:q'\n"
              "get_counter 'orders', 'user42', 'c:visits'\n"
              "get_counter orders user42 c:visits",
              "Print the value of a counter", run_get_counter},
};

}  // namespace

std::span<const ShellVerb> shell_read_verbs() { return kReadVerbs; }

}  // namespace cellar
