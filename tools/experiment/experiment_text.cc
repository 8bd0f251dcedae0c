// The text of an experiment, read with nlohmann::json.
#include "tools/experiment/experiment_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "bench/workload/course.h"
#include "cellar/plugin.h"
#include "engine/schema/option_fields.h"
#include "tools/experiment/text_faults.h"
#include "tools/frame/operands.h"

namespace cellar {
namespace {

using Json = nlohmann::ordered_json;
using Strings = std::vector<std::string>;

constexpr uint64_t kRowsMax = 1000000000;
constexpr uint64_t kThreadsMax = 256;
constexpr double kSecondsMax = 7 * 86400;

// The fields of a workload that the top level may set for all workloads.
constexpr std::array<const char*, 8> kWorkloadFields = {
    "rows", "operations", "seconds", "mix", "value_bytes", "skew", "threads", "scan_length"};

bool is_workload_field(std::string_view name) {
  return std::ranges::find(kWorkloadFields, name) != kWorkloadFields.end();
}

// Options that a run decides itself.
bool is_the_runs(bool of_engine, std::string_view option) {
  static const std::set<std::string_view> kEngine = {"create_if_missing", "error_if_exists", "read_only"};
  static const std::set<std::string_view> kFamily = {"name", "ttl_s"};
  return of_engine ? kEngine.contains(option) : kFamily.contains(option);
}

// A scalar as the text of an option; nothing for a list, an object or null.
std::optional<std::string> scalar_text(const Json& json) {
  if (json.is_string()) return json.get<std::string>();
  if (json.is_boolean()) return std::string(json.get<bool>() ? "true" : "false");
  if (json.is_number_integer()) return json.dump();
  if (json.is_number_float()) return fmt::format("{}", json.get<double>());
  return std::nullopt;
}

// Fills an ExperimentText, and collects the faults.
class TextReader {
 public:
  TextReader(const Json& root, const std::string& source) : root_(root), faults_(source) {}

  Result<ExperimentText> read(const std::string& stem) {
    text_.name = stem;
    text_.directory = stem + ".runs";
    for (const auto& [key, value] : root_.items()) read_member(key, value);
    read_workloads();
    if (faults_.count() == 0) check_combinations();
    CELLAR_TRY(faults_.status());
    name_workloads();
    return std::move(text_);
  }

 private:
  void read_member(const std::string& key, const Json& value) {
    if (key == "workload" || is_workload_field(key)) return;  // read_workloads()
    if (key == "name") return read_text(key, value, text_.name);
    if (key == "about") return read_text(key, value, text_.about);
    if (key == "directory") return read_text(key, value, text_.directory);
    if (key == "repetitions") return read_number(key, value, 1, kRepetitionsMax, text_.repetitions);
    if (key == "seed") return read_number(key, value, 0, UINT64_MAX, text_.seed);
    read_dimension(key, value);
  }

  void read_text(const std::string& key, const Json& value, std::string& to) {
    if (!value.is_string() || value.get<std::string>().empty()) return faults_.add(key, "it must be a text");
    to = value.get<std::string>();
  }

  void read_number(const std::string& place, const Json& value, uint64_t least, uint64_t most, uint64_t& to) {
    const std::optional<std::string> text = scalar_text(value);
    const Result<uint64_t> number = text ? parse_count(*text) : Status::invalid_argument("no number");
    if (!number.ok() || *number < least || *number > most)
      return faults_.add(place,
                         fmt::format("{} is not a whole number from {} to {}", value.dump(), least, most));
    to = *number;
  }

  // The values of a member: those of a list, or a single one. An empty list and a value twice are faults.
  std::vector<std::pair<std::string, Json>> values_of(const std::string& place, const Json& value) {
    std::vector<std::pair<std::string, Json>> values;
    if (!value.is_array()) return {{place, value}};
    if (value.empty())
      faults_.add(place, "the list is empty", "give at least one value, or leave the member out");
    for (size_t i = 0; i < value.size(); ++i) {
      const std::string at = fmt::format("{}[{}]", place, i);
      const auto same = [&](const auto& other) { return other.second == value[i]; };
      if (std::ranges::any_of(values, same)) {
        faults_.add(at, value[i].dump() + " occurs twice");
        continue;
      }
      values.emplace_back(at, value[i]);
    }
    return values;
  }

  // ---- Options

  static Strings names_of(const auto& options) {
    Strings names;
    for (const auto& [name, value] : option_list(options)) names.push_back(name);
    return names;
  }

