// Metrics as JSON and as OpenMetrics text, which https://github.com/OpenObservability/OpenMetrics describes,
// and in Prometheus' older text format.
#include <fmt/format.h>

#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include "base/assert.h"
#include "base/bytes.h"
#include "base/utf8.h"
#include "cellar/metrics.h"

namespace cellar {
namespace {

// Returns a number of JSON and OpenMetrics: the shortest text that gives the same double.
std::string number(double value) { return fmt::format("{}", value); }

// ---- JSON

// JSON is UTF-8. Names and paths may have other bytes, which are escaped as in all of Cellar's texts.
std::string json_text(std::string_view value) {
  return is_utf8(value) ? json_string(value) : json_string(escaped(value));
}

// JsonObject: members in the order of their calls. One thread.
class JsonObject {
 public:
  JsonObject& raw(std::string_view name, std::string_view json) {
    text_ += fmt::format("{}{}:{}", text_.empty() ? "" : ",", json_string(name), json);
    return *this;
  }
  JsonObject& text(std::string_view name, std::string_view value) { return raw(name, json_text(value)); }
  JsonObject& count(std::string_view name, uint64_t value) { return raw(name, std::to_string(value)); }
  JsonObject& number(std::string_view name, double value) { return raw(name, cellar::number(value)); }
  JsonObject& flag(std::string_view name, bool value) { return raw(name, value ? "true" : "false"); }
  std::string json() const { return "{" + text_ + "}"; }

 private:
  std::string text_;
};

template <class List, class ToJson>
std::string json_list(const List& list, const ToJson& to_json_of) {
  std::string text;
  for (const auto& each : list) text += (text.empty() ? "" : ",") + to_json_of(each);
  return "[" + text + "]";
}

std::string json_of(const std::map<std::string, uint64_t>& counts) {
  JsonObject object;
  for (const auto& [name, count] : counts) object.count(name, count);
  return object.json();
}

std::string json_of(const LatencyMetrics& latency) {
  return JsonObject()
      .text("name", latency.name)
      .count("count", latency.count)
      .count("measured", latency.measured)
      .number("sum_seconds", latency.sum)
      .number("p50_seconds", latency.p50)
      .number("p99_seconds", latency.p99)
      .number("p999_seconds", latency.p999)
      .number("max_seconds", latency.max)
      .json();
}

std::string json_of(const TableInfo& table, const FamilyInfo& family) {
  uint64_t bytes = 0;
  for (const StoreFileInfo& file : family.files) bytes += file.bytes;
  return JsonObject()
      .text("table", table.name)
      .text("family", family.options.name)
      .count("files", family.files.size())
      .count("sorted_runs", sorted_runs(family))
      .count("file_bytes", bytes)
      .count("memtables", family.memtables)
      .count("memtable_bytes", family.memtable_bytes)
      .count("bytes_put", family.bytes_put)
      .count("bytes_flushed", family.bytes_flushed)
      .count("bytes_compacted", family.bytes_compacted)
      .count("bytes_compacted_from", family.bytes_compacted_from)
      .count("flushes", family.flushes)
      .count("compactions", family.compactions)
      .number("write_amplification", family.write_amplification())
      .json();
}

void add_store(JsonObject& object, const Metrics& metrics, bool of_engine) {
  const EngineStatus& status = metrics.status;
  object.text("identity", status.identity);
  // A reader does not know how well the engine is that writes.
  if (of_engine)
    object.text("health", status.health.ok() ? "ok" : status.health.to_text())
        .count("troubles", status.troubles.size());
  object.count("last_sequence", status.last_sequence)
      .count("log_segments", status.log_segments)
      .count("log_bytes", status.log_bytes)
      .count("memtable_bytes", status.memtable_bytes)
      .count("store_files", status.store_files)
      .count("store_bytes", status.store_bytes)
      .number("write_amplification", metrics.write_amplification())
      .number("read_amplification", metrics.read_amplification())
      .number("space_amplification", metrics.space_amplification());
  std::string families;
  for (const TableInfo& table : metrics.tables)
    for (const FamilyInfo& family : table.families)
      families += (families.empty() ? "" : ",") + json_of(table, family);
  object.raw("families", "[" + families + "]");
}

std::string engine_json(const Metrics& metrics) {
  const EngineStatus& status = metrics.status;
  const auto latency = [](const LatencyMetrics& each) { return json_of(each); };
  const bool counted = !metrics.operations.empty();  // EngineOptions::metrics
  JsonObject object;
  if (counted)
    object.number("seconds", metrics.seconds).count("bytes_compacted_from", metrics.bytes_compacted_from);
  return object.raw("operations", json_list(metrics.operations, latency))
      .raw("stalls", json_list(metrics.stalls, latency))
      .count("flushes", status.flushes)
      .count("bytes_flushed", status.bytes_flushed)
      .count("compactions", status.compactions)
      .count("bytes_compacted", status.bytes_compacted)
      .count("files_dropped", status.files_dropped)
      .raw("bytes_written", json_of(metrics.bytes_written))
      .raw("bytes_read", json_of(metrics.bytes_read))
      .raw("cache", JsonObject()
                        .count("capacity_bytes", status.cache_capacity_bytes)
                        .count("used_bytes", status.cache_used_bytes)
                        .count("hits", status.cache_hits)
                        .count("misses", status.cache_misses)
                        .count("rows", status.cache_rows)
                        .count("row_hits", status.cache_row_hits)
                        .json())
      .count("snapshots", status.snapshots)
      .count("scanners", status.scanners)
      .raw("event_counts", json_of(metrics.event_counts))
      .raw("events", json_list(metrics.events,
                               [](const auto& event) {
                                 return fmt::format(R"({{"wall_ms":{},"text":{}}})", event.first,
                                                    json_text(event.second));
                               }))
      .json();
}

// ---- OpenMetrics, and the older text of Prometheus

// Returns the value of a label: a text of UTF-8 with backslash, quote and line end escaped. Other bytes of
// names are escaped as in all of Cellar's texts before.
std::string label_value(std::string_view value) {
  std::string text;
  for (const char c : escaped(value)) {
    if (c == '\\' || c == '"') text += '\\';
    text += c;
  }
  return text;
}

std::string label(std::string_view name, std::string_view value) {
  CELLAR_ASSERT(!name.empty());
  return fmt::format("{}=\"{}\"", name, label_value(value));
}

// The two texts that Prometheus reads. The older one has no units and no mark of its end, and a counter's
// lines of help have the name of its samples.
enum class TextForm : uint8_t { kOpenMetrics, kPrometheus };

// MetricsText: families of metrics, each with its lines of help, and the samples of each family together.
// Each sample has the label of the store. One thread.
class MetricsText {
 public:
  MetricsText(TextForm form, std::string_view identity) : form_(form), store_(label("store", identity)) {}

