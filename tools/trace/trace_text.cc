// Figures of traces as tables and JSON.
#include "tools/trace/trace_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string_view>

#include "base/bytes.h"

namespace cellar {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kPercents[] = {50, 90, 99, 99.9, 100};
constexpr std::string_view kPercentNames[] = {"p50", "p90", "p99", "p999", "max"};

int64_t percent_of(const Distribution& distribution, double percent) {
  const auto bucket = percentile(distribution.buckets(), percent);
  return bucket ? bucket->high : 0;
}

double rate_of(uint64_t operations, double seconds) {
  return seconds > 0 ? static_cast<double>(operations) / seconds : 0;
}

double seconds_of(const TraceSummary& summary) {
  return static_cast<double>(summary.last_ns - summary.first_ns) / 1e9;
}

Json sizes_json(const Distribution& sizes) {
  Json json;
  json["count"] = sizes.count();
  json["sum"] = static_cast<uint64_t>(sizes.sum());
  for (size_t i = 0; i < std::size(kPercents); ++i)
    json[std::string(kPercentNames[i])] = percent_of(sizes, kPercents[i]);
  return json;
}

Json kinds_json(const TraceSummary& summary) {
  Json kinds = Json::array();
  for (const auto& [kind, figures] : summary.kinds) {
    Json each;
    each["kind"] = trace_kind_name(kind);
    each["operations"] = figures.operations;
    each["failed"] = figures.failed;
    each["in_transactions"] = figures.in_transactions;
    each["entries"] = figures.entries;
    each["rows"] = figures.rows;
    each["cells"] = figures.cells;
    each["bytes"] = figures.bytes;
    for (size_t i = 0; i < std::size(kPercents); ++i)
      each[fmt::format("{}_ns", kPercentNames[i])] = percent_of(figures.nanoseconds, kPercents[i]);
    kinds.push_back(std::move(each));
  }
  return kinds;
}

Json tables_json(const TraceSummary& summary) {
  Json tables = Json::array();
  for (const auto& [name, figures] : summary.tables) {
    Json families = Json::array();
    for (const auto& [key, family] : summary.families) {
      if (key.first != name) continue;
      families.push_back({{"family", escaped(key.second)},
                          {"columns_read", family.columns_read},
                          {"columns_written", family.columns_written},
                          {"bytes_written", family.bytes_written}});
    }
    tables.push_back({{"table", name},
                      {"reads", figures.reads},
                      {"writes", figures.writes},
                      {"families", std::move(families)}});
  }
  return tables;
}

std::string_view end_word(const TraceEnding& ending) {
  if (!ending.end) return "torn";
  return *ending.end == TraceEnd::kLimit ? "limit" : "stopped";
}

Json info_json(const TraceInfo& info) {
  const TraceSummary& summary = info.summary;
  Json json;
  json["schema"] = "cellar.trace.info/1";
  json["trace"] = info.path;
  json["file_bytes"] = info.file_bytes;
  json["began"] = time_text(info.header.wall_ms);
  json["keys"] = info.header.hashed ? "hashed" : "plain";
  json["sample"] = info.header.sample;
  json["end"] = end_word(info.ending);
  json["torn_bytes"] = info.ending.torn_bytes;
  json["lost"] = info.ending.lost;
  json["operations"] = summary.operations;
  json["seconds"] = seconds_of(summary);
  json["kinds"] = kinds_json(summary);
  json["tables"] = tables_json(summary);
  json["row_bytes"] = sizes_json(summary.row_bytes);
  json["value_bytes"] = sizes_json(summary.value_bytes);
  json["rows_asked_for"] = summary.popularity.accesses();
  json["different_rows"] = summary.popularity.rows();
  json["zipf_exponent"] = summary.popularity.zipf_exponent();
  json["top"] = Json::array();
  for (const RowPopularity::Top& each : summary.popularity.top(info.top))
    json["top"].push_back({{"table", each.table}, {"row", escaped(each.row)}, {"count", each.count}});
  json["stretch_ns"] = summary.rate.stretch_ns();
  json["rate"] = summary.rate.counts();
  json["threads"] = Json::array();
  for (const auto& [thread, operations] : summary.threads)
    json["threads"].push_back({{"thread", thread}, {"operations", operations}});
  return json;
}

void print_kinds(Output& out, const TraceSummary& summary) {
  Records records(out, Format::kTable, "", "");
  for (const auto& [kind, figures] : summary.kinds) {
    records.text("operation", trace_kind_name(kind)).count("count", figures.operations);
    records.fraction("percent",
                     100 * static_cast<double>(figures.operations) / static_cast<double>(summary.operations));
    records.count("failed", figures.failed).count("rows", figures.rows).size("bytes", figures.bytes);
    for (size_t i = 0; i < std::size(kPercents); ++i)
      records.fraction(fmt::format("{} µs", kPercentNames[i]),
                       static_cast<double>(percent_of(figures.nanoseconds, kPercents[i])) / 1000);
    records.add();
  }
  records.finish();
}

void print_tables(Output& out, const TraceSummary& summary) {
  Records tables(out, Format::kTable, "", "");
  for (const auto& [name, figures] : summary.tables)
    tables.text("table", escaped(name)).count("reads", figures.reads).count("writes", figures.writes).add();
  tables.finish();
  if (summary.families.empty()) return;
  out.write("\n");
  Records families(out, Format::kTable, "", "");
  for (const auto& [key, figures] : summary.families) {
    families.text("family", escaped(key.first) + " " + escaped(key.second));
    families.count("columns read", figures.columns_read).count("columns written", figures.columns_written);
    families.size("values written", figures.bytes_written).add();
  }
  families.finish();
}

std::string sizes_text(std::string_view name, const Distribution& sizes) {
  if (sizes.count() == 0) return fmt::format("{:<12} 0\n", name);
  return fmt::format("{:<12} {}: mean {:.1f} B, p50 {} B, p99 {} B, largest {} B\n", name,
                     human_count(sizes.count()), sizes.sum() / static_cast<double>(sizes.count()),
                     percent_of(sizes, 50), percent_of(sizes, 99), sizes.max());
}

void print_popular(Output& out, const TraceInfo& info) {
  const RowPopularity& popularity = info.summary.popularity;
  out.write(sizes_text("row keys", info.summary.row_bytes));
  out.write(sizes_text("values", info.summary.value_bytes));
  if (popularity.accesses() == 0) return;
  out.write(fmt::format("{:<12} {} different, asked for {} times; Zipf exponent {:.2f}\n", "rows",
                        human_count(popularity.rows()), human_count(popularity.accesses()),
                        popularity.zipf_exponent()));
  if (popularity.accesses_of_others() != 0)
    out.write(fmt::format("{:<12} {} accesses to further rows are not told apart\n", "",
                          human_count(popularity.accesses_of_others())));
  const std::vector<RowPopularity::Top> top = popularity.top(info.top);
  if (top.empty()) return;
  out.write("\n");
  Records rows(out, Format::kTable, "", "");
  for (const RowPopularity::Top& each : top)
    rows.text("table", escaped(each.table)).text("row", escaped(each.row)).count("times", each.count).add();
  rows.finish();
}

void print_rate(Output& out, const TraceSummary& summary) {
  const std::vector<uint64_t>& counts = summary.rate.counts();
  if (counts.size() < 2) return;
  const double seconds = static_cast<double>(summary.rate.stretch_ns()) / 1e9;
  const uint64_t most = *std::ranges::max_element(counts);
  out.write(fmt::format("\noperations a second, in stretches of {:.3f} s\n", seconds));
  for (size_t i = 0; i < counts.size(); ++i)
    out.write(fmt::format("{:>10.3f} s {:>12} {}\n", static_cast<double>(i) * seconds,
                          human_count(static_cast<uint64_t>(rate_of(counts[i], seconds))),
                          bar(static_cast<double>(counts[i]) / static_cast<double>(most), 40)));
}

}  // namespace

