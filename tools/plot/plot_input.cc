// The forms of measurements, read with nlohmann::json.
#include "tools/plot/plot_input.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>

namespace cellar {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kForms =
    "plot reads what a Google Benchmark program writes with --benchmark_format=json, the lines of "
    "cellar_driver, and what cellar simulate cache writes with --format json";

Status unfit(const std::string& place, std::string message) {
  return Status::invalid_argument(std::move(message)).at(place).hinting(kForms);
}

// Numbers and texts become fields, also those of nested objects: "options.bloom". Lists do not.
void add_fields(const Json& object, const std::string& prefix, PlotRecord& record) {
  for (const auto& [key, value] : object.items()) {
    if (value.is_number()) record.numbers[prefix + key] = value.get<double>();
    if (value.is_string()) record.texts[prefix + key] = value.get<std::string>();
    if (value.is_object() && prefix.empty()) add_fields(value, key + ".", record);
  }
}

void add_parts_of_name(PlotRecord& record) {
  size_t number = 0;
  for (size_t at = 0; at <= record.name.size();) {
    const size_t end = std::min(record.name.find('/', at), record.name.size());
    const std::string part = record.name.substr(at, end - at);
    record.texts[std::to_string(++number)] = part;
    if (const size_t colon = part.find(':'); colon != std::string::npos && colon > 0)
      record.texts[part.substr(0, colon)] = part.substr(colon + 1);
    at = end + 1;
  }
}

double nanoseconds_of(const std::string& unit) {
  if (unit == "us") return 1e3;
  if (unit == "ms") return 1e6;
  return unit == "s" ? 1e9 : 1;
}

// Runs as they are; of a case of which only aggregates were written, the median.
Result<PlotInput> parse_google_benchmark(const Json& document, const std::string& source) {
  const Json& cases = document.at("benchmarks");
  if (!cases.is_array()) return unfit(source, "\"benchmarks\" is not a list");
  PlotInput input;
  std::set<std::string> with_runs;
  for (const Json& each : cases) {
    if (!each.is_object() || !each.contains("name") || !each["name"].is_string())
      return unfit(source, "a member of \"benchmarks\" has no name");
    if (each.value("run_type", "iteration") == "iteration")
      with_runs.insert(each.value("run_name", each["name"].get<std::string>()));
  }
  for (const Json& each : cases) {
    PlotRecord record;
    record.name = each.value("run_name", each["name"].get<std::string>());
    const bool aggregate = each.value("run_type", "iteration") != "iteration";
    if (aggregate && (with_runs.contains(record.name) || each.value("aggregate_name", "") != "median"))
      continue;
    if (each.value("error_occurred", false)) {
      ++input.failed;
      continue;
    }
    add_fields(each, "", record);
    record.texts["name"] = record.name;
    add_parts_of_name(record);
    const double scale = nanoseconds_of(each.value("time_unit", "ns"));
    for (const char* time : {"real_time", "cpu_time"})
      if (record.numbers.contains(time)) record.numbers[time] *= scale;
    input.records.push_back(std::move(record));
  }
  return input;
}

// The JSON of `cellar simulate cache`: a record for each policy and size.
Result<PlotInput> parse_simulations(const Json& document, const std::string& source) {
  const Json& simulations = document.at("simulations");
  if (!simulations.is_array()) return unfit(source, "\"simulations\" is not a list");
  PlotInput input;
  input.y = "miss_ratio";
  for (const Json& each : simulations) {
    if (!each.is_object() || !each.contains("policy") || !each["policy"].is_string())
      return unfit(source, "a member of \"simulations\" has no policy");
    PlotRecord record;
    add_fields(each, "", record);
    record.name = record.texts["name"] = record.texts["policy"];
    input.records.push_back(std::move(record));
  }
  return input;
}

Result<PlotInput> parse_driver_lines(const std::string& text, const std::string& source) {
  PlotInput input;
  input.y = "rate";
  size_t number = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string line = text.substr(at, end - at);
    at = end + 1;
    ++number;
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    const std::string place = fmt::format("{}:{}", source, number);
    const Json json = Json::parse(line, nullptr, false);
    if (json.is_discarded()) return unfit(place, "the line is not JSON");
    if (!json.is_object() || !json.contains("kind") || !json["kind"].is_string())
      return unfit(place, "the line has no member \"kind\"");
    if (json["kind"] != "result") continue;
    PlotRecord record;
    add_fields(json, "", record);
    if (!record.texts.contains("workload") || !record.texts.contains("peer"))
      return unfit(place, "the result has no \"workload\" or no \"peer\"");
    record.name = record.texts["workload"] + "/" + record.texts["peer"];
    record.texts["name"] = record.name;
    input.records.push_back(std::move(record));
  }
  return input;
}

// Google Benchmark writes the deviation of counters that are all 0 as NaN, which is no JSON: null here.
std::string without_nan(const std::string& text) {
  static constexpr std::string_view kWords[] = {"-NaN", "NaN", "-Infinity", "Infinity"};
  std::string cleaned;
  bool quoted = false;
  for (size_t at = 0; at < text.size();) {
    const std::string_view rest = std::string_view(text).substr(at);
    const auto word =
        std::ranges::find_if(kWords, [&](std::string_view each) { return rest.starts_with(each); });
    if (!quoted && word != std::end(kWords)) {
      cleaned += "null";
      at += word->size();
      continue;
    }
    if (rest[0] == '"') quoted = !quoted;
    const size_t step = rest[0] == '\\' && rest.size() > 1 ? 2 : 1;
    cleaned += rest.substr(0, step);
    at += step;
  }
  return cleaned;
}

}  // namespace

Result<PlotInput> parse_plot_input(const std::string& text, const std::string& source) {
  if (text.find_first_not_of(" \t\r\n") == std::string::npos) return unfit(source, "the input is empty");
  const Json document = Json::parse(without_nan(text), nullptr, false);
  if (document.is_object() && document.contains("benchmarks"))
    return parse_google_benchmark(document, source);
  if (document.is_object() && document.contains("simulations")) return parse_simulations(document, source);
  const bool lines = document.is_object() ? document.contains("kind") : document.is_discarded();
  if (!lines) return unfit(source, "the JSON has no measurements");
  return parse_driver_lines(text, source);
}

}  // namespace cellar
