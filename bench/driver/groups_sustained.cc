// The group that lasts: random overwrites of rows of a kilobyte for long enough that compactions set the
// pace, looked at window by window.
#include <algorithm>
#include <cstring>

#include "bench/driver/groups.h"

namespace cellar::bench {
namespace {

constexpr double kWindowSeconds = 5;

// Rows of one cell of a kilobyte: ten values of ValueMaker, so that compression halves it, too.
class LargeRow {
 public:
  // Valid until the next call.
  RowIn row(uint64_t index, uint64_t version) {
    for (uint64_t i = 0; i < kParts; ++i)
      std::memcpy(value_ + i * ValueMaker::kBytes, values_.of(index, kParts * version + i).data(),
                  ValueMaker::kBytes);
    cell_ = {kFamily, kQualifier, {value_, sizeof value_}};
    return {key_.present(index).view(), {&cell_, 1}};
  }

 private:
  static constexpr uint64_t kParts = 10;

  RowKey key_;
  ValueMaker values_;
  char value_[kParts * ValueMaker::kBytes];
  CellIn cell_;
};

// Cuts a long stretch of operations into windows.
class Windows {
 public:
  Windows(std::vector<Sample::Window>& to, std::string path) : to_(to), path_(std::move(path)) {}

  void add(int64_t begun_ns, int64_t ended_ns) {
    ++window_.ops;
    window_.longest_ms = std::max(window_.longest_ms, static_cast<double>(ended_ns - begun_ns) / 1e6);
    window_.seconds = static_cast<double>(ended_ns - begun_ns_) / 1e9;
    if (window_.seconds >= kWindowSeconds) end();
  }
  void end() {
    if (window_.ops == 0) return;
    window_.disk_bytes = bytes_on_disk(path_);
    to_.push_back(window_);
    window_ = {};
    begun_ns_ = steady_ns();
  }

 private:
  std::vector<Sample::Window>& to_;
  const std::string path_;
  Sample::Window window_;
  int64_t begun_ns_ = steady_ns();
};

}  // namespace

void run_sustained(Run& run) {
  run.step("overwrite_sustained", Step::kAlone, "ops/s", [&](Sample& sample) {
    run.fresh({std::string(kFamily)}, kMediumCache);
    run.load<LargeRow>(run.n());
    sample.ops = run.overwrites() * run.n();
    sample.bytes_live = bytes_on_disk(run.path());
    run.work(sample, 1, [&](Worker& worker) {
      LargeRow cell;
      Random random(41);
      Windows windows(sample.windows, run.path());
      for (uint64_t i = 0; i < sample.ops; ++i) {
        const int64_t begun = steady_ns();
        worker.session.put(cell.row(random.below(run.n()), i + 1), Keep::kProcess);
        const int64_t ended = steady_ns();
        worker.times.add(static_cast<uint64_t>(ended - begun));
        windows.add(begun, ended);
      }
      windows.end();
    });
    sample.stop();
    run.peer().session()->scan({}, sample.tally);
  });
}

}  // namespace cellar::bench