std::string ending_text(const TraceEnding& ending) {
  std::string text = "the recording was stopped";
  if (ending.end == TraceEnd::kLimit) text = "the recording reached its limit of bytes";
  if (!ending.end) text = "the recording was not stopped: its last operations may be missing";
  if (ending.torn_bytes != 0) text += fmt::format("; {} of a torn end", exact_bytes(ending.torn_bytes));
  if (ending.lost != 0) text += fmt::format("; {} were lost", counted(ending.lost, "operation"));
  return text;
}

void print_trace_info(Output& out, Format format, const TraceInfo& info) {
  if (format != Format::kTable) {
    out.write(info_json(info).dump(json_indent(format)) + "\n");
    return;
  }
  const TraceSummary& summary = info.summary;
  const double seconds = seconds_of(summary);
  out.write(fmt::format("{:<12} {}, {}\n", "trace", shown_name(info.path), exact_bytes(info.file_bytes)));
  out.write(fmt::format(
      "{:<12} {}, keys {}, {}\n", "recorded", time_text(info.header.wall_ms),
      info.header.hashed ? "hashed" : "as they are",
      info.header.sample == 1 ? "all rows" : fmt::format("one row in {}", human_count(info.header.sample))));
  out.write(fmt::format("{:<12} {}\n", "end", ending_text(info.ending)));
  out.write(fmt::format("{:<12} {} in {:.3f} s, {} a second, {}\n", "operations",
                        human_count(summary.operations), seconds,
                        human_count(static_cast<uint64_t>(rate_of(summary.operations, seconds))),
                        counted(summary.threads.size(), "thread")));
  if (summary.operations == 0) return;
  uint64_t reads = 0;
  for (const auto& [kind, figures] : summary.kinds) reads += reads_only(kind) ? figures.operations : 0;
  out.write(fmt::format("{:<12} {:.1f} % of the operations\n\n", "reads",
                        100 * static_cast<double>(reads) / static_cast<double>(summary.operations)));
  print_kinds(out, summary);
  out.write("\n");
  print_tables(out, summary);
  out.write("\n");
  print_popular(out, info);
  print_rate(out, summary);
  if (summary.threads.size() < 2) return;
  out.write("\n");
  Records threads(out, Format::kTable, "", "");
  for (const auto& [thread, operations] : summary.threads)
    threads.count("thread", thread).count("operations", operations).add();
  threads.finish();
}

