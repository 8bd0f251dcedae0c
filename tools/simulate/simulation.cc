// Simulation: memtables fill, are flushed and compacted, one event after the other.
#include "tools/simulate/simulation.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <limits>
#include <numeric>

#include "base/assert.h"
#include "base/random.h"
#include "compaction/plan.h"
#include "engine/store/write_pace.h"
#include "tools/simulate/simulated_store.h"

namespace cellar {
namespace {

constexpr uint64_t kCompactionsInARowMax = 100'000;
constexpr uint64_t kRowsOfASample = 64;
constexpr int kSlices = 8;  // the rate of writers is looked at so often while a memtable fills
constexpr double kNoEvent = std::numeric_limits<double>::infinity();

SimulatedRules rules_of(const SimulationOptions& options, uint64_t cell_bytes) {
  if (options.cell_bytes != 0) cell_bytes = options.cell_bytes;
  return {.cell_bytes = cell_bytes,
          .marker_bytes = options.marker_bytes != 0 ? options.marker_bytes : cell_bytes,
          .file_overhead = options.file_overhead,
          .versions = options.versions,
          .ttl_ms = options.ttl_ms,
          .flush_bytes = options.memtable_bytes,
          .files_stop = options.files_stop};
}

// The cells of a memtable. A put in place of one that no reader needs takes no room.
struct Memtable {
  SimulatedStore::Cells cells;
  uint64_t bytes_put = 0;
};

// The newest write of each row.
struct RowState {
  int64_t stamp_us = 0;
  uint32_t row = 0;
  uint32_t cell = 0;      // its index in the memtable
  uint32_t memtable = 0;  // number of the memtable that has it; 0: none
  bool marker = false;
};

// A flush or a compaction that takes time.
struct Work {
  double left = 0;   // bytes of input
  double reads = 0;  // bytes that the disk reads and writes for a byte of input
  double writes = 0;
  double begun_us = 0;
};

class Simulation {
 public:
  Simulation(const CompactionPolicy& policy, SimulatedWrites& writes, const SimulationOptions& options,
             const std::function<bool(uint64_t)>& progress)
      : policy_(policy),
        writes_(writes),
        options_(options),
        progress_(progress),
        put_bytes_(std::max<uint64_t>(1, options.memtable_bytes / options.cells_per_memtable)),
        store_(rules_of(options, put_bytes_)),
        sample_step_(std::max<uint64_t>(1, options.bytes_put / std::max<uint64_t>(1, options.samples))),
        next_sample_(sample_step_) {
    now_us_ = skipped_us_ = begin_us();
  }

  Result<SimulationResult> run() {
    CELLAR_TRY(options_.device.instant ? run_at_once() : run_on_device());
    summarize();
    return std::move(result_);
  }

 private:
  // Without a device: each flush and compaction has ended before the next put.
  Status run_at_once() {
    while (bytes_put_ < options_.bytes_put) {
      Memtable memtable = filled();
      note_put(memtable.bytes_put);
      now_us_ += seconds_of(memtable.bytes_put) * 1e6;
      flushed(std::move(memtable));
      for (uint64_t compactions = 0;; ++compactions) {
        CELLAR_TRY_ASSIGN(const std::optional<SimulatedStore::Compaction> begun, begin_compaction());
        if (!begun) break;
        end_compaction(*begun);
        if (compactions == kCompactionsInARowMax)
          return Status::invalid_argument(
              fmt::format("the plans of the policy come to no end: {} after one flush, the last: {}",
                          compactions, begun->plan.why));
      }
      CELLAR_TRY(note_samples());
    }
    return {};
  }

  double begin_us() const { return static_cast<double>(options_.begin_ms) * 1000; }
  double seconds_of(uint64_t bytes) const { return static_cast<double>(bytes) / options_.device.put_rate; }

