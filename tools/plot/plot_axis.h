// PlotAxis: values to places on a picture, linear or logarithmic, with marks at round values.
#pragma once

#include <string>
#include <vector>

namespace cellar {

class PlotAxis {
 public:
  // From `low` to `high` in values, from `begin` to `end` on the picture. Logarithmic: low is above 0.
  // `rounded`: the ends are moved outward to round values.
  PlotAxis(double low, double high, bool log, bool rounded, double begin, double end);

  double at(double value) const;
  // Round values, ascending.
  const std::vector<double>& marks() const { return marks_; }

 private:
  void round_linear();
  void round_log();
  void mark_linear();
  void mark_log();

  double low_;
  double high_;
  bool log_;
  double begin_;
  double end_;
  std::vector<double> marks_;
};

// "0", "250", "1.5k", "12M", "0.05": at most three digits that matter.
std::string short_number(double value);

}  // namespace cellar
