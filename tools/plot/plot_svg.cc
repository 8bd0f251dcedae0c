// The picture's parts from top to bottom: title, legend, marks, bars or lines, names of the axes.
#include "tools/plot/plot_svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "tools/plot/plot_axis.h"

namespace cellar {
namespace {

constexpr double kLeft = 72;
constexpr double kRightMargin = 20;
constexpr double kPlotHeight = 280;
constexpr double kCharacter = 6.3;  // mean width of a letter at 12 px
constexpr double kPi = 3.14159265358979;
constexpr size_t kColours = 8;
constexpr size_t kBarsWithFigures = 28;

// Okabe and Ito's colours, which colour-blind readers tell apart; lighter ones on dark ground.
constexpr const char* kLight[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                  "#e69f00", "#56b4e9", "#7a6a00", "#5a5a5a"};
constexpr const char* kDark[] = {"#4aa8e0", "#ff8a3d", "#2fc79b", "#e3a1c6",
                                 "#f3b93c", "#8fd0f7", "#d6c94a", "#a8adb2"};

// Plain rules, for viewers that know no variables: .c3 and .l3 fill and stroke with the colour of series 3.
std::string colour_rules(const char* const (&colours)[kColours]) {
  std::string rules;
  for (size_t i = 0; i < kColours; ++i)
    rules += fmt::format(".c{0}{{fill:{1}}}.l{0}{{stroke:{1}}}{2}", i, colours[i], i % 4 == 3 ? "\n" : "");
  return rules;
}

}  // namespace

std::string plot_style() {
  return "text{fill:#1c1c1c;font:12px system-ui,sans-serif}.title{font-size:15px;font-weight:600}\n"
         ".soft{fill:#5a5a5a}.figure{font-size:10px;fill:#5a5a5a}.ground{fill:#fff}\n"
         ".grid{stroke:#d8d8d8}.axis{stroke:#5a5a5a}.line{fill:none;stroke-width:2}.spread{opacity:.5}.point{"
         "stroke:#fff}\n" +
         colour_rules(kLight) +
         "@media (prefers-color-scheme:dark){\n"
         "text{fill:#ececec}.soft,.figure{fill:#a8adb2}.ground{fill:#14171a}\n"
         ".grid{stroke:#3a3f44}.axis{stroke:#a8adb2}.point{stroke:#14171a}\n" +
         colour_rules(kDark) + "}\n";
}

std::string xml_text(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '&') {
      escaped += "&amp;";
    } else if (c == '<') {
      escaped += "&lt;";
    } else if (c == '"') {
      escaped += "&quot;";
    } else if (c == '>' && escaped.ends_with("]]")) {
      escaped += "&gt;";
    } else {
      escaped += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
    }
  }
  return escaped;
}

namespace {

std::string xml(const std::string& text) { return xml_text(text); }

double text_width(const std::string& text) {
  const auto letters = std::ranges::count_if(text, [](char c) { return (c & 0xC0) != 0x80; });
  return kCharacter * static_cast<double>(letters);
}

struct Box {
  double left;
  double top;
  double right;
  double bottom;

  bool meets(const Box& other) const {
    return left < other.right && other.left < right && top < other.bottom && other.top < bottom;
  }
};

class Picture {
 public:
  // `id` begins the names of the parts of a picture within a page; empty: a file of its own.
  Picture(const PlotChart& chart, std::string id)
      : chart_(chart), id_(std::move(id)), right_(chart.width - kRightMargin) {}

  std::string draw() {
    place_legend();
    place_names();
    const PlotAxis y = y_axis();
    std::string body;
    std::swap(body, svg_);
    head();
    svg_ += body;
    grid(y);
    switch (chart_.kind) {
      case PlotKind::kBars:
        draw_bars(y);
        break;
      case PlotKind::kScatter:
        draw_points(y);
        break;
      default:
        draw_lines(y);
    }
    add(R"~(<text transform="translate(16,{:.1f}) rotate(-90)" text-anchor="middle">{}</text>)~",
        top_ + kPlotHeight / 2, xml(chart_.y_title));
    add(R"~(<text x="{:.1f}" y="{:.1f}" text-anchor="middle">{}</text>)~", (kLeft + right_) / 2, height_ - 10,
        xml(chart_.x_title));
    return svg_ + "</svg>\n";
  }

 private:
  template <class... Values>
  void add(fmt::format_string<Values...> format, Values&&... values) {
    fmt::format_to(std::back_inserter(svg_), format, std::forward<Values>(values)...);
    svg_ += '\n';
  }

  double bottom() const { return top_ + kPlotHeight; }
  bool bars() const { return chart_.kind == PlotKind::kBars; }

