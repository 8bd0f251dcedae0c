// PlotInput: measurements read from Google Benchmark's JSON or from the driver's JSON lines.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "cellar/status.h"

namespace cellar {

// One run of one case: its fields by name. Of a name like "Claim/Q09_neighbours/cache:warm/k:10" the parts
// are fields too: "cache" and "k" by their own names, every part by its number from 1 ("2" is
// Q09_neighbours). Times are nanoseconds.
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

// What `text` is, its content decides. kInvalidArgument with the place in `source` when it is neither.
Result<PlotInput> parse_plot_input(const std::string& text, const std::string& source);

}  // namespace cellar