  // Returns the next memtable that is full. The history ends in the middle of the last one.
  Memtable filled() {
    Memtable memtable;
    ++memtables_;
    uint64_t puts = 0;
    const double us_per_put = seconds_of(put_bytes_) * 1e6;
    while (memtable.cells.size() < options_.cells_per_memtable &&
           bytes_put_ + memtable.bytes_put < options_.bytes_put) {
      const double now = now_us_ + static_cast<double>(puts) * us_per_put;
      last_stamp_us_ = std::max(last_stamp_us_ + 1, static_cast<int64_t>(now));
      const SimulatedWrite write = writes_.next();
      put(write, memtable);
      if (counts()) {
        result_.deletes += write.marker ? 1 : 0;
        read_rows(write.reads);
      }
      memtable.bytes_put += write.marker && options_.marker_bytes != 0 ? options_.marker_bytes : put_bytes_;
      ++puts;
    }
    return memtable;
  }

  void put(const SimulatedWrite& write, Memtable& memtable) {
    if (write.number >= rows_.size()) rows_.resize(write.number + 1);
    RowState& row = rows_[write.number];
    const bool in_place = options_.versions == 1 && row.memtable == memtables_ && row.marker == write.marker;
    if (!in_place) row.cell = static_cast<uint32_t>(memtable.cells.size());
    row.row = write.row;
    row.stamp_us = last_stamp_us_;
    row.memtable = memtables_;
    row.marker = write.marker;
    const SimulatedCell cell{write.row, write.marker ? 1u : 0u, last_stamp_us_};
    if (in_place)
      memtable.cells[row.cell] = cell;
    else
      memtable.cells.push_back(cell);
  }

  // The gets that come with a write. A memtable answers some of them.
  void read_rows(uint32_t recorded) {
    for (reads_owed_ += options_.reads + recorded; reads_owed_ >= 1; reads_owed_ -= 1) {
      const SimulatedWrite read = writes_.next_read();
      if (read.number < rows_.size() && rows_[read.number].memtable != memtables_) store_.read(read.row);
    }
  }

  void flushed(Memtable memtable) {
    const uint64_t bytes = store_.flush(std::move(memtable.cells), now());
    if (counts()) {
      result_.bytes_flushed += bytes;
      ++result_.flushes;
    }
    log_and_files_ += bytes + memtable.bytes_put;
    note_debt();
  }

  int64_t now() const { return std::max(last_stamp_us_, static_cast<int64_t>(now_us_)); }

  // Begins what the engine would begin now, or nothing.
  Result<std::optional<SimulatedStore::Compaction>> begin_compaction() {
    const StoreShape shape = store_.shape(now());
    std::optional<CompactionPlan> plan = expired_plan(shape);
    if (!plan) plan = policy_.pick(shape, nullptr);
    if (!plan) return {std::optional<SimulatedStore::Compaction>()};
    auto begun = store_.begin(*plan, now());
    if (begun.status().is(Code::kBusy)) return {std::optional<SimulatedStore::Compaction>()};
    if (!begun.ok()) return begun.status();
    return {std::optional(std::move(*begun))};
  }

  void end_compaction(const SimulatedStore::Compaction& compaction) {
    const bool counted = counts();
    if (counted) note_space(store_.bytes() + compaction.bytes_out);
    store_.end(compaction);
    log_and_files_ += compaction.bytes_out;
    note_debt();
    if (!counted) return;
    result_.bytes_compacted += compaction.bytes_out;
    result_.bytes_read += compaction.bytes_in;
    result_.compaction_most = std::max(result_.compaction_most, compaction.bytes_in + compaction.bytes_out);
    if (compaction.plan.drop)
      ++result_.drops;
    else if (compaction.plan.move)
      ++result_.moves;
    else
      ++result_.compactions;
  }

  void note_debt() {
    const uint64_t debt = policy_.debt_bytes(store_.shape(now()));
    pace_.debt_grew(static_cast<int64_t>(debt) - static_cast<int64_t>(debt_));
    debt_ = debt;
    if (counts()) result_.debt_most = std::max(result_.debt_most, debt);
  }

  // ---- With a device ----

  Status run_on_device() {
    next_ = filled();
    begin_memtable();
    while (bytes_put_ < options_.bytes_put || !frozen_.empty()) {
      const double rate = writer_rate();
      CELLAR_TRY(advance(rate));
    }
    return {};
  }

