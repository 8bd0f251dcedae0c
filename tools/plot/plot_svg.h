// svg_of: a chart as a single SVG file that needs nothing else, or as a part of a page.
#pragma once

#include <string>

#include "tools/plot/plot_chart.h"

namespace cellar {

// Colours for light and dark surroundings, marks that differ without colour, and the figures as text in the
// description. The same chart gives the same bytes.
std::string svg_of(const PlotChart& chart);

// Returns the picture for a page that holds several. It has no style of its own: the page needs plot_style()
// once. `id` begins the names of its parts, and differs from picture to picture. The picture is as wide as
// the place that holds it.
std::string svg_in_page(const PlotChart& chart, const std::string& id);

// Returns the rules of all pictures, for a <style> element.
std::string plot_style();

// Returns the text with the characters escaped that mean something in XML and HTML, also within quotes.
// Control characters become blanks.
std::string xml_text(const std::string& text);

}  // namespace cellar
