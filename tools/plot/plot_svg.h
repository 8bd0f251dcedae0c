// svg_of: a chart as a single SVG file that needs nothing else.
#pragma once

#include <string>

#include "tools/plot/plot_chart.h"

namespace cellar {

// Colours for light and dark surroundings, marks that differ without colour, and the figures as text in the
// description. The same chart gives the same bytes.
std::string svg_of(const PlotChart& chart);

}  // namespace cellar