  std::optional<ExperimentDimension> find_dimension(const std::string& key) {
    ExperimentDimension dimension{.name = key, .of_engine = false, .option = key, .values = {}};
    const bool engine_only = key.starts_with("engine.");
    const bool family_only = key.starts_with("family.");
    if (engine_only || family_only) dimension.option = key.substr(7);
    const Strings engine = names_of(EngineOptions());
    const Strings family = names_of(FamilyOptions());
    const auto has = [&](const Strings& names) {
      return std::ranges::find(names, dimension.option) != names.end();
    };
    if (!family_only && has(engine)) {
      dimension.of_engine = true;
    } else if (engine_only || !has(family)) {
      Strings known = {"name", "about", "directory", "repetitions", "seed", "workload"};
      known.insert(known.end(), kWorkloadFields.begin(), kWorkloadFields.end());
      for (const Strings& names : {engine, family}) known.insert(known.end(), names.begin(), names.end());
      std::erase_if(known,
                    [](const std::string& name) { return is_the_runs(true, name) || name == "ttl_s"; });
      const std::string nearest = nearest_hint(dimension.option, known);
      faults_.add(
          key, "unknown name \"" + key + "\"",
          nearest.empty() ? "the names of options are in docs/options.md; others are in the help" : nearest);
      return std::nullopt;
    }
    if (!is_the_runs(dimension.of_engine, dimension.option)) return dimension;
    faults_.add(key, "each run sets this option itself", "leave it out");
    return std::nullopt;
  }

  void read_dimension(const std::string& key, const Json& value) {
    std::optional<ExperimentDimension> dimension = find_dimension(key);
    if (!dimension) return;
    const auto same = [&](const ExperimentDimension& other) {
      return other.option == dimension->option && other.of_engine == dimension->of_engine;
    };
    if (std::ranges::any_of(text_.dimensions, same)) return faults_.add(key, "the option is set twice");
    for (const auto& [place, each] : values_of(key, value)) {
      const std::optional<std::string> text = scalar_text(each);
      if (!text) {
        faults_.add(place, "it must be a text, a number, true or false");
        continue;
      }
      EngineOptions engine;
      FamilyOptions family{.name = std::string(bench::kFamily)};
      Status status = apply(*dimension, *text, engine, family);
      // Sizes of the engine may be too large only for the default of another size: combinations tell.
      const bool size_of_engine = dimension->of_engine && parse_size(*text).ok();
      if (status.ok() && !size_of_engine)
        status = dimension->of_engine ? validate(engine) : plain(validate(family));
      faults_.add(place, status);
      if (!status.ok()) continue;
      const std::string normal = option_of(*dimension, engine, family);
      if (std::ranges::find(dimension->values, normal) != dimension->values.end())
        faults_.add(place, fmt::format("\"{}\" is the same as an earlier value", *text));
      dimension->values.push_back(normal);
    }
    text_.dimensions.push_back(std::move(*dimension));
  }

  // Takes the name of the family, which the text does not have, from a fault.
  static Status plain(const Status& status) {
    constexpr std::string_view kPrefix = "family \"f\": ";
    if (!status.message().starts_with(kPrefix)) return status;
    return Status::with_code(status.code(), std::string(status.message().substr(kPrefix.size())))
        .hinting(status.hint());
  }

  static std::string option_of(const ExperimentDimension& dimension, const EngineOptions& engine,
                               const FamilyOptions& family) {
    const auto list = dimension.of_engine ? option_list(engine) : option_list(family);
    return std::ranges::find(list, dimension.option, &std::pair<std::string, std::string>::first)->second;
  }

  // Values that are sound alone may not fit together. The engine's and the family's options are checked
  // apart, as the engine does, so that no product of both is needed.
  void check_combinations() {
    for (const bool of_engine : {true, false}) {
      std::vector<const ExperimentDimension*> dimensions;
      for (const ExperimentDimension& each : text_.dimensions)
        if (each.of_engine == of_engine) dimensions.push_back(&each);
      EngineOptions engine;
      FamilyOptions family{.name = std::string(bench::kFamily)};
      uint64_t combinations = 1;
      for (const ExperimentDimension* each : dimensions) {
        combinations *= each->values.size();
        if (combinations > kExperimentRunsMax) return faults_.add("the text", too_many());
      }
      check_combination(dimensions, 0, "", engine, family);
    }
  }

  static std::string too_many() {
    return fmt::format("an experiment has at most {} runs", kExperimentRunsMax);
  }

