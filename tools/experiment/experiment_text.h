// ExperimentText: the text of an experiment: which options, workloads and sizes are combined, and how often.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/workload/workload.h"
#include "cellar/options.h"

namespace cellar {

// An option of the engine or of the family, with the values that are compared. Values are as option_list()
// writes them: sizes in bytes.
struct ExperimentDimension {
  std::string name;        // as in the text; "family.files_stop" is not the engine's
  bool of_engine = false;  // else of the family
  std::string option;      // the name alone
  std::vector<std::string> values;
};

// A workload with its size. The label names it, and in addition the fields that tell it from others of its
// name.
struct ExperimentWorkload {
  std::string label;
  uint64_t rows = 0;
  bench::Workload workload;

  // All fields that decide the work, as texts by name, in a fixed order. The seed is not among them.
  std::vector<std::pair<std::string, std::string>> fields() const;
};

struct ExperimentText {
  std::string name;
  std::string about;
  std::string directory;
  uint64_t repetitions = 3;
  uint64_t seed = 1;
  std::vector<ExperimentDimension> dimensions;  // in the order of the text
  std::vector<ExperimentWorkload> workloads;
};

constexpr uint64_t kRepetitionsMax = 1000;
constexpr uint64_t kExperimentRunsMax = 100000;

// Reads JSON, in which comments are allowed. `source` is the file's name: the default name and directory
// follow from it. Error: kInvalidArgument with all faults of the text, each with its place and the nearest
// name; the place of a single fault is the status's.
Result<ExperimentText> parse_experiment(const std::string& text, const std::string& source);

// Sets the option of a dimension. Errors: as of set_option().
Status apply(const ExperimentDimension& dimension, const std::string& value, EngineOptions& engine,
             FamilyOptions& family);

}  // namespace cellar
