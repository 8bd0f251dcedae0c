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
  std::string kind;   // "bars", "lines", "scatter"; empty: lines if every x is a number, else bars
  std::string label;  // field that names the points of a scatter plot
  std::string title;
  std::string x_label;
  std::string y_label;
  bool log_x = false;
  bool log_y = false;
};

// The least and the greatest value of several runs.
struct PlotSpread {
  double least = 0;
  double most = 0;
};

// A point of a scatter plot.
struct PlotPoint {
  double x = 0;
  double y = 0;
  std::string name;          // next to the point; may be empty
  PlotSpread x_spread = {};  // drawn as a thin line through the point, if the values differ
  PlotSpread y_spread = {};
};

struct PlotSeries {
  std::string name;
  std::vector<double> values;          // one for each place on the x axis; not a number if missing
  std::vector<PlotPoint> points = {};  // of a scatter plot, in place of values
};

enum class PlotKind : uint8_t {
  kBars,
  kLines,    // the measured places are marked on the line and on the x axis
  kCourse,   // lines through many places, without marks: a course over time
  kScatter,  // points, each with a value on both axes
};

struct PlotChart {
  std::string title;
  std::string x_title;
  std::string y_title;  // with the unit
  bool log_x = false;
  bool log_y = false;
  PlotKind kind = PlotKind::kBars;
  double width = 760;                // of the picture, in pixels
  std::vector<std::string> x_names;  // of bars and lines
  std::vector<double> x_values;      // of lines and courses, ascending
  std::vector<PlotSeries> series;
  uint64_t left_out = 0;  // selected records without one of the fields
};

// Returns the median of at least one value: of an even number, the mean of both in the middle.
double median(std::vector<double> values);

// Several runs of one place give their median. In a scatter plot, a place is a series and a name. Errors:
// kNotFound if nothing is selected; kInvalidArgument for an invalid filter or field, with the nearest as the
// hint. Also kInvalidArgument if the x axis does not fit the kind.
Result<PlotChart> make_chart(const PlotInput& input, const PlotRequest& request);

}  // namespace cellar