  // A series is named by the legend, unless each of its points bears its name.
  bool has_legend() const {
    if (chart_.series.size() < 2) return false;
    if (chart_.kind != PlotKind::kScatter) return true;
    for (const PlotSeries& series : chart_.series)
      for (const PlotPoint& point : series.points)
        if (point.name != series.name) return true;
    return false;
  }

  void place_legend() {
    double x = kLeft;
    double y = 46;
    if (has_legend()) {
      for (size_t i = 0; i < chart_.series.size(); ++i) {
        const double width = 24 + text_width(chart_.series[i].name) + 14;
        if (x + width > right_ && x > kLeft) {
          x = kLeft;
          y += 18;
        }
        legend_mark(i, x, y);
        add(R"~(<text x="{:.1f}" y="{:.1f}">{}</text>)~", x + 20, y, xml(chart_.series[i].name));
        x += width;
      }
    } else {
      y = 28;
    }
    top_ = y + 18;
  }

  void legend_mark(size_t series, double x, double y) {
    if (bars()) {
      key(series, x + 2, y - 10);
    } else if (chart_.kind == PlotKind::kCourse) {
      add(R"~(<path class="line l{}"{} d="M{:.1f} {:.1f}h16"/>)~", colour(series), dashes(series), x, y - 4);
    } else {
      mark(series, x + 8, y - 4);
    }
  }

  // Names below bars lie level where they fit, else they slope.
  void place_names() {
    double longest = 0;
    for (const std::string& name : chart_.x_names) longest = std::max(longest, text_width(name));
    const double room = (right_ - kLeft) / std::max(static_cast<double>(chart_.x_names.size()), 1.0);
    slope_ = bars() && longest > room - 6;
    const double names = slope_ ? longest * std::sin(kPi / 6) + 16 : 18;
    height_ = bottom() + names + (chart_.x_title.empty() ? 12 : 32);
  }

  PlotAxis y_axis() const {
    double low = INFINITY;
    double high = -INFINITY;
    const auto meet = [&](double value) {
      if (!std::isfinite(value) || (chart_.log_y && value <= 0)) return;
      low = std::min(low, value);
      high = std::max(high, value);
    };
    for (const PlotSeries& series : chart_.series) {
      for (const double value : series.values) meet(value);
      for (const PlotPoint& point : series.points)
        for (const double value :
             {point.y, least_of(point.y, point.y_spread), most_of(point.y, point.y_spread)})
          meet(value);
    }
    if (high < low) low = high = 1;  // nothing that this axis could show
    if (chart_.kind == PlotKind::kScatter)
      return {chart_.log_y ? low : scatter_low(low, high), high, chart_.log_y, true, bottom(), top_};
    if (!chart_.log_y) return {std::min(low, 0.0), std::max(high, 0.0), false, true, bottom(), top_};
    // A bar begins somewhere: the least one still shows.
    return {bars() ? low / 2 : low, high, true, true, bottom(), top_};
  }

  // The ends of a spread. A point without one has zeros there.
  static double least_of(double value, const PlotSpread& spread) {
    return spread.most > spread.least ? spread.least : value;
  }
  static double most_of(double value, const PlotSpread& spread) {
    return spread.most > spread.least ? spread.most : value;
  }

  // The axes of a scatter plot begin at 0, unless all points lie far from it.
  static double scatter_low(double low, double high) { return low > 0 && low <= high * 0.7 ? 0 : low; }

  PlotAxis scatter_x_axis() const {
    double low = INFINITY;
    double high = -INFINITY;
    for (const PlotSeries& series : chart_.series) {
      for (const PlotPoint& point : series.points) {
        low = std::min(low, least_of(point.x, point.x_spread));
        high = std::max(high, most_of(point.x, point.x_spread));
      }
    }
    if (high < low) low = high = 1;
    return {chart_.log_x ? low : scatter_low(low, high), high, chart_.log_x, true, kLeft + 10, right_ - 10};
  }

  void head() {
    const std::string size = id_.empty()
                                 ? fmt::format(R"~( width="{:.0f}" height="{:.0f}")~", chart_.width, height_)
                                 : std::string();
    add(R"~(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {0:.0f} {1:.0f}")~"
        R"~({2} role="img" aria-labelledby="{3}t {3}d">)~",
        chart_.width, height_, size, id_);
    add(R"~(<title id="{}t">{}</title>)~", id_, xml(chart_.title));
    add(R"~(<desc id="{}d">{}</desc>)~", id_, xml(description()));
    if (id_.empty()) svg_ += "<style>\n" + plot_style() + "</style>\n";
    add(R"~(<rect class="ground" width="{:.0f}" height="{:.0f}"/>)~", chart_.width, height_);
    add(R"~(<text class="title" x="{:.0f}" y="24">{}</text>)~", kLeft, xml(chart_.title));
  }