  // Begins a family. `unit` is "", "seconds" or "bytes"; the name ends with it.
  void begin(std::string_view name, std::string_view type, std::string_view unit, std::string_view help) {
    CELLAR_ASSERT(unit.empty() || name.ends_with(unit));
    name_ = "cellar_";
    name_ += name;
    const bool older = form_ == TextForm::kPrometheus;
    const std::string described = name_ + (older && type == "counter" ? "_total" : "");
    add("# TYPE {} {}\n", described, type);
    if (!unit.empty() && !older) add("# UNIT {} {}\n", described, unit);
    add("# HELP {} {}\n", described, help);
  }
  void sample(std::string_view suffix, const std::string& labels, std::string_view value) {
    CELLAR_ASSERT(!name_.empty() && !value.empty());
    add("{}{}{{{}{}{}}} {}\n", name_, suffix, store_, labels.empty() ? "" : ",", labels, value);
  }
  void sample(std::string_view suffix, const std::string& labels, uint64_t value) {
    sample(suffix, labels, std::to_string(value));
  }
  void gauge(std::string_view name, std::string_view unit, std::string_view help, uint64_t value) {
    begin(name, "gauge", unit, help);
    sample("", "", value);
  }
  void gauge(std::string_view name, std::string_view unit, std::string_view help, double value) {
    begin(name, "gauge", unit, help);
    sample("", "", number(value));
  }
  void counter(std::string_view name, std::string_view unit, std::string_view help, uint64_t value) {
    begin(name, "counter", unit, help);
    sample("_total", "", value);
  }
  void counters(std::string_view name, std::string_view unit, std::string_view help, std::string_view key,
                const std::map<std::string, uint64_t>& counts) {
    if (counts.empty()) return;
    begin(name, "counter", unit, help);
    for (const auto& [value, count] : counts) sample("_total", label(key, value), count);
  }
  // Adds the histograms of the current family.
  void histograms(std::string_view key, const std::vector<LatencyMetrics>& all) {
    const std::span<const double> bounds = latency_bounds();
    for (const LatencyMetrics& each : all) {
      CELLAR_ASSERT(each.buckets.size() == bounds.size());
      const std::string of = label(key, each.name);
      for (size_t i = 0; i < bounds.size(); ++i)
        sample("_bucket", of + "," + label("le", bound_text(bounds[i])), each.buckets[i]);
      sample("_bucket", of + "," + label("le", "+Inf"), each.measured);
      sample("_count", of, each.measured);
      sample("_sum", of, number(each.sum));
    }
  }
  std::string end() && {
    if (form_ == TextForm::kOpenMetrics) text_ += "# EOF\n";
    return std::move(text_);
  }