  void check_combination(const std::vector<const ExperimentDimension*>& dimensions, size_t at,
                         const std::string& place, const EngineOptions& engine, const FamilyOptions& family) {
    if (at < dimensions.size()) {
      for (const std::string& value : dimensions[at]->values) {
        EngineOptions next_engine = engine;
        FamilyOptions next_family = family;
        if (!apply(*dimensions[at], value, next_engine, next_family).ok()) continue;  // reported before
        check_combination(dimensions, at + 1,
                          place + (place.empty() ? "" : ", ") + dimensions[at]->name + "=" + value,
                          next_engine, next_family);
      }
      return;
    }
    Status status = validate(engine);
    if (status.ok()) status = plain(validate(family));
    if (faults_.count() < kCombinationFaultsMax) faults_.add(place.empty() ? "the options" : place, status);
  }

  // ---- Workloads

  void read_workloads() {
    if (!root_.contains("workload"))
      return faults_.add("workload", "the text has no workload", "workloads: " + all_workloads());
    for (const auto& [place, value] : values_of("workload", root_["workload"])) {
      Json entry = value.is_string() ? Json{{"name", value}} : value;
      if (!entry.is_object() || !entry.contains("name") || !entry["name"].is_string()) {
        faults_.add(place, "a workload is a name, or an object with the member \"name\"", all_workloads());
        continue;
      }
      read_workload(place, entry);
    }
  }

  static std::string all_workloads() {
    std::string names;
    for (const bench::Workload& each : bench::known_workloads())
      names += (names.empty() ? "" : ", ") + each.name;
    return names;
  }

  void read_workload(const std::string& place, const Json& entry) {
    const Result<bench::Workload> found = bench::find_workload(entry["name"].get<std::string>());
    if (!found.ok()) return faults_.add(place + ".name", found.status());
    for (const auto& [key, value] : entry.items()) {
      if (key == "name" || is_workload_field(key)) continue;
      const Strings known(kWorkloadFields.begin(), kWorkloadFields.end());
      const std::string nearest = nearest_hint(key, known);
      faults_.add(place + "." + key, "a workload has no member \"" + key + "\"",
                  nearest.empty() ? fmt::format("members: name, {}", fmt::join(known, ", ")) : nearest);
    }
    expand(place, entry, 0, {.label = found->name, .rows = kRowsDefault, .workload = *found});
  }

  // Sets the fields one after the other, each to all of its values.
  void expand(const std::string& place, const Json& entry, size_t field, const ExperimentWorkload& so_far) {
    if (field == kWorkloadFields.size()) return add_workload(place, so_far);
    const std::string name = kWorkloadFields[field];
    const bool own = entry.contains(name);
    // A workload that has one of operations and seconds lacks neither.
    const bool has_other = (name == "operations" && entry.contains("seconds")) ||
                           (name == "seconds" && entry.contains("operations"));
    if (!own && (has_other || !root_.contains(name))) return expand(place, entry, field + 1, so_far);
    const size_t before = faults_.count();
    const std::string at = own ? place + "." + name : name;
    if (faults_.has_at(at)) return;  // a fault of the top level counts once
    for (const auto& [value_place, value] : values_of(at, own ? entry[name] : root_[name])) {
      ExperimentWorkload next = so_far;
      if (!faults_.has_at(value_place)) set_field(value_place, name, value, next);
      if (faults_.count() == before) expand(place, entry, field + 1, next);
    }
  }

  void set_field(const std::string& place, const std::string& name, const Json& value,
                 ExperimentWorkload& to) {
    bench::Workload& workload = to.workload;
    if (name == "rows") return read_number(place, value, 1, kRowsMax, to.rows);
    if (name == "operations") return read_number(place, value, 1, UINT64_MAX / 2, workload.ops);
    if (name == "threads") return read_number(place, value, 1, kThreadsMax, workload.threads);
    if (name == "seconds") {
      if (!value.is_number() || value.get<double>() <= 0 || value.get<double>() > kSecondsMax)
        return faults_.add(place, fmt::format("{} is not a number of seconds above 0, and at most {}",
                                              value.dump(), kSecondsMax));
      workload.seconds = value.get<double>();
      return;
    }
    const std::optional<std::string> text = scalar_text(value);
    if (!text) return faults_.add(place, "it must be a text or a number");
    if (name == "mix") set(place, bench::Mix::parse(*text), workload.mix);
    if (name == "skew") set(place, bench::parse_skew(*text), workload.skew);
    if (name == "value_bytes")
      set(place, bench::Lengths::parse(*text, bench::kValueBytesMax, name), workload.value_bytes);
    if (name == "scan_length")
      set(place, bench::Lengths::parse(*text, bench::kScanLengthMax, name), workload.scan_length);
  }

  template <class T>
  void set(const std::string& place, const Result<T>& parsed, T& to) {
    faults_.add(place, parsed.status());
    if (parsed.ok()) to = *parsed;
  }

