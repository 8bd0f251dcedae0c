// PlotChart: which measurements make which bars or lines.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/plot/plot_input.h"

namespace cellar {

// The user's choices. Empty: chosen here.
struct PlotRequest {
  std::string filter;  // POSIX extended regular expression on names
  std::string x;       // fields (PlotRecord)
  std::string y;
  std::string series;
  std::string title;
  std::string x_label;
  std::string y_label;
  bool log_x = false;
  bool log_y = false;
};

struct PlotSeries {
  std::string name;
  std::vector<double> values;  // one for each place on the x axis; not a number if missing
};

struct PlotChart {
  std::string title;
  std::string x_title;
  std::string y_title;  // with the unit
  bool log_x = false;
  bool log_y = false;
  bool lines = false;  // else bars
  std::vector<std::string> x_names;
  std::vector<double> x_values;  // of lines, ascending
  std::vector<PlotSeries> series;
  uint64_t left_out = 0;  // selected records without one of the fields
};

// Returns lines if every x is a number, else bars. Several runs of one place give their median. Errors:
// kNotFound if nothing is selected; kInvalidArgument for an invalid filter or field, with the nearest as the
// hint.
Result<PlotChart> make_chart(const PlotInput& input, const PlotRequest& request);

}  // namespace cellar