 private:
  template <class... Args>
  void add(std::string_view format, const Args&... args) {
    fmt::vformat_to(std::back_inserter(text_), format, fmt::make_format_args(args...));
  }
  // The specification asks for a point or an exponent.
  static std::string bound_text(double bound) {
    std::string text = number(bound);
    return text.find_first_of(".e") == text.npos ? text + ".0" : text;
  }

  const TextForm form_;
  const std::string store_;
  std::string text_;
  std::string name_;
};

using FamilyFigure = uint64_t (*)(const FamilyInfo&);

uint64_t file_bytes(const FamilyInfo& family) {
  uint64_t bytes = 0;
  for (const StoreFileInfo& file : family.files) bytes += file.bytes;
  return bytes;
}

void add_families(MetricsText& text, const Metrics& metrics) {
  struct Figure {
    std::string_view name;
    std::string_view unit;
    bool counter;
    std::string_view help;
    FamilyFigure of;
  };
  static constexpr Figure kFigures[] = {
      {"family_files", "", false, "Store files of the family.",
       [](const FamilyInfo& f) -> uint64_t { return f.files.size(); }},
      {"family_sorted_runs", "", false, "Sorted runs that the files form.", sorted_runs},
      {"family_file_bytes", "bytes", false, "Bytes of the store files.", file_bytes},
      {"family_memtable_bytes", "bytes", false, "Bytes of the memtables.",
       [](const FamilyInfo& f) { return f.memtable_bytes; }},
      {"family_put_bytes", "bytes", true, "Bytes of cells that were put since the family was created.",
       [](const FamilyInfo& f) { return f.bytes_put; }},
      {"family_flushed_bytes", "bytes", true, "Bytes of the files that flushes wrote.",
       [](const FamilyInfo& f) { return f.bytes_flushed; }},
      {"family_compacted_bytes", "bytes", true, "Bytes of the files that compactions wrote.",
       [](const FamilyInfo& f) { return f.bytes_compacted; }},
      {"family_compacted_from_bytes", "bytes", true, "Bytes of the files that compactions read.",
       [](const FamilyInfo& f) { return f.bytes_compacted_from; }},
      {"family_flushes", "", true, "Flushes since the family was created.",
       [](const FamilyInfo& f) { return f.flushes; }},
      {"family_compactions", "", true, "Compactions since the family was created.",
       [](const FamilyInfo& f) { return f.compactions; }},
  };
  if (metrics.tables.empty()) return;
  for (const Figure& figure : kFigures) {
    text.begin(figure.name, figure.counter ? "counter" : "gauge", figure.unit, figure.help);
    for (const TableInfo& table : metrics.tables)
      for (const FamilyInfo& family : table.families)
        text.sample(figure.counter ? "_total" : "",
                    label("table", table.name) + "," + label("family", family.options.name),
                    figure.of(family));
  }
}

void add_store(MetricsText& text, const Metrics& metrics) {
  const EngineStatus& status = metrics.status;
  text.begin("store_info", "gauge", "", "The store's path; the label store is its identity.");
  text.sample("", label("path", status.path), uint64_t{1});
  text.gauge("last_sequence", "", "The number of the newest visible write.", status.last_sequence);
  text.gauge("log_segments", "", "Segments of the log that are still needed.", status.log_segments);
  text.gauge("log_bytes", "bytes", "Bytes in these segments.", status.log_bytes);
  text.gauge("memtable_bytes", "bytes", "Bytes of all memtables.", status.memtable_bytes);
  text.gauge("store_files", "", "Store files.", status.store_files);
  text.gauge("store_bytes", "bytes", "Bytes of all store files.", status.store_bytes);
  text.gauge("write_amplification", "", "Bytes put, flushed and compacted over bytes put.",
             metrics.write_amplification());
  text.gauge("read_amplification", "", "The greatest number of sorted runs and memtables in a family.",
             metrics.read_amplification());
  text.gauge("space_amplification", "", "Bytes of store files over those of the largest sorted runs.",
             metrics.space_amplification());
  add_families(text, metrics);
}

void add_latencies(MetricsText& text, const Metrics& metrics) {
  if (metrics.operations.empty()) return;
  std::map<std::string, uint64_t> counts;
  for (const LatencyMetrics& each : metrics.operations) counts[each.name] = each.count;
  text.counters("operations", "", "Operations that began, exact.", "operation", counts);
  text.begin("operation_seconds", "histogram", "seconds",
             "Time of operations; of short ones that of one in 16.");
  text.histograms("operation", metrics.operations);
  text.begin("operation_max_seconds", "gauge", "seconds", "The longest of these times.");
  for (const LatencyMetrics& each : metrics.operations)
    text.sample("", label("operation", each.name), number(each.max));
  text.begin("stall_seconds", "histogram", "seconds", "Time that writers waited, by the cause.");
  text.histograms("cause", metrics.stalls);
}

void add_engine(MetricsText& text, const Metrics& metrics) {
  const EngineStatus& status = metrics.status;
  text.gauge("healthy", "", "1 if writes are taken and nothing is wrong.",
             uint64_t{status.health.ok() ? 1u : 0u});
  text.gauge("troubles", "", "Faults that are being retried.", uint64_t{status.troubles.size()});
  const bool counted = !metrics.operations.empty();  // EngineOptions::metrics
  if (counted) text.gauge("uptime_seconds", "seconds", "Time since the engine was opened.", metrics.seconds);
  add_latencies(text, metrics);
  text.counters("file_written_bytes", "bytes", "Bytes written, by the kind of file.", "files",
                metrics.bytes_written);
  text.counters("file_read_bytes", "bytes", "Bytes read, by the kind of file.", "files", metrics.bytes_read);
  text.counter("flushes", "", "Flushes.", status.flushes);
  text.counter("flushed_bytes", "bytes", "Bytes of the files that flushes wrote.", status.bytes_flushed);
  text.counter("compactions", "", "Compactions, moves and drops of files.", status.compactions);
  text.counter("compacted_bytes", "bytes", "Bytes of the files that compactions wrote.",
               status.bytes_compacted);
  if (counted)
    text.counter("compacted_from_bytes", "bytes", "Bytes of the files that compactions read.",
                 metrics.bytes_compacted_from);
  text.counter("files_dropped", "", "Store files that left unread.", status.files_dropped);
  text.gauge("cache_capacity_bytes", "bytes", "Capacity of the cache.", status.cache_capacity_bytes);
  text.gauge("cache_used_bytes", "bytes", "Bytes in the cache.", status.cache_used_bytes);
  text.counter("cache_hits", "", "Blocks found in the cache.", status.cache_hits);
  text.counter("cache_misses", "", "Blocks not found in the cache.", status.cache_misses);
  text.gauge("cache_rows", "", "Rows of files in the cache.", status.cache_rows);
  text.counter("cache_row_hits", "", "Rows found in the cache.", status.cache_row_hits);
  text.gauge("snapshots", "", "Open snapshots, those of transactions included.", status.snapshots);
  text.gauge("scanners", "", "Open scanners.", status.scanners);
  text.counters("events", "", "Events, by their kind.", "event", metrics.event_counts);
}

std::string text_of(TextForm form, const Metrics& metrics, bool of_engine) {
  MetricsText text(form, metrics.status.identity);
  add_store(text, metrics);
  if (of_engine) add_engine(text, metrics);
  return std::move(text).end();
}

}  // namespace

std::string to_json(const Metrics& metrics, bool of_engine) {
  JsonObject object;
  object.text("schema", "cellar.metrics/1").text("path", metrics.status.path);
  add_store(object, metrics, of_engine);
  if (of_engine) object.raw("engine", engine_json(metrics));
  return object.json();
}

std::string to_openmetrics(const Metrics& metrics, bool of_engine) {
  return text_of(TextForm::kOpenMetrics, metrics, of_engine);
}

std::string to_prometheus(const Metrics& metrics, bool of_engine) {
  return text_of(TextForm::kPrometheus, metrics, of_engine);
}

}  // namespace cellar
