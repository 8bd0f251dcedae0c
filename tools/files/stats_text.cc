// Statistics of cells as tables, bars and JSON.
#include "tools/files/stats_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/bytes.h"
#include "base/text_printer.h"
#include "base/text_width.h"
#include "tools/frame/output.h"

namespace cellar {
namespace {

using Json = nlohmann::ordered_json;
using Rows = std::vector<std::vector<std::string>>;

constexpr double kPercents[] = {50, 90, 99};

// A distribution with its names and its figures.
struct Described {
  std::string name;   // in JSON
  std::string title;  // in tables
  std::string word;   // of --histogram
  std::string unit;   // "bytes", "cells", "columns", "versions", "ms"
  std::vector<ValueBucket> buckets;
  uint64_t count = 0;
  int64_t min = 0;
  int64_t max = 0;
  double mean = 0;
};

Described describe(std::string name, std::string title, std::string word, std::string unit,
                   const Distribution& values) {
  const double mean = values.count() == 0 ? 0 : values.sum() / static_cast<double>(values.count());
  return {std::move(name), std::move(title), std::move(word),
          std::move(unit), values.buckets(), values.count(),
          values.min(),    values.max(),     mean};
}

int64_t newest_of(const StatsView& view) { return view.now.value_or(view.stats->times().max()); }

Described describe_ages(const StatsView& view) {
  const Distribution& times = view.stats->times();
  Described ages = describe("age_ms", "age", "age", "ms", times);
  if (times.count() == 0) return ages;
  const int64_t now = newest_of(view);
  ages.buckets = ages_of(ages.buckets, now);
  ages.min = ages.buckets.front().low;
  ages.max = ages.buckets.back().high;
  ages.mean = static_cast<double>(now) - ages.mean;
  return ages;
}

std::vector<Described> describe_all(const StatsView& view) {
  const CellStats& stats = *view.stats;
  return {describe("key_bytes", "key bytes", "key", "bytes", stats.key_bytes()),
          describe("value_bytes", "value bytes", "value", "bytes", stats.value_bytes()),
          describe("row_bytes", "row bytes", "row", "bytes", stats.row_bytes()),
          describe("row_cells", "cells per row", "row", "cells", stats.row_cells()),
          describe("columns", "columns per row", "cols", "columns", stats.columns()),
          describe("versions", "versions per column", "versions", "versions", stats.versions()),
          describe_ages(view)};
}

bool wants_histogram(const StatsView& view, const Described& each) {
  return std::ranges::find(view.histograms, each.word) != view.histograms.end();
}

// ---- for people ----

// "3.4 h"; whole milliseconds below a second.
std::string age_text(int64_t milliseconds) {
  static constexpr struct {
    double ms;
    const char* unit;
  } kUnits[] = {{86400000, "d"}, {3600000, "h"}, {60000, "min"}, {1000, "s"}};
  const double size =
      milliseconds < 0 ? -static_cast<double>(milliseconds) : static_cast<double>(milliseconds);
  for (const auto& [ms, unit] : kUnits)
    if (size >= ms) return fmt::format("{:.1f} {}", static_cast<double>(milliseconds) / ms, unit);
  return fmt::format("{} ms", milliseconds);
}

std::string number_text(int64_t number) {
  return number < 0 ? "-" + human_count(static_cast<uint64_t>(-(number + 1)) + 1)
                    : human_count(static_cast<uint64_t>(number));
}

std::string value_text(const Described& of, int64_t value) {
  return of.unit == "ms" ? age_text(value) : number_text(value);
}

std::string percentile_text(const Described& of, double percent) {
  const std::optional<ValueBucket> bucket = percentile(of.buckets, percent);
  if (!bucket) return "-";
  return (bucket->low == bucket->high ? "" : "≤ ") + value_text(of, bucket->high);
}

std::string share_text(uint64_t part, uint64_t whole) {
  return whole == 0 ? "-"
                    : fmt::format("{:.1f} %", 100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

std::string types_text(const CellTotals& total) {
  std::string text;
  for (size_t i = 0; i < std::size(kStoredTypes); ++i) {
    if (total.types[i] == 0) continue;
    text += fmt::format("{}{} {} ({})", text.empty() ? "" : " · ", type_name(kStoredTypes[i]),
                        human_count(total.types[i]), share_text(total.types[i], total.cells));
  }
  return text.empty() ? "none" : text;
}

std::string times_text(const StatsView& view) {
  const CellStats& stats = *view.stats;
  std::string text;
  if (stats.times().count() > 0) {
    text = time_text(stats.times().min()) + " to " + time_text(stats.times().max());
    text += ", ages relative to " + (view.now ? time_text(*view.now) : "the newest");
  }
  if (stats.cells_at_latest() > 0)
    text += fmt::format("{}{} at LATEST, without age", text.empty() ? "" : "; ",
                        counted(stats.cells_at_latest(), "cell"));
  return text.empty() ? "none" : text;
}

std::string summary_text(const std::vector<Described>& all) {
  Rows rows = {{"", "count", "min", "p50", "p90", "p99", "max", "mean"}};
  for (const Described& each : all) {
    if (each.count == 0) continue;
    std::vector<std::string> row = {each.title, human_count(each.count), value_text(each, each.min)};
    for (const double percent : kPercents) row.push_back(percentile_text(each, percent));
    row.push_back(value_text(each, each.max));
    row.push_back(each.unit == "ms" ? age_text(static_cast<int64_t>(each.mean))
                                    : fmt::format("{:.1f}", each.mean));
    rows.push_back(std::move(row));
  }
  return rows.size() == 1 ? "" : "\n" + aligned_table(rows);
}

std::string histogram_text(const Described& of) {
  constexpr size_t kBarWidth = 30;
  Rows rows = {{of.title, "count", "share", ""}};
  for (const ValueBucket& each : doubling_bars(of.buckets)) {
    if (each.count == 0) continue;  // the bar below then begins further down
    const double share = static_cast<double>(each.count) / static_cast<double>(of.count);
    rows.push_back({each.high < 0 ? "  below 0" : "  ≤ " + value_text(of, each.high), human_count(each.count),
                    share_text(each.count, of.count), bar(share, kBarWidth)});
  }
  return "\n" + aligned_table(rows);
}

std::string files_text(const CellStats& stats) {
  if (stats.files().size() < 2) return "";
  Rows rows = {{"file", "cells", "rows", "columns", "puts", "markers", "bytes"}};
  for (const CellTotals& file : stats.files())
    rows.push_back({file.path, human_count(file.cells), human_count(file.rows), human_count(file.columns),
                    human_count(file.types[0]), human_count(file.cells - file.types[0]),
                    human_count(file.bytes)});
  return "\n" + aligned_table(rows);
}

std::string groups_text(const StatsView& view) {
  if (view.by.empty()) return "";
  const uint64_t cells = view.stats->total().cells;
  Rows rows = {{view.by, "cells", "share", "bytes"}};
  for (const GroupTotals& group : view.stats->groups())
    rows.push_back({group.name.empty() ? "\"\"" : readable(unescaped(group.name).value_or(group.name)),
                    human_count(group.cells), share_text(group.cells, cells), human_count(group.bytes)});
  const GroupTotals& rest = view.stats->left_out();
  if (rest.cells > 0)
    rows.push_back(
        {"(all others)", human_count(rest.cells), share_text(rest.cells, cells), human_count(rest.bytes)});
  return rows.size() == 1 ? "" : "\n" + aligned_table(rows);
}

std::string top_text(const CellStats& stats, const ValueRules& rules) {
  const bool one_file = stats.files().size() < 2;
  const auto file_of = [&](size_t file) { return one_file ? std::string() : stats.files()[file].path; };
  std::string text;
  if (!stats.largest_rows().empty()) {
    Rows rows = {{"largest rows", "bytes", "cells", ""}};
    for (const LargeRow& row : stats.largest_rows())
      rows.push_back({rules.row(row.row), human_count(row.bytes), human_count(row.cells), file_of(row.file)});
    text += "\n" + aligned_table(rows);
  }
  if (!stats.most_versions().empty()) {
    Rows rows = {{"most versions", "column", "versions", ""}};
    for (const VersionedColumn& column : stats.most_versions())
      rows.push_back({rules.row(column.row), rules.column(column.family, column.qualifier),
                      human_count(column.versions), file_of(column.file)});
    text += "\n" + aligned_table(rows);
  }
  return text;
}

// ---- for programs ----

Json types_json(const CellTotals& total) {
  Json json = Json::object();
  for (size_t i = 0; i < std::size(kStoredTypes); ++i) json[type_name(kStoredTypes[i])] = total.types[i];
  return json;
}

Json totals_json(const CellTotals& total) {
  return {{"cells", total.cells},      {"rows", total.rows},           {"columns", total.columns},
          {"bytes", total.bytes},      {"key_bytes", total.key_bytes}, {"value_bytes", total.value_bytes},
          {"types", types_json(total)}};
}

Json file_json(const CellTotals& file) {
  Json json = {{"path", file.path}};
  json.update(totals_json(file));
  return json;
}

Json times_json(const StatsView& view) {
  const CellStats& stats = *view.stats;
  const bool any = stats.times().count() > 0;
  return {{"oldest", any ? Json(stats.times().min()) : Json()},
          {"newest", any ? Json(stats.times().max()) : Json()},
          {"ages_until", any || view.now ? Json(newest_of(view)) : Json()},
          {"cells_at_latest", stats.cells_at_latest()}};
}

Json distribution_json(const StatsView& view, const Described& of) {
  const bool any = of.count > 0;
  Json json = {{"name", of.name},
               {"unit", of.unit},
               {"count", of.count},
               {"min", any ? Json(of.min) : Json()},
               {"max", any ? Json(of.max) : Json()},
               {"mean", any ? Json(of.mean) : Json()},
               {"percentiles", Json::array()}};
  for (const double percent : kPercents) {
    const std::optional<ValueBucket> bucket = percentile(of.buckets, percent);
    if (!bucket) break;
    json["percentiles"].push_back(
        {{"percent", percent}, {"at_most", bucket->high}, {"exact", bucket->low == bucket->high}});
  }
  if (!wants_histogram(view, of)) return json;
  json["histogram"] = Json::array();
  for (const ValueBucket& each : doubling_bars(of.buckets))
    json["histogram"].push_back({{"from", each.low}, {"to", each.high}, {"count", each.count}});
  return json;
}

Json group_json(const GroupTotals& group) {
  return {{"group", group.name}, {"cells", group.cells}, {"bytes", group.bytes}};
}

Json left_out_json(const GroupTotals& rest) { return {{"cells", rest.cells}, {"bytes", rest.bytes}}; }

// Adds the fields of a row, where rows are shown as fields.
Json with_key(Json json, std::string_view row, const ValueRules& rules) {
  if (const std::optional<std::string> key = rules.key_json(row)) json["key"] = Json::parse(*key);
  return json;
}

Json row_json(const StatsView& view, const LargeRow& row) {
  const Json json = {{"row", escaped(row.row)},
                     {"path", view.stats->files()[row.file].path},
                     {"bytes", row.bytes},
                     {"cells", row.cells}};
  return with_key(json, row.row, view.rules);
}

Json column_json(const StatsView& view, const VersionedColumn& column) {
  const Json json = {{"row", escaped(column.row)},
                     {"family", escaped(column.family)},
                     {"qualifier", escaped(column.qualifier)},
                     {"path", view.stats->files()[column.file].path},
                     {"versions", column.versions}};
  return with_key(json, column.row, view.rules);
}

}  // namespace

const std::vector<std::string>& histogram_words() {
  static const std::vector<std::string> kWords = {"key", "value", "row", "cols", "versions", "age"};
  return kWords;
}

std::string stats_text(const StatsView& view) {
  const CellStats& stats = *view.stats;
  const CellTotals total = stats.total();
  const std::vector<Described> all = describe_all(view);
  std::string text = fmt::format("{} · {} · {} · {} · {} of keys, values and tags{}\n",
                                 counted(stats.files().size(), "file"), counted(total.cells, "cell"),
                                 counted(total.rows, "row"), counted(total.columns, "column"),
                                 human_bytes(total.bytes), view.complete ? "" : " · INCOMPLETE");
  text += "types  " + types_text(total) + "\n";
  text += "times  " + times_text(view) + "\n";
  text += files_text(stats) + summary_text(all);
  for (const Described& each : all)
    if (each.count > 0 && wants_histogram(view, each)) text += histogram_text(each);
  return text + groups_text(view) + top_text(stats, view.rules);
}

Json stats_json(const StatsView& view) {
  const CellStats& stats = *view.stats;
  Json json = {{"schema", "cellar.stats/1"}, {"complete", view.complete}};
  json.update(totals_json(stats.total()));
  json["times"] = times_json(view);
  json["files"] = Json::array();
  for (const CellTotals& file : stats.files()) json["files"].push_back(file_json(file));
  json["distributions"] = Json::array();
  for (const Described& each : describe_all(view))
    json["distributions"].push_back(distribution_json(view, each));
  if (!view.by.empty()) {
    json["by"] = view.by;
    json["groups"] = Json::array();
    for (const GroupTotals& group : stats.groups()) json["groups"].push_back(group_json(group));
    json["groups_left_out"] = left_out_json(stats.left_out());
  }
  json["largest_rows"] = Json::array();
  for (const LargeRow& row : stats.largest_rows()) json["largest_rows"].push_back(row_json(view, row));
  json["most_versions"] = Json::array();
  for (const VersionedColumn& column : stats.most_versions())
    json["most_versions"].push_back(column_json(view, column));
  return json;
}

std::string stats_lines(const StatsView& view) {
  const Json whole = stats_json(view);
  std::string text;
  const auto add = [&](const char* kind, const Json& object) {
    Json line = {{"kind", kind}};
    line.update(object);
    text += line.dump() + "\n";
  };
  Json total = Json::object();
  for (const auto& [name, value] : whole.items())
    if (!value.is_array() && name != "groups_left_out" && name != "by") total[name] = value;
  add("total", total);
  static constexpr std::pair<const char*, const char*> kLists[] = {{"files", "file"},
                                                                   {"distributions", "distribution"},
                                                                   {"groups", "group"},
                                                                   {"largest_rows", "row"},
                                                                   {"most_versions", "column"}};
  for (const auto& [list, kind] : kLists) {
    if (!whole.contains(list)) continue;
    for (const Json& each : whole[list]) add(kind, each);
  }
  if (whole.contains("groups_left_out")) add("groups_left_out", whole["groups_left_out"]);
  return text;
}

}  // namespace cellar