  void begin_memtable() {
    slices_left_ = kSlices;
    slice_left_ = static_cast<double>(next_.bytes_put) / kSlices;
  }

  bool waits() const {
    if (frozen_.size() >= options_.memtables_frozen_max) return true;
    return store_.run_count() >= options_.files_stop && !compactions_.empty();
  }

  // Returns bytes of cells per second; 0 if writers have to wait.
  double writer_rate() const {
    if (next_.bytes_put == 0 || waits()) return 0;
    const double full = options_.device.put_rate * cpu_share();
    uint64_t newer = 0;
    uint64_t inputs = 0;
    store_.backlog(newer, inputs);
    const double debt =
        std::max({compaction_debt(store_.run_count(), options_.files_slow, options_.files_stop),
                  backlog_debt(newer, inputs, options_.memtable_bytes),
                  policy_debt(debt_, store_.bytes(), options_.memtable_bytes)});
    double rate = full;
    // As in the engine: nobody is slowed down for a compaction that will not begin.
    if (debt > 0 && !compactions_.empty()) rate = std::min(rate, pace_.rate(debt));
    if (frozen_.size() + 1 >= options_.memtables_frozen_max) {
      const double done = 1 - static_cast<double>(slices_left_) / kSlices;
      rate = std::min(rate, pace_.flush_rate(done));
    }
    return rate;
  }

  size_t active() const { return compactions_.size() + (frozen_.empty() ? 0 : 1); }
  // Returns the part of a core that each of the writer and the jobs has.
  double cpu_share() const {
    return std::min(1.0, static_cast<double>(options_.device.cores) / static_cast<double>(active() + 1));
  }
  // Returns bytes of input per second.
  double speed_of(const Work& work) const {
    const auto jobs = static_cast<double>(active());
    double speed = options_.device.merge_rate * cpu_share();
    if (work.reads > 0) speed = std::min(speed, options_.device.read_rate / jobs / work.reads);
    if (work.writes > 0) speed = std::min(speed, options_.device.write_rate / jobs / work.writes);
    return speed;
  }

  // Goes on to the next event.
  Status advance(double rate) {
    double step_s = rate > 0 ? slice_left_ / rate : kNoEvent;
    if (!frozen_.empty()) step_s = std::min(step_s, flush_.left / speed_of(flush_));
    for (const Running& each : compactions_) step_s = std::min(step_s, each.work.left / speed_of(each.work));
    if (step_s == kNoEvent)
      return Status::invalid_argument(
          "writers wait and nothing runs: the policy compacts nothing, or the history is empty");
    note_time(step_s, rate);
    const double flush_done = frozen_.empty() ? 0 : step_s * speed_of(flush_);
    std::vector<double> done;
    done.reserve(compactions_.size());
    for (const Running& each : compactions_) done.push_back(step_s * speed_of(each.work));
    flush_.left -= flush_done;
    for (size_t i = 0; i < compactions_.size(); ++i) compactions_[i].work.left -= done[i];
    slice_left_ -= rate * step_s;
    CELLAR_TRY(end_flush());
    CELLAR_TRY(end_compactions());
    return end_slice(rate);
  }

  void note_time(double seconds, double rate) {
    now_us_ += seconds * 1e6;
    if (!compactions_.empty()) pace_.compacted(static_cast<int64_t>(seconds * 1e6));
    const bool wants = next_.bytes_put > 0;
    if (!counts()) return;
    if (wants && rate == 0) {
      stall_ += seconds;
      result_.stalled_seconds += seconds;
      result_.longest_stall = std::max(result_.longest_stall, stall_);
      return;
    }
    stall_ = 0;
    if (wants && rate < options_.device.put_rate * cpu_share() * 0.999) result_.slowed_seconds += seconds;
  }

  static bool is_done(double left) { return left < 0.5; }  // less than a byte

  Status end_flush() {
    if (frozen_.empty() || !is_done(flush_.left)) return {};
    Memtable memtable = std::move(frozen_.front());
    frozen_.pop_front();
    pace_.flushed(memtable.cells.size() * put_bytes_, static_cast<int64_t>(now_us_ - flush_.begun_us));
    flushed(std::move(memtable));
    begin_flush();
    return begin_compactions();
  }

