// The cross product, identities, and orders.
#include "tools/experiment/experiment_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/bytes.h"
#include "base/random.h"
#include "bench/workload/data.h"

namespace cellar {
namespace {

std::string label_of(const ExperimentText& text, const ExperimentConfiguration& configuration) {
  std::string label;
  for (size_t i = 0; i < text.dimensions.size(); ++i) {
    if (text.dimensions[i].values.size() < 2) continue;
    const auto& [name, value] = configuration.options[i];
    label += (label.empty() ? "" : ", ") + shown_option(name, value);
  }
  return label.empty() ? "one configuration" : label;
}

// The first dimension of the text changes last.
std::vector<ExperimentConfiguration> combine(const ExperimentText& text) {
  ExperimentConfiguration base;
  base.family.name = bench::kFamily;
  std::vector<ExperimentConfiguration> all = {base};
  for (const ExperimentDimension& dimension : text.dimensions) {
    std::vector<ExperimentConfiguration> longer;
    for (const ExperimentConfiguration& each : all) {
      for (const std::string& value : dimension.values) {
        ExperimentConfiguration next = each;
        // The values were read from a set option, so they can be set.
        (void)apply(dimension, value, next.engine, next.family).ok();
        next.options.emplace_back(dimension.name, value);
        longer.push_back(std::move(next));
      }
    }
    all = std::move(longer);
  }
  for (ExperimentConfiguration& each : all) each.label = label_of(text, each);
  return all;
}

std::string identity_of(const ExperimentConfiguration& configuration, const ExperimentWorkload& workload,
                        const ExperimentRun& run) {
  std::string fields = workload.workload.name;
  for (const auto& [name, value] : workload.fields()) fields += " " + name + "=" + value;
  return fmt::format("engine {}; family {}; {}; round {}; seed {}", to_text(configuration.engine),
                     to_text(configuration.family), fields, run.round, run.seed);
}

uint64_t seed_of_round(uint64_t seed, uint64_t round) { return seed * 1000 + round + 1; }

void shuffle(std::vector<ExperimentRun>& runs, Random& random) {
  for (size_t i = runs.size(); i > 1; --i) std::swap(runs[i - 1], runs[random.below(i)]);
}

}  // namespace

std::string shown_option(const std::string& name, const std::string& value) {
  uint64_t bytes = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), bytes);
  const bool whole = error == std::errc() && end == value.data() + value.size();
  if (whole && name.find("bytes") != std::string::npos) return human_bytes(bytes);
  // A flag or a number says nothing without its name.
  return whole || value == "true" || value == "false" ? name + " " + value : value;
}

Result<ExperimentPlan> plan_experiment(const ExperimentText& text) {
  uint64_t count = text.repetitions * text.workloads.size();
  for (const ExperimentDimension& each : text.dimensions) {
    count *= each.values.size();
    if (count > kExperimentRunsMax) break;
  }
  if (count > kExperimentRunsMax) {
    return Status::limit(fmt::format("the text makes more than {} runs", kExperimentRunsMax))
        .hinting("leave out values, workloads or repetitions");
  }
  ExperimentPlan plan;
  plan.configurations = combine(text);
  plan.workloads = text.workloads;
  for (const ExperimentDimension& each : text.dimensions)
    if (each.values.size() > 1) plan.varying.push_back(each.name);
  for (uint64_t round = 0; round < text.repetitions; ++round) {
    std::vector<ExperimentRun> runs;
    for (size_t workload = 0; workload < plan.workloads.size(); ++workload) {
      for (size_t configuration = 0; configuration < plan.configurations.size(); ++configuration) {
        ExperimentRun run{configuration, workload, round, seed_of_round(text.seed, round), {}};
        run.identity = identity_of(plan.configurations[configuration], plan.workloads[workload], run);
        runs.push_back(std::move(run));
      }
    }
    Random random(seed_of_round(text.seed, round));
    shuffle(runs, random);
    for (ExperimentRun& run : runs) plan.runs.push_back(std::move(run));
  }
  return plan;
}

}  // namespace cellar