  std::string description() const {
    std::string text = chart_.y_title;
    for (const PlotSeries& series : chart_.series) {
      text += series.name.empty() ? ":" : "; " + series.name + ":";
      if (chart_.kind == PlotKind::kCourse) {
        text += course_text(series);
        continue;
      }
      for (size_t i = 0; i < series.values.size(); ++i) {
        if (!std::isfinite(series.values[i])) continue;
        text += fmt::format("{} {} {}", text.ends_with(':') ? "" : ",", chart_.x_names[i],
                            short_number(series.values[i]));
      }
      for (const PlotPoint& point : series.points) {
        text += fmt::format("{} {}{} at {}", text.ends_with(':') ? "" : ",",
                            point.name.empty() || point.name == series.name ? "" : point.name + " ",
                            short_number(point.y), short_number(point.x));
      }
    }
    return text;
  }

  static std::string course_text(const PlotSeries& series) {
    std::vector<double> seen;
    for (const double value : series.values)
      if (std::isfinite(value)) seen.push_back(value);
    if (seen.empty()) return "";
    const auto [least, most] = std::ranges::minmax(seen);
    return fmt::format(" {} to {}, at the end {}", short_number(least), short_number(most),
                       short_number(seen.back()));
  }

  void grid(const PlotAxis& y) {
    for (const double value : y.marks()) {
      add(R"~(<path class="{}" d="M{:.0f} {:.1f}H{:.0f}"/>)~", value == 0 ? "axis" : "grid", kLeft,
          y.at(value), right_);
      add(R"~(<text class="soft" x="{:.0f}" y="{:.1f}" text-anchor="end">{}</text>)~", kLeft - 6,
          y.at(value) + 4, short_number(value));
    }
    add(R"~(<path class="axis" d="M{:.0f} {:.1f}H{:.0f}"/>)~", kLeft, bottom(), right_);
  }

  static size_t colour(size_t series) { return series % kColours; }
  static const char* dashes(size_t series) { return series < kColours ? "" : R"~( stroke-dasharray="6 3")~"; }

  void key(size_t series, double x, double y) {
    add(R"~(<rect class="c{}" x="{:.1f}" y="{:.1f}" width="12" height="12"/>)~", colour(series), x, y);
  }

  // Circle, square, triangle, diamond, turn by turn.
  void mark(size_t series, double x, double y) {
    static constexpr const char* kShapes[] = {"M-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0z", "M-4-4H4V4H-4z",
                                              "M0-5L5 4H-5z", "M0-6L5 0 0 6-5 0z"};
    add(R"~(<path class="point c{}" transform="translate({:.1f},{:.1f})" d="{}"/>)~", colour(series), x, y,
        kShapes[series % std::size(kShapes)]);
  }

  void name_place(double x, const std::string& name) {
    if (!slope_) {
      add(R"~(<text x="{:.1f}" y="{:.1f}" text-anchor="middle">{}</text>)~", x, bottom() + 18, xml(name));
      return;
    }
    add(R"~(<text transform="translate({:.1f},{:.1f}) rotate(-30)" text-anchor="end">{}</text>)~", x + 4,
        bottom() + 14, xml(name));
  }

