// The charts of an experiment's page.
#pragma once

#include <string>
#include <vector>

#include "tools/experiment/experiment_summary.h"
#include "tools/plot/plot_chart.h"

namespace cellar {

// A figure of the summary's tables, which trade-offs compare.
struct PageFigure {
  std::string name;     // "write amplification"
  std::string shorter;  // "write ampl.", for the head of a column
  Figure figure;
  bool more_is_better = false;
};

// Returns the figures of a workload's table: rate, amplifications, runs and files of a read, stalls.
const std::vector<PageFigure>& page_figures();

// One point for each configuration: write against space, write against read, and space against read. Charts
// without a point are left out.
std::vector<PlotChart> tradeoff_charts(const ExperimentSummary& summary, size_t workload);
// Rate, write amplification, bytes on disk, sorted runs, and time of stalls, over the operations or the time.
std::vector<PlotChart> course_charts(const ExperimentSummary& summary, size_t workload);
// Quantiles of each kind of call.
std::vector<PlotChart> latency_charts(const ExperimentSummary& summary, size_t workload);

// Returns the names of the quantiles, as latency_figure() takes them.
const std::vector<std::string>& quantile_names();

}  // namespace cellar