  void begin_flush() {
    if (frozen_.empty()) return;
    const auto bytes = static_cast<double>(frozen_.front().cells.size() * put_bytes_);
    flush_ = {.left = bytes, .reads = 0, .writes = 1, .begun_us = now_us_};
  }

  Status end_compactions() {
    bool ended = false;
    for (size_t i = 0; i < compactions_.size();) {
      if (!is_done(compactions_[i].work.left)) {
        ++i;
        continue;
      }
      const SimulatedStore::Compaction compaction = std::move(compactions_[i].compaction);
      compactions_.erase(compactions_.begin() + static_cast<std::ptrdiff_t>(i));
      end_compaction(compaction);
      ended = true;
    }
    return ended ? begin_compactions() : Status();
  }

  Status begin_compactions() {
    for (uint64_t at_once = 0; compactions_.size() < options_.device.threads; ++at_once) {
      if (at_once == kCompactionsInARowMax)
        return Status::invalid_argument("the plans of the policy move files and come to no end");
      CELLAR_TRY_ASSIGN(std::optional<SimulatedStore::Compaction> begun, begin_compaction());
      if (!begun) break;
      if (begun->bytes_in == 0) {
        end_compaction(*begun);
        continue;
      }
      const auto in = static_cast<double>(begun->bytes_in);
      const Work work{
          .left = in, .reads = 1, .writes = static_cast<double>(begun->bytes_out) / in, .begun_us = now_us_};
      compactions_.push_back({std::move(*begun), work});
    }
    return {};
  }

  Status end_slice(double rate) {
    if (rate == 0 || !is_done(slice_left_)) return {};
    if (--slices_left_ > 0) {
      slice_left_ = static_cast<double>(next_.bytes_put) / kSlices;
      return {};
    }
    note_put(next_.bytes_put);
    const bool first = frozen_.empty();
    frozen_.push_back(std::move(next_));
    if (first) begin_flush();
    next_ = filled();
    begin_memtable();
    return note_samples();
  }

  // ---- What is counted ----

  uint64_t live_bytes() const {
    const int64_t oldest_us =
        options_.ttl_ms >= INT64_MAX / 1000 ? INT64_MIN : now() - options_.ttl_ms * 1000;
    const auto live = std::ranges::count_if(rows_, [&](const RowState& row) {
      return row.stamp_us > 0 && !row.marker && row.stamp_us >= oldest_us;
    });
    const uint64_t cell = options_.cell_bytes != 0 ? options_.cell_bytes : put_bytes_;
    return static_cast<uint64_t>(live) * cell;
  }

  void note_put(uint64_t bytes) {
    bytes_put_ += bytes;
    if (counts()) return;
    skipped_put_ = bytes_put_;
    skipped_us_ = now_us_;
  }
  bool counts() const { return bytes_put_ > options_.bytes_skipped; }

  void note_space(uint64_t bytes) { space_peak_ = std::max(space_peak_, bytes); }

  Status note_samples() {
    if (bytes_put_ < next_sample_) return {};
    while (next_sample_ <= bytes_put_) next_sample_ += sample_step_;
    if (progress_ && !progress_(bytes_put_)) return Status::aborted("the simulation was interrupted");
    const uint64_t live = std::max<uint64_t>(1, live_bytes());
    const double seconds = (now_us_ - begin_us()) / 1e6;
    SimulationSample sample;
    sample.seconds = seconds;
    sample.bytes_put = bytes_put_;
    const auto put = static_cast<double>(bytes_put_ - sampled_put_);
    sample.write_amplification = static_cast<double>(log_and_files_ - sampled_written_) / put;
    sample.space_amplification = static_cast<double>(store_.bytes()) / static_cast<double>(live);
    sample.runs = runs_of_a_get();
    sample.run_count = store_.run_count();
    sample.files = store_.files();
    sample.debt_bytes = debt_;
    if (!options_.device.instant && seconds > sampled_seconds_)
      sample.put_rate = put / (seconds - sampled_seconds_);
    sampled_put_ = bytes_put_;
    sampled_written_ = log_and_files_;
    sampled_seconds_ = seconds;
    result_.series.push_back(sample);
    if (!counts()) return {};
    note_space(store_.bytes());
    live_ = std::max(live_, live);
    result_.runs_most = std::max(result_.runs_most, sample.run_count);
    ++counted_;
    result_.space_amplification += sample.space_amplification;
    result_.runs_mean += sample.runs;
    return {};
  }