  void draw_bars(const PlotAxis& y) {
    const double room = (right_ - kLeft) / static_cast<double>(chart_.x_names.size());
    const double width = std::min(room * 0.8 / static_cast<double>(chart_.series.size()), 64.0);
    const bool figures = width >= 18 && chart_.x_names.size() * chart_.series.size() <= kBarsWithFigures;
    const double base = chart_.log_y ? bottom() : y.at(0);
    for (size_t i = 0; i < chart_.x_names.size(); ++i) {
      const double middle = kLeft + room * (static_cast<double>(i) + 0.5);
      double x = middle - width * static_cast<double>(chart_.series.size()) / 2;
      name_place(middle, chart_.x_names[i]);
      for (size_t j = 0; j < chart_.series.size(); ++j, x += width) {
        const double value = chart_.series[j].values[i];
        if (!std::isfinite(value)) continue;
        const double at = chart_.log_y && value <= 0 ? base : y.at(value);
        add(R"~(<rect class="c{}" x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}">)~"
            "<title>{}</title></rect>",
            colour(j), x + 1, std::min(at, base), std::max(width - 2, 1.0), std::fabs(base - at),
            xml(fmt::format("{} {}: {:.6g}", chart_.x_names[i], chart_.series[j].name, value)));
        if (figures)
          add(R"~(<text class="figure" x="{:.1f}" y="{:.1f}" text-anchor="middle">{}</text>)~", x + width / 2,
              std::min(at, base) - 3, short_number(value));
      }
    }
  }

  // Marks each of these values on the x axis, and names it where there is room.
  void mark_x(const PlotAxis& x, const std::vector<double>& values) {
    double free_from = 0;
    for (const double value : values) {
      const double at = x.at(value);
      const std::string name = short_number(value);
      add(R"~(<path class="axis" d="M{:.1f} {:.1f}v4"/>)~", at, bottom());
      if (at - text_width(name) / 2 < free_from) continue;
      name_place(at, name);
      free_from = at + text_width(name) / 2 + 6;
    }
  }

  void draw_lines(const PlotAxis& y) {
    const bool course = chart_.kind == PlotKind::kCourse;
    const PlotAxis x(chart_.x_values.front(), chart_.x_values.back(), chart_.log_x, false, kLeft + 10,
                     right_ - 10);
    mark_x(x, course ? x.marks() : chart_.x_values);
    for (size_t j = 0; j < chart_.series.size(); ++j) {
      std::string path;
      std::vector<std::pair<double, double>> points;
      for (size_t i = 0; i < chart_.x_values.size(); ++i) {
        const double value = chart_.series[j].values[i];
        if (!std::isfinite(value) || (chart_.log_y && value <= 0)) continue;
        points.emplace_back(x.at(chart_.x_values[i]), y.at(value));
        path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : "L", points.back().first,
                            points.back().second);
      }
      add(R"~(<path class="line l{}"{} d="{}"/>)~", colour(j), dashes(j), path);
      if (course) continue;
      for (const auto& [at_x, at_y] : points) mark(j, at_x, at_y);
    }
  }

  void draw_points(const PlotAxis& y) {
    const PlotAxis x = scatter_x_axis();
    mark_x(x, x.marks());
    std::vector<Box> taken;  // no name is written over a point or over another name
    for (const PlotSeries& series : chart_.series)
      for (const PlotPoint& point : series.points)
        taken.push_back({x.at(point.x) - 5, y.at(point.y) - 5, x.at(point.x) + 5, y.at(point.y) + 5});
    for (size_t i = 0; i < chart_.series.size(); ++i) {
      for (const PlotPoint& point : chart_.series[i].points) {
        add_spread(i, point, x, y);
        mark(i, x.at(point.x), y.at(point.y));
        if (!point.name.empty()) name_point(point.name, x.at(point.x), y.at(point.y), taken);
      }
    }
  }

  void add_spread(size_t series, const PlotPoint& point, const PlotAxis& x, const PlotAxis& y) {
    const auto line = [&](double from_x, double from_y, double to_x, double to_y) {
      add(R"~(<path class="spread l{}" d="M{:.1f} {:.1f}L{:.1f} {:.1f}"/>)~", colour(series), from_x, from_y,
          to_x, to_y);
    };
    if (point.x_spread.most > point.x_spread.least)
      line(x.at(point.x_spread.least), y.at(point.y), x.at(point.x_spread.most), y.at(point.y));
    if (point.y_spread.most > point.y_spread.least)
      line(x.at(point.x), y.at(point.y_spread.least), x.at(point.x), y.at(point.y_spread.most));
  }

  // Writes the name to the right of its point. If there is no room, it stands to the left, above or below, or
  // a line higher or lower. Without any room it stands to the right.
  void name_point(const std::string& name, double x, double y, std::vector<Box>& taken) {
    constexpr double kHigh = 12;
    const double width = text_width(name);
    const auto box_at = [&](double left, double middle) {
      return Box{left, middle - kHigh / 2, left + width, middle + kHigh / 2};
    };
    std::vector<Box> places;
    for (const double higher : {0.0, -kHigh, kHigh, -2 * kHigh, 2 * kHigh}) {
      places.push_back(box_at(x + 8, y + higher));
      places.push_back(box_at(x - 8 - width, y + higher));
    }
    places.push_back(box_at(x - width / 2, y - 14));
    places.push_back(box_at(x - width / 2, y + 14));
    const auto fits = [&](const Box& place) {
      return place.left >= kLeft && place.right <= chart_.width && place.top >= top_ - 8 &&
             place.bottom <= bottom() &&
             std::ranges::none_of(taken, [&](const Box& other) { return place.meets(other); });
    };
    const auto found = std::ranges::find_if(places, fits);
    const Box& place = found == places.end() ? places.front() : *found;
    taken.push_back(place);
    add(R"~(<text x="{:.1f}" y="{:.1f}">{}</text>)~", place.left, place.bottom - 2, xml(name));
  }

  const PlotChart& chart_;
  const std::string id_;
  const double right_;
  std::string svg_;
  double top_ = 0;
  double height_ = 0;
  bool slope_ = false;
};

}  // namespace

std::string svg_of(const PlotChart& chart) { return Picture(chart, "").draw(); }

std::string svg_in_page(const PlotChart& chart, const std::string& id) { return Picture(chart, id).draw(); }

}  // namespace cellar
