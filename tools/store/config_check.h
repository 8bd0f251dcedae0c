// Checks of a configuration: options that contradict each other, or that have no effect together.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "cellar/options.h"

namespace cellar {

// The options of an engine and of its tables, by their names.
struct Configuration {
  EngineOptions engine;
  std::map<std::string, TableOptions> tables;
};

struct ConfigFinding {
  std::string where;          // "engine", "table orders", "family orders:d"
  bool contradiction = true;  // false: advice
  std::string text;
  std::string hint;
};

// Returns the findings in the order engine, tables, families. The options are valid each by itself, or the
// findings say which are not.
std::vector<ConfigFinding> check_configuration(const Configuration& configuration);

}  // namespace cellar
