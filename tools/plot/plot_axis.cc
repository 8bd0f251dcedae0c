// Steps of 1, 2 and 5.
#include "tools/plot/plot_axis.h"

#include <fmt/format.h>

#include <cmath>

namespace cellar {
namespace {

constexpr double kNearly = 1e-9;

// The least 1, 2 or 5 times a power of ten that is not below `value`.
double round_up(double value) {
  const double power = std::pow(10, std::floor(std::log10(value) + kNearly));
  for (const double factor : {1.0, 2.0, 5.0})
    if (factor * power >= value * (1 - kNearly)) return factor * power;
  return 10 * power;
}

double round_down(double value) {
  const double power = std::pow(10, std::floor(std::log10(value) + kNearly));
  double best = power;
  for (const double factor : {2.0, 5.0})
    if (factor * power <= value * (1 + kNearly)) best = factor * power;
  return best;
}

double linear_step(double low, double high) { return round_up((high - low) / 6); }

}  // namespace

PlotAxis::PlotAxis(double low, double high, bool log, bool rounded, double begin, double end)
    : low_(low), high_(high), log_(log), begin_(begin), end_(end) {
  if (high_ <= low_) high_ = log_ ? low_ * 10 : low_ + 1;
  if (rounded && log_) round_log();
  if (rounded && !log_) round_linear();
  log_ ? mark_log() : mark_linear();
}

double PlotAxis::at(double value) const {
  const double share =
      log_ ? std::log(value / low_) / std::log(high_ / low_) : (value - low_) / (high_ - low_);
  return begin_ + share * (end_ - begin_);
}

void PlotAxis::round_linear() {
  const double step = linear_step(low_, high_);
  low_ = std::floor(low_ / step + kNearly) * step;
  high_ = std::ceil(high_ / step - kNearly) * step;
}

void PlotAxis::round_log() {
  low_ = round_down(low_);
  high_ = round_up(high_);
  if (high_ <= low_) high_ = 10 * low_;
}

void PlotAxis::mark_linear() {
  const double step = linear_step(low_, high_);
  for (double i = std::ceil(low_ / step - kNearly); i * step <= high_ + step * kNearly; ++i)
    marks_.push_back(i == 0 ? 0 : i * step);
}

// All of 1, 2, 5 on less than three decades; powers of ten else, each second or third one on many.
void PlotAxis::mark_log() {
  const double decades = std::log10(high_ / low_);
  const double each = std::ceil(decades / 8);
  const double first = std::floor(std::log10(low_) + kNearly);
  for (double power = first; std::pow(10, power) <= high_ * (1 + kNearly); power += each) {
    for (const double factor : {1.0, 2.0, 5.0}) {
      const double value = factor * std::pow(10, power);
      if (factor != 1 && decades >= 3) break;
      if (value >= low_ * (1 - kNearly) && value <= high_ * (1 + kNearly)) marks_.push_back(value);
    }
  }
}

std::string short_number(double value) {
  static constexpr struct {
    double size;
    const char* name;
  } kSizes[] = {{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}};
  for (const auto& each : kSizes)
    if (std::fabs(value) >= each.size * 0.9995) return fmt::format("{:.3g}{}", value / each.size, each.name);
  return fmt::format("{:.3g}", value);
}

}  // namespace cellar
