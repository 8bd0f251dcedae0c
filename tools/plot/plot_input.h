// PlotInput: measurements read from Google Benchmark's JSON, from the driver's JSON lines, or from a
// simulation of caches.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "cellar/status.h"

namespace cellar {

// One run of one case: its fields by name. The parts of a name like "Claim/Q09_neighbours/cache:warm/k:10"
// are fields too. Every part is a field by its number from 1 ("2" is Q09_neighbours); "cache" and "k" are
// fields by their own names. Times are nanoseconds.
struct PlotRecord {
  std::string name;
  std::map<std::string, std::string> texts;
  std::map<std::string, double> numbers;
};

struct PlotInput {
  std::vector<PlotRecord> records;
  uint64_t failed = 0;          // cases that ended with an error: left out
  std::string y = "real_time";  // what is drawn unless something else is asked for
};

// Parses `text`; its content decides its format. Error: kInvalidArgument with the place in `source` if it has
// no such format.
Result<PlotInput> parse_plot_input(const std::string& text, const std::string& source);

}  // namespace cellar
