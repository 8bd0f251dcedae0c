// experiment_page: the results of an experiment in a single HTML file that needs nothing else.
#pragma once

#include <string>

#include "tools/experiment/experiment_summary.h"
#include "tools/experiment/experiment_text.h"

namespace cellar {

// Returns the page: tables of medians, trade-offs, courses over time, latencies, and the text of the
// experiment. It has neither scripts nor links to other places, and colours for light and dark surroundings.
// Results may be missing. `source` is the text as it was written. The same results give the same bytes.
std::string experiment_page(const ExperimentText& text, const std::string& source,
                            const ExperimentSummary& summary);

}  // namespace cellar
