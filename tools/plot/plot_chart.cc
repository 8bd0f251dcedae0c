// Selecting, grouping, medians, and units.
#include "tools/plot/plot_chart.h"

#include <fmt/format.h>
#include <regex.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <set>

#include "cellar/plugin.h"

namespace cellar {
namespace {

// Filter: POSIX's regular expressions, which need no library.
class Filter {
 public:
  explicit Filter(const std::string& text)
      : fault_(regcomp(&compiled_, text.c_str(), REG_EXTENDED | REG_NOSUB)) {}
  ~Filter() {
    if (fault_ == 0) regfree(&compiled_);
  }
  Filter(const Filter&) = delete;
  Filter& operator=(const Filter&) = delete;

  bool matches(const std::string& name) const {
    return regexec(&compiled_, name.c_str(), 0, nullptr, 0) == 0;
  }
  // Why it is no expression, or empty.
  std::string fault() const {
    if (fault_ == 0) return "";
    char text[200];
    regerror(fault_, &compiled_, text, sizeof text);
    return text;
  }

 private:
  regex_t compiled_;
  int fault_;
};

Result<std::vector<const PlotRecord*>> select(const PlotInput& input, const std::string& expression) {
  const Filter filter(expression);
  if (const std::string fault = filter.fault(); !fault.empty()) {
    return Status::invalid_argument(
               fmt::format("--filter: invalid regular expression \"{}\": {}", expression, fault))
        .hinting("an extended POSIX expression, such as ^Claim/Q0[1-9]");
  }
  std::vector<const PlotRecord*> selected;
  for (const PlotRecord& record : input.records)
    if (filter.matches(record.name)) selected.push_back(&record);
  if (!selected.empty()) return selected;
  const Status nothing = Status::not_found(fmt::format(
      "nothing to draw: none of {} measurements matches \"{}\"", input.records.size(), expression));
  return input.records.empty() ? nothing.hinting("the file has no successful measurement")
                               : nothing.hinting("the first one is " + input.records.front().name);
}

// A field as a text, whichever kind it has.
bool text_field(const PlotRecord& record, const std::string& name, std::string& text) {
  if (const auto found = record.texts.find(name); found != record.texts.end()) {
    text = found->second;
    return true;
  }
  const auto found = record.numbers.find(name);
  if (found == record.numbers.end()) return false;
  text = fmt::format("{:g}", found->second);
  return true;
}

Status check_field(const std::vector<const PlotRecord*>& records, const std::string& option,
                   const std::string& name, bool number) {
  std::set<std::string> known;
  for (const PlotRecord* record : records) {
    for (const auto& [key, value] : record->numbers) known.insert(key);
    for (const auto& [key, value] : record->texts)
      if (!number) known.insert(key);
  }
  if (known.contains(name)) return {};
  const std::string nearest = nearest_name(name, {known.begin(), known.end()});
  std::string all;
  for (const std::string& each : known) all += (all.empty() ? "" : ", ") + each;
  return Status::invalid_argument(fmt::format("{} {}: no selected measurement has {} of that name", option,
                                              name, number ? "a number" : "a field"))
      .hinting(nearest.empty() ? "fields: " + all : "did you mean " + nearest + "?   (fields: " + all + ")");
}

bool is_number(const std::string& text, double& value) {
  char* end = nullptr;
  value = std::strtod(text.c_str(), &end);
  return !text.empty() && *end == '\0' && std::isfinite(value);
}

// Not "name" and not "2": something that can be written below an axis.
bool names_a_field(const std::string& field) {
  double unused = 0;
  return field != "name" && !is_number(field, unused);
}

// Returns the length of the leading parts that all names share. The chart leaves them out: they tell nothing
// apart.
size_t shared_prefix(const std::vector<std::string>& names) {
  if (names.size() < 2) return 0;
  size_t size = names.front().size();
  for (const std::string& name : names) {
    const auto at = std::ranges::mismatch(name, names.front());
    size = std::min(size, static_cast<size_t>(at.in1 - name.begin()));
  }
  const size_t slash = size == 0 ? std::string::npos : names.front().rfind('/', size - 1);
  return slash == std::string::npos ? 0 : slash + 1;
}

// The axis in the unit that gives numbers a reader likes, and what the axis is called.
std::string scale_to_unit(const std::string& y, const PlotRecord& first, std::vector<PlotSeries>& series) {
  if (y == "rate") {
    const auto unit = first.texts.find("unit");
    return (unit == first.texts.end() ? "operations" : unit->second) + " per second";
  }
  if (y == "items_per_second") return "items per second";
  if (y == "bytes_per_second") return "bytes per second";
  if (y.ends_with("_us")) return y.substr(0, y.size() - 3) + ", µs";
  if (y != "real_time" && y != "cpu_time") return y;
  double largest = 0;
  for (const PlotSeries& each : series)
    for (const double value : each.values)
      if (std::isfinite(value)) largest = std::max(largest, value);
  static constexpr struct {
    double size;
    const char* name;
  } kUnits[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "µs"}, {1, "ns"}};
  const auto* unit = &kUnits[0];
  while (unit->size > 1 && largest < unit->size) ++unit;
  for (PlotSeries& each : series) {
    for (double& value : each.values) value /= unit->size;
    for (PlotPoint& point : each.points)
      for (double* value : {&point.y, &point.y_spread.least, &point.y_spread.most}) *value /= unit->size;
  }
  return (y == "real_time" ? "time, " : "processor time, ") + std::string(unit->name);
}

// Gathers runs by series and place, in the order of their appearance.
class Grouping {
 public:
  void add(const std::string& series, const std::string& x, double y) {
    const size_t at = index_of(xs_, x);
    const size_t of = index_of(names_, series);
    runs_.resize(names_.size());
    runs_[of].resize(std::max(runs_[of].size(), at + 1));
    runs_[of][at].push_back(y);
  }
  const std::vector<std::string>& xs() const { return xs_; }
  // `order`: the places of the axis, as indexes into xs().
  std::vector<PlotSeries> series(const std::vector<size_t>& order) const {
    std::vector<PlotSeries> all;
    for (size_t i = 0; i < names_.size(); ++i) {
      all.push_back({names_[i], {}});
      for (const size_t at : order) {
        const bool some = at < runs_[i].size() && !runs_[i][at].empty();
        all.back().values.push_back(some ? median(runs_[i][at]) : std::numeric_limits<double>::quiet_NaN());
      }
    }
    return all;
  }

