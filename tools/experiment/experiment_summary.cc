// Grouping by identity, and medians.
#include "tools/experiment/experiment_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_map>

#include "tools/experiment/store_session.h"
#include "tools/plot/plot_chart.h"

namespace cellar {

std::optional<Spread> spread_of(const std::vector<const RunRecord*>& records, const Figure& figure) {
  std::vector<double> values;
  for (const RunRecord* record : records)
    if (const std::optional<double> value = figure(*record)) values.push_back(*value);
  if (values.empty()) return std::nullopt;
  const auto [least, most] = std::ranges::minmax(values);
  return Spread{median(values), least, most};
}

ExperimentSummary::ExperimentSummary(const ExperimentPlan& plan, const std::vector<RunRecord>& records)
    : plan_(plan), groups_(plan.workloads.size() * plan.configurations.size()), by_run_(plan.runs.size()) {
  std::unordered_map<std::string, size_t> runs;
  for (size_t i = 0; i < plan.runs.size(); ++i) runs[plan.runs[i].identity] = i;
  for (const RunRecord& record : records) {
    const auto found = runs.find(record.identity);
    if (found == runs.end()) {
      ++foreign_;
    } else {
      by_run_[found->second] = &record;  // of two lines, the later one
    }
  }
  for (size_t i = 0; i < by_run_.size(); ++i) {
    if (by_run_[i] == nullptr) continue;
    ++done_;
    const ExperimentRun& run = plan.runs[i];
    groups_[run.workload * plan.configurations.size() + run.configuration].push_back(by_run_[i]);
  }
}

RunCourse ExperimentSummary::course(size_t workload, size_t configuration, const SampleFigure& figure) const {
  const bool by_time = plan_.workloads[workload].workload.seconds > 0;
  std::map<double, std::vector<double>> values;
  for (const RunRecord* record : records(workload, configuration)) {
    RunSample before{.loading = true};
    RunSample begin = before;
    for (const RunSample& sample : record->samples) {
      if (sample.loading != before.loading) {
        before.seconds = 0;  // seconds count from the beginning of a phase
        begin = before;
      }
      const std::optional<double> value = figure(sample, before, begin);
      before = sample;
      if (!value || (by_time && sample.loading)) continue;
      values[by_time ? sample.seconds : static_cast<double>(sample.operations)].push_back(*value);
    }
  }
  RunCourse course;
  for (const auto& [at, all] : values) {
    course.at.push_back(at);
    course.values.push_back(median(all));
  }
  return course;
}

std::vector<std::string> ExperimentSummary::calls(size_t workload) const {
  std::vector<std::string> calls;
  for (size_t call = 0; call < kStoreCalls; ++call) {
    const std::string name(call_name(static_cast<StoreCall>(call)));
    const Figure figure = latency_figure(name, "max");
    for (size_t i = 0; i < plan_.configurations.size(); ++i) {
      if (!spread_of(records(workload, i), figure)) continue;
      calls.push_back(name);
      break;
    }
  }
  return calls;
}

std::vector<std::string> ExperimentSummary::different(
    const std::function<std::string(const RunRecord&)>& text) const {
  std::vector<std::string> all;
  for (const RunRecord* record : by_run_) {
    if (record == nullptr) continue;
    const std::string each = text(*record);
    if (std::ranges::find(all, each) == all.end()) all.push_back(each);
  }
  std::ranges::sort(all);
  return all;
}

std::vector<std::string> ExperimentSummary::versions() const {
  return different([](const RunRecord& record) { return record.version; });
}

std::vector<std::string> ExperimentSummary::machines() const {
  return different([](const RunRecord& record) {
    return fmt::format("{}, {} {}", record.processor.empty() ? "unknown processor" : record.processor,
                       record.cores, record.cores == 1 ? "core" : "cores");
  });
}

Figure latency_figure(std::string call, std::string quantile) {
  return [call = std::move(call),
          quantile = std::move(quantile)](const RunRecord& record) -> std::optional<double> {
    const auto found = std::ranges::find(record.latencies, call, &RunLatency::call);
    if (found == record.latencies.end()) return std::nullopt;
    if (quantile == "p50") return found->p50;
    if (quantile == "p95") return found->p95;
    if (quantile == "p99") return found->p99;
    return quantile == "p99.9" ? found->p999 : found->max;
  };
}

}  // namespace cellar