  void add_workload(const std::string& place, const ExperimentWorkload& workload) {
    if (workload.workload.ops != 0 && workload.workload.seconds > 0)
      return faults_.add(place, "a workload has operations or seconds, not both", "leave one of them out");
    if (workload.rows < workload.workload.threads)
      return faults_.add(
          place, fmt::format("{} rows are too few for {} threads", workload.rows, workload.workload.threads));
    if (const Status fits = bench::Course::fits(workload.workload); !fits.ok())
      return faults_.add(place, fits);
    const auto same = [&](const ExperimentWorkload& other) { return other.fields() == workload.fields(); };
    if (std::ranges::any_of(text_.workloads, same)) return faults_.add(place, "the workload occurs twice");
    text_.workloads.push_back(workload);
  }

  // Adds to the label of each workload the fields in which it differs from others of its name.
  void name_workloads() {
    std::vector<std::string> labels;
    for (const ExperimentWorkload& each : text_.workloads) {
      std::string label = each.workload.name;
      const auto mine = each.fields();
      for (size_t i = 0; i < mine.size(); ++i) {
        const auto differs = [&](const ExperimentWorkload& other) {
          return other.workload.name == each.workload.name && other.fields()[i] != mine[i];
        };
        if (std::ranges::any_of(text_.workloads, differs))
          label += " " + mine[i].first + "=" + mine[i].second;
      }
      labels.push_back(label);
    }
    for (size_t i = 0; i < labels.size(); ++i) text_.workloads[i].label = labels[i];
  }

  static constexpr size_t kCombinationFaultsMax = 20;
  static constexpr uint64_t kRowsDefault = 100000;

  const Json& root_;
  TextFaults faults_;
  ExperimentText text_;
};

// Notes the names of each object while it is parsed: a name twice would hide the first one.
class Doubles {
 public:
  bool see(int, Json::parse_event_t event, const Json& parsed) {
    if (event == Json::parse_event_t::object_start) names_.emplace_back();
    if (event == Json::parse_event_t::object_end) names_.pop_back();
    if (event == Json::parse_event_t::key && !names_.back().insert(parsed.get<std::string>()).second)
      found_ = parsed.get<std::string>();
    return true;
  }
  const std::string& found() const { return found_; }

 private:
  std::vector<std::set<std::string>> names_;
  std::string found_;
};

std::string line_of(const std::string& text, size_t byte) {
  const auto end = text.begin() + static_cast<ptrdiff_t>(std::min(byte, text.size()));
  return std::to_string(1 + std::count(text.begin(), end, '\n'));
}

}  // namespace

std::vector<std::pair<std::string, std::string>> ExperimentWorkload::fields() const {
  std::vector<std::pair<std::string, std::string>> all = {{"rows", std::to_string(rows)}};
  if (workload.seconds > 0) {
    all.emplace_back("seconds", fmt::format("{}", workload.seconds));
  } else {
    all.emplace_back("operations", std::to_string(workload.total_ops(rows)));
  }
  all.emplace_back("mix", workload.mix.to_text());
  all.emplace_back("value_bytes", workload.value_bytes.to_text());
  all.emplace_back("skew", to_text(workload.skew));
  all.emplace_back("threads", std::to_string(workload.threads));
  all.emplace_back("scan_length", workload.scan_length.to_text());
  return all;
}

Status apply(const ExperimentDimension& dimension, const std::string& value, EngineOptions& engine,
             FamilyOptions& family) {
  return dimension.of_engine ? set_option(engine, dimension.option, value)
                             : set_option(family, dimension.option, value);
}

Result<ExperimentText> parse_experiment(const std::string& text, const std::string& source) {
  Json root;
  Doubles doubles;
  try {
    root = Json::parse(
        text,
        [&](int depth, Json::parse_event_t event, Json& parsed) { return doubles.see(depth, event, parsed); },
        true, true);
  } catch (const Json::parse_error& fault) {
    std::string why = fault.what();
    if (const size_t colon = why.find(": "); colon != std::string::npos) why = why.substr(colon + 2);
    return Status::invalid_argument("the text is not JSON: " + why)
        .at(source + ":" + line_of(text, fault.byte))
        .hinting("comments are allowed; cellar experiment --help shows a text");
  }
  if (!root.is_object()) {
    return Status::invalid_argument("the text is not a JSON object")
        .at(source)
        .hinting("cellar experiment --help shows a text");
  }
  if (!doubles.found().empty())
    return Status::invalid_argument("the name \"" + doubles.found() + "\" occurs twice in an object")
        .at(source);
  std::string stem = std::filesystem::path(source).stem();
  if (stem.empty() || source == "-") stem = "experiment";
  return TextReader(root, source).read(stem);
}

}  // namespace cellar