 private:
  static size_t index_of(std::vector<std::string>& all, const std::string& text) {
    const auto found = std::ranges::find(all, text);
    if (found == all.end()) all.push_back(text);
    return static_cast<size_t>(std::ranges::find(all, text) - all.begin());
  }

  std::vector<std::string> xs_;
  std::vector<std::string> names_;
  std::vector<std::vector<std::vector<double>>> runs_;
};

// Names of bars, or values of a line in ascending order.
Status lay_out_axis(const Grouping& groups, const PlotRequest& request, PlotChart& chart) {
  std::vector<double> values(groups.xs().size());
  bool numbers = true;
  for (size_t i = 0; i < values.size(); ++i) numbers = is_number(groups.xs()[i], values[i]) && numbers;
  if (request.kind == "lines" && !numbers) {
    return Status::invalid_argument("--kind lines: the x axis needs numbers")
        .hinting("choose another field with --x, or draw bars");
  }
  const bool lines =
      request.kind.empty() ? numbers && (request.log_x || values.size() > 1) : request.kind == "lines";
  chart.kind = lines ? PlotKind::kLines : PlotKind::kBars;
  std::vector<size_t> order(values.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  if (lines) std::ranges::sort(order, {}, [&](size_t i) { return values[i]; });
  if (request.log_x && (!lines || values[order.front()] <= 0)) {
    return Status::invalid_argument("--log-x: the x axis needs numbers above 0")
        .hinting("choose another field with --x, or leave --log-x out");
  }
  const size_t cut = lines ? 0 : shared_prefix(groups.xs());
  for (const size_t i : order) {
    chart.x_names.push_back(groups.xs()[i].substr(cut));
    if (lines) chart.x_values.push_back(values[i]);
  }
  chart.series = groups.series(order);
  return {};
}

// Gathers points by series and name, in the order of their appearance.
class Points {
 public:
  void add(const std::string& series, const std::string& name, double x, double y) {
    auto found = std::ranges::find_if(
        places_, [&](const Place& each) { return each.series == series && each.name == name; });
    if (found == places_.end() || name.empty()) {  // points without a name are not runs of one place
      places_.push_back({series, name, {}, {}});
      found = places_.end() - 1;
    }
    found->xs.push_back(x);
    found->ys.push_back(y);
  }
  std::vector<PlotSeries> series() const {
    std::vector<PlotSeries> all;
    for (const Place& place : places_) {
      auto found = std::ranges::find(all, place.series, &PlotSeries::name);
      if (found == all.end()) found = all.insert(all.end(), PlotSeries{place.series, {}});
      found->points.push_back(
          {median(place.xs), median(place.ys), place.name, spread(place.xs), spread(place.ys)});
    }
    return all;
  }

 private:
  static PlotSpread spread(const std::vector<double>& values) {
    const auto [least, most] = std::ranges::minmax(values);
    return {least, most};
  }
  struct Place {
    std::string series;
    std::string name;
    std::vector<double> xs;
    std::vector<double> ys;
  };
  std::vector<Place> places_;
};

// The series that a record belongs to; false if it lacks the field. "disk 1" rather than "1".
bool series_of(const PlotRecord& record, const std::string& field, std::string& series) {
  if (field.empty()) return true;
  if (!text_field(record, field, series)) return false;
  double unused = 0;
  if (is_number(series, unused)) series = field + " " + series;
  return true;
}

Result<PlotChart> make_bars_or_lines(const std::vector<const PlotRecord*>& selected,
                                     const PlotRequest& request, const std::string& x, const std::string& y) {
  PlotChart chart;
  Grouping groups;
  for (const PlotRecord* record : selected) {
    std::string place;
    std::string series;
    const auto value = record->numbers.find(y);
    const bool whole = value != record->numbers.end() && text_field(*record, x, place) &&
                       series_of(*record, request.series, series);
    if (whole) {
      groups.add(series, place, value->second);
    } else {
      ++chart.left_out;
    }
  }
  if (!groups.xs().empty()) CELLAR_TRY(lay_out_axis(groups, request, chart));
  return chart;
}

// The number of a field, or of a text that is one, such as a part of a name.
bool number_field(const PlotRecord& record, const std::string& name, double& value) {
  std::string text;
  if (const auto found = record.numbers.find(name); found != record.numbers.end()) {
    value = found->second;
    return true;
  }
  return text_field(record, name, text) && is_number(text, value);
}

Result<PlotChart> make_scatter(const std::vector<const PlotRecord*>& selected, const PlotRequest& request,
                               const std::string& x, const std::string& y) {
  CELLAR_TRY(check_field(selected, "--x", x, false));
  if (!request.label.empty()) CELLAR_TRY(check_field(selected, "--label", request.label, false));
  double at_x = 0;
  double at_y = 0;
  if (std::ranges::none_of(selected, [&](const PlotRecord* each) { return number_field(*each, x, at_x); })) {
    return Status::invalid_argument("--kind scatter: the x axis needs numbers, and " + x + " has none")
        .hinting("choose another field with --x");
  }
  PlotChart chart;
  Points points;
  for (const PlotRecord* record : selected) {
    std::string series;
    std::string name;
    const bool whole = number_field(*record, x, at_x) && number_field(*record, y, at_y) &&
                       series_of(*record, request.series, series) &&
                       (request.label.empty() || text_field(*record, request.label, name));
    if (whole && (at_x > 0 || !request.log_x) && (at_y > 0 || !request.log_y)) {
      points.add(series, name, at_x, at_y);
    } else {
      ++chart.left_out;
    }
  }
  chart.kind = PlotKind::kScatter;
  chart.series = points.series();
  return chart;
}

}  // namespace

double median(std::vector<double> values) {
  std::ranges::sort(values);
  const size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

Result<PlotChart> make_chart(const PlotInput& input, const PlotRequest& request) {
  CELLAR_TRY_ASSIGN(const std::vector<const PlotRecord*> selected, select(input, request.filter));
  const std::string x = request.x.empty() ? "name" : request.x;
  const std::string y = request.y.empty() ? input.y : request.y;
  CELLAR_TRY(check_field(selected, "--x", x, false));
  CELLAR_TRY(check_field(selected, "--y", y, true));
  if (!request.series.empty()) CELLAR_TRY(check_field(selected, "--series", request.series, false));

  PlotChart chart;
  if (request.kind == "scatter") {
    CELLAR_TRY_ASSIGN(chart, make_scatter(selected, request, x, y));
  } else {
    CELLAR_TRY_ASSIGN(chart, make_bars_or_lines(selected, request, x, y));
  }
  if (chart.series.empty()) {
    return Status::not_found("nothing to draw: no selected measurement has all the fields asked for")
        .hinting("choose other ones with --x, --y and --series");
  }
  const std::string unit = scale_to_unit(y, *selected.front(), chart.series);
  chart.log_x = request.log_x;
  chart.log_y = request.log_y;
  chart.y_title = request.y_label.empty() ? unit : request.y_label;
  chart.x_title = request.x_label.empty() ? (names_a_field(x) ? x : "") : request.x_label;
  chart.title = request.title.empty() ? y + (names_a_field(x) ? " by " + x : "") : request.title;
  return chart;
}

}  // namespace cellar
