// Estimates from the runs that are done: of the same combination, else of the same workload, else of any.
#include "tools/experiment/experiment_progress.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/bytes.h"
#include "cellar/environment.h"
#include "tools/frame/progress.h"
#include "tools/frame/terminal_line.h"

namespace cellar {
namespace {

double seconds_of(const RunRecord& record) {
  return record.load_seconds + record.seconds + record.settle_seconds;
}

// The mean of what was added.
class Mean {
 public:
  void add(double value) {
    sum_ += value;
    ++count_;
  }
  bool known() const { return count_ > 0; }
  double value() const { return sum_ / static_cast<double>(count_); }

 private:
  double sum_ = 0;
  uint64_t count_ = 0;
};

}  // namespace

ExperimentProgress::ExperimentProgress(Session& session, const ExperimentPlan& plan,
                                       const std::vector<const RunRecord*>& done)
    : session_(session), plan_(plan), drawn_(Progress::is_shown(session)), seconds_(plan.runs.size()) {
  for (size_t i = 0; i < done.size(); ++i)
    if (done[i] != nullptr) seconds_[i] = seconds_of(*done[i]);
}

std::string ExperimentProgress::place(size_t run) const {
  const ExperimentRun& each = plan_.runs[run];
  return fmt::format("{}/{}  {}, {}, round {}", run + 1, plan_.runs.size(),
                     plan_.workloads[each.workload].label, plan_.configurations[each.configuration].label,
                     each.round + 1);
}

void ExperimentProgress::begin(size_t run) {
  run_ = run;
  share_ = 0;
  begun_us_ = system_clock().steady_us();
}

void ExperimentProgress::show(double share) {
  constexpr int64_t kEveryUs = 100000;
  if (!drawn_) return;
  const int64_t now = system_clock().steady_us();
  if (now - shown_us_ < kEveryUs) return;
  shown_us_ = now;
  share_ = share;
  TerminalLine::instance().draw(
      fmt::format("{}  {:.0f} %{}", place(run_), std::min(share, 1.0) * 100, time_left()));
}

std::string ExperimentProgress::time_left() const {
  Mean any;
  std::vector<Mean> of_workload(plan_.workloads.size());
  std::vector<Mean> of_combination(plan_.workloads.size() * plan_.configurations.size());
  const auto combination = [&](const ExperimentRun& run) {
    return run.workload * plan_.configurations.size() + run.configuration;
  };
  const double so_far = static_cast<double>(system_clock().steady_us() - begun_us_) / 1e6;
  for (size_t i = 0; i < plan_.runs.size(); ++i) {
    if (!seconds_[i]) continue;
    any.add(*seconds_[i]);
    of_workload[plan_.runs[i].workload].add(*seconds_[i]);
    of_combination[combination(plan_.runs[i])].add(*seconds_[i]);
  }
  if (!any.known()) {  // the first run: what it has done tells how long it takes
    if (share_ < 0.05) return "";
    any.add(so_far / share_);
  }
  double left = 0;
  for (size_t i = 0; i < plan_.runs.size(); ++i) {
    if (seconds_[i]) continue;
    const ExperimentRun& run = plan_.runs[i];
    const Mean& mean = of_combination[combination(run)].known() ? of_combination[combination(run)]
                       : of_workload[run.workload].known()      ? of_workload[run.workload]
                                                                : any;
    left += i == run_ ? std::max(mean.value() - so_far, 0.0) : mean.value();
  }
  return "  " + human_micros(static_cast<int64_t>(left * 1e6)) + " left";
}

void ExperimentProgress::end(size_t run, const RunRecord& record) {
  seconds_[run] = seconds_of(record);
  run_ = plan_.runs.size();  // none is under way
  const auto figure = [](const std::optional<double>& value) {
    return value ? fmt::format("{:.2f}", *value) : "-";
  };
  const bool last = std::ranges::all_of(seconds_, [](const auto& each) { return each.has_value(); });
  session_.talk(fmt::format("{}: {:.0f} operations/s, amplification of writes {}, space {}, reads {}{}",
                            place(run), record.rate, figure(record.write_amplification),
                            figure(record.space_amplification), figure(record.read_amplification),
                            last ? "" : time_left()));
}

}  // namespace cellar