  double runs_of_a_get() {
    uint64_t runs = 0;
    uint64_t rows = 0;
    for (uint64_t i = 0; i < kRowsOfASample; ++i) {
      const RowState& row = rows_[random_.below(rows_.size())];
      if (row.stamp_us == 0) continue;  // only read, in a recorded history
      runs += store_.runs_of_row(row.row);
      ++rows;
    }
    return rows == 0 ? 0 : static_cast<double>(runs) / static_cast<double>(rows);
  }

  void summarize() {
    result_.bytes_put = bytes_put_ - skipped_put_;
    result_.seconds = (now_us_ - skipped_us_) / 1e6;
    const auto put = static_cast<double>(std::max<uint64_t>(1, result_.bytes_put));
    result_.write_amplification =
        (put + static_cast<double>(result_.bytes_flushed + result_.bytes_compacted)) / put;
    if (counted_ > 0) {
      result_.space_amplification /= static_cast<double>(counted_);
      result_.runs_mean /= static_cast<double>(counted_);
    }
    result_.space_peak = live_ == 0 ? 0 : static_cast<double>(space_peak_) / static_cast<double>(live_);
    result_.runs_end = store_.run_count();
    result_.files_end = store_.files();
    const StoreShape shape = store_.shape(now());
    int64_t oldest_ms = shape.now_ms;
    for (const StoreFileInfo& file : shape.files) {
      result_.markers_end += file.deletes;
      oldest_ms = std::min(oldest_ms, file.earliest_delete);
    }
    result_.marker_age_seconds = static_cast<double>(shape.now_ms - oldest_ms) / 1000;
  }

  struct Running {
    SimulatedStore::Compaction compaction;
    Work work;
  };

  const CompactionPolicy& policy_;
  SimulatedWrites& writes_;
  const SimulationOptions& options_;
  const std::function<bool(uint64_t)>& progress_;
  const uint64_t put_bytes_;  // of a simulated cell
  SimulatedStore store_;
  std::vector<RowState> rows_;  // by SimulatedWrite::number
  WritePace pace_;
  Random random_{1};  // for the rows of samples
  double now_us_ = 0;
  int64_t last_stamp_us_ = 0;
  uint32_t memtables_ = 0;
  uint64_t bytes_put_ = 0;
  uint64_t log_and_files_ = 0;  // bytes written
  uint64_t debt_ = 0;
  double reads_owed_ = 0;

  Memtable next_;          // the active memtable, whose cells are all known already
  double slice_left_ = 0;  // bytes of it that are still to be put before the rate is looked at again
  int slices_left_ = 0;
  std::deque<Memtable> frozen_;  // the first one is being flushed
  Work flush_;
  std::vector<Running> compactions_;
  double stall_ = 0;  // seconds that writers have waited since they last wrote

  const uint64_t sample_step_;
  uint64_t next_sample_;
  uint64_t sampled_put_ = 0;
  uint64_t sampled_written_ = 0;
  double sampled_seconds_ = 0;
  uint64_t skipped_put_ = 0;
  double skipped_us_ = 0;
  uint64_t counted_ = 0;
  uint64_t space_peak_ = 0;
  uint64_t live_ = 0;
  SimulationResult result_;
};

}  // namespace

Result<SimulationResult> simulate(const CompactionPolicy& policy, SimulatedWrites& writes,
                                  const SimulationOptions& options,
                                  const std::function<bool(uint64_t)>& progress) {
  if (options.memtable_bytes == 0 || options.cells_per_memtable == 0 || options.bytes_put == 0)
    return Status::invalid_argument("a simulation needs memtables, cells and bytes to put");
  return Simulation(policy, writes, options, progress).run();
}

}  // namespace cellar
