// Charts for a page: narrower than those of files, so that a telephone shows their text.
#include "tools/experiment/page_charts.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

namespace cellar {
namespace {

constexpr double kPageWidth = 440;

Figure member(double RunRecord::*which) {
  return [which](const RunRecord& record) { return std::optional<double>(record.*which); };
}
Figure member(std::optional<double> RunRecord::*which) {
  return [which](const RunRecord& record) { return record.*which; };
}
Figure member(uint64_t RunRecord::*which) {
  return
      [which](const RunRecord& record) { return std::optional<double>(static_cast<double>(record.*which)); };
}

PlotChart chart_of(PlotKind kind, std::string title, std::string x, std::string y) {
  PlotChart chart;
  chart.kind = kind;
  chart.width = kPageWidth;
  chart.title = std::move(title);
  chart.x_title = std::move(x);
  chart.y_title = std::move(y);
  return chart;
}

// A series for each configuration, so that it has the same colour in all charts of the page.
void add_series(const ExperimentSummary& summary, PlotChart& chart) {
  for (const ExperimentConfiguration& each : summary.plan().configurations)
    chart.series.push_back({each.label, {}, {}});
}

std::optional<double> quotient(double amount, double of) {
  if (amount <= 0 || of <= 0) return std::nullopt;
  return amount / of;
}

struct SampleChart {
  const char* title;
  const char* y;
  SampleFigure figure;
};

const std::vector<SampleChart>& sample_charts() {
  static const std::vector<SampleChart> kCharts = {
      {"Operations per second", "operations per second",
       [](const RunSample& sample, const RunSample& before, const RunSample&) -> std::optional<double> {
         if (sample.loading) return std::nullopt;  // batches are so fast that nothing else would be seen
         return quotient(static_cast<double>(sample.operations - before.operations),
                         sample.seconds - before.seconds);
       }},
      {"Write amplification so far", "bytes written / bytes put",
       [](const RunSample& sample, const RunSample&, const RunSample& begin) {
         return quotient(static_cast<double>(sample.bytes_written - begin.bytes_written),
                         static_cast<double>(sample.bytes_put - begin.bytes_put));
       }},
      {"Bytes on disk", "bytes of store files",
       [](const RunSample& sample, const RunSample&, const RunSample&) {
         return std::optional<double>(static_cast<double>(sample.bytes_on_disk));
       }},
      {"Sorted runs", "sorted runs",
       [](const RunSample& sample, const RunSample&, const RunSample&) {
         return std::optional<double>(static_cast<double>(sample.sorted_runs));
       }},
      {"Time that writers waited so far", "milliseconds",
       [](const RunSample& sample, const RunSample&, const RunSample&) {
         return std::optional<double>(static_cast<double>(sample.stall_micros) / 1000);
       }},
  };
  return kCharts;
}

}  // namespace

const std::vector<std::string>& quantile_names() {
  static const std::vector<std::string> kNames = {"p50", "p95", "p99", "p99.9", "max"};
  return kNames;
}

const std::vector<PageFigure>& page_figures() {
  static const std::vector<PageFigure> kFigures = {
      {"operations per second", "operations / s", member(&RunRecord::rate), true},
      {"write amplification", "write ampl.",
       [](const RunRecord& record) {  // a workload that only reads is judged by its loading
         return record.write_amplification ? record.write_amplification : record.load_write_amplification;
       }},
      {"space amplification", "space ampl.", member(&RunRecord::space_amplification)},
      {"read amplification", "read ampl.", member(&RunRecord::read_amplification)},
      {"sorted runs at the end", "sorted runs", member(&RunRecord::sorted_runs)},
      {"files read per read", "files / read",
       [](const RunRecord& record) { return record.files_per_read(); }},
      {"blocks read per read", "blocks / read",
       [](const RunRecord& record) { return record.blocks_per_read(); }},
      {"milliseconds that writers waited", "stalls, ms",
       [](const RunRecord& record) {
         return std::optional<double>(static_cast<double>(record.stall_micros) / 1000);
       }},
      {"seconds of loading", "load, s", member(&RunRecord::load_seconds)},
      {"seconds until the store was at rest", "settle, s", member(&RunRecord::settle_seconds)},
  };
  return kFigures;
}

std::vector<PlotChart> tradeoff_charts(const ExperimentSummary& summary, size_t workload) {
  constexpr size_t kWrite = 1, kSpace = 2, kRead = 3;  // in page_figures()
  std::vector<PlotChart> charts;
  struct TradeOff {
    const char* title;
    size_t y;
    size_t x;
  };
  for (const TradeOff& each :
       {TradeOff{"Writes and space", kWrite, kSpace}, TradeOff{"Writes and reads", kWrite, kRead},
        TradeOff{"Reads and space", kRead, kSpace}}) {
    const PageFigure& down = page_figures()[each.x];
    const PageFigure& up = page_figures()[each.y];
    PlotChart chart = chart_of(PlotKind::kScatter, each.title, down.name, up.name);
    add_series(summary, chart);
    bool some = false;
    for (size_t i = 0; i < chart.series.size(); ++i) {
      const std::optional<Spread> at_x = spread_of(summary.records(workload, i), down.figure);
      const std::optional<Spread> at_y = spread_of(summary.records(workload, i), up.figure);
      if (!at_x || !at_y) continue;
      chart.series[i].points.push_back({at_x->median,
                                        at_y->median,
                                        chart.series[i].name,
                                        {at_x->least, at_x->most},
                                        {at_y->least, at_y->most}});
      some = true;
    }
    if (some) charts.push_back(std::move(chart));
  }
  return charts;
}

std::vector<PlotChart> course_charts(const ExperimentSummary& summary, size_t workload) {
  const bool by_time = summary.plan().workloads[workload].workload.seconds > 0;
  std::vector<PlotChart> charts;
  for (const SampleChart& each : sample_charts()) {
    PlotChart chart = chart_of(PlotKind::kCourse, each.title,
                               by_time ? "seconds" : "operations, loaded rows first", each.y);
    add_series(summary, chart);
    std::vector<RunCourse> courses;
    std::map<double, size_t> places;
    for (size_t i = 0; i < chart.series.size(); ++i) {
      courses.push_back(summary.course(workload, i, each.figure));
      for (const double at : courses.back().at) places.emplace(at, 0);
    }
    if (places.size() < 2) continue;
    for (auto& [at, index] : places) {
      index = chart.x_values.size();
      chart.x_values.push_back(at);
    }
    for (size_t i = 0; i < chart.series.size(); ++i) {
      chart.series[i].values.assign(places.size(), std::numeric_limits<double>::quiet_NaN());
      for (size_t j = 0; j < courses[i].at.size(); ++j)
        chart.series[i].values[places[courses[i].at[j]]] = courses[i].values[j];
    }
    charts.push_back(std::move(chart));
  }
  return charts;
}

std::vector<PlotChart> latency_charts(const ExperimentSummary& summary, size_t workload) {
  std::vector<PlotChart> charts;
  for (const std::string& call : summary.calls(workload)) {
    if (call == "load_batch") continue;
    PlotChart chart = chart_of(PlotKind::kBars, "Time of a " + call, "", "microseconds");
    chart.log_y = true;
    chart.x_names = quantile_names();
    add_series(summary, chart);
    for (size_t i = 0; i < chart.series.size(); ++i) {
      for (const std::string& quantile : quantile_names()) {
        const std::optional<Spread> spread =
            spread_of(summary.records(workload, i), latency_figure(call, quantile));
        chart.series[i].values.push_back(spread ? spread->median : std::numeric_limits<double>::quiet_NaN());
      }
    }
    charts.push_back(std::move(chart));
  }
  return charts;
}

}  // namespace cellar