void print_replay(Output& out, Format format, const std::string& target, const ReplayReport& report) {
  Records records(out, format, "cellar.trace.replay/1", "kinds");
  for (const auto& [kind, measured] : report.kinds) {
    records.text("operation", trace_kind_name(kind)).count("count", measured.replayed.size());
    records.count("failed", measured.failed);
    for (const size_t i : {size_t{0}, size_t{2}, size_t{3}, size_t{4}}) {
      const auto micros = [&](const std::vector<uint64_t>& times) {
        return static_cast<double>(time_at(times, kPercents[i])) / 1000;
      };
      records.fraction(fmt::format("{}_us", kPercentNames[i]), micros(measured.replayed));
      records.fraction(fmt::format("recorded_{}_us", kPercentNames[i]), micros(measured.recorded));
    }
    records.add();
  }
  records.text("target", target).count("operations", report.operations).count("threads", report.threads);
  records.fraction("seconds", report.seconds).fraction("recorded_seconds", report.recorded_seconds);
  records.fraction("operations_per_second", rate_of(report.operations, report.seconds));
  records.fraction("recorded_operations_per_second", rate_of(report.operations, report.recorded_seconds));
  records.count("rows_read", report.found.rows).count("recorded_rows_read", report.recorded.rows);
  records.count("cells_read", report.found.cells).count("recorded_cells_read", report.recorded.cells);
  records.count("bytes_read", report.found.bytes).count("recorded_bytes_read", report.recorded.bytes);
  records.fraction("latest_us", static_cast<double>(report.latest_ns) / 1000);
  records.finish();
}

std::string replay_text(const std::string& target, const ReplayReport& report) {
  std::string text = fmt::format(
      "{}: {} in {:.3f} s on {}, {} a second (recorded: {:.3f} s, {} a second); {} read (recorded: {})",
      target, counted(report.operations, "operation"), report.seconds, counted(report.threads, "thread"),
      human_count(static_cast<uint64_t>(rate_of(report.operations, report.seconds))), report.recorded_seconds,
      human_count(static_cast<uint64_t>(rate_of(report.operations, report.recorded_seconds))),
      counted(report.found.rows, "row"), human_count(report.recorded.rows));
  if (report.latest_ns > 0)
    text += fmt::format("; at most {:.3f} ms after its time", static_cast<double>(report.latest_ns) / 1e6);
  for (const auto& [kind, measured] : report.kinds)
    if (measured.failed != 0)
      text += fmt::format("\n{} of {} failed, first: {}", human_count(measured.failed), trace_kind_name(kind),
                          measured.first_failure.to_text());
  return text;
}

}  // namespace cellar
