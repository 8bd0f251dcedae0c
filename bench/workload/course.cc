// Course: the parts that all shapes of workloads share.
#include "bench/workload/course.h"

#include <vector>

#include "bench/workload/data.h"

namespace cellar::bench {

uint64_t bytes_of_cells(const Tally& tally) {
  return tally.bytes + tally.cells * (kFamily.size() + kTimestampBytes);
}

Status Client::run(uint64_t ops, double seconds) {
  using Clock = std::chrono::steady_clock;
  const auto end =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  for (uint64_t i = 0; seconds > 0 ? Clock::now() < end : i < ops; ++i) CELLAR_TRY(step());
  return {};
}

Status Course::fits(const Workload& workload) {
  if (workload.shape == Shape::kRows) return {};
  for (const Operation each : {Operation::kUpdate, Operation::kRmw, Operation::kDelete}) {
    if (!workload.mix.has(each)) continue;
    return Status::invalid_argument(workload.name + " has no operation " + std::string(operation_name(each)))
        .hinting("its mix consists of insert, read and scan");
  }
  return {};
}

Result<std::unique_ptr<Course>> Course::make(const Workload& workload, uint64_t rows) {
  CELLAR_TRY(fits(workload));
  if (workload.shape == Shape::kRows) return make_row_course(workload, rows);
  return make_series_course(workload, rows);
}

Work Course::load(Session& session) {
  Work work;
  std::vector<RowIn> batch;
  int64_t timestamp = kClock;
  const auto write = [&] {
    const auto begun = std::chrono::steady_clock::now();
    session.put_rows(batch, Keep::kNothing, timestamp);
    const auto taken = std::chrono::steady_clock::now() - begun;
    work.times.add(
        static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(taken).count()));
    work.seconds += std::chrono::duration<double>(taken).count();
    work.ops += batch.size();
    batch.clear();
  };
  for (uint64_t i = 0; i < loaded(); ++i) {
    int64_t stamp = kClock;
    // The rows of a batch have one timestamp.
    const RowIn row = load_row(i, batch.size(), stamp);
    if (!batch.empty() && stamp != timestamp) {
      write();
      // The row lies in a slot of the old batch; this makes it anew in the first one.
      batch.push_back(load_row(i, 0, stamp));
    } else {
      batch.push_back(row);
    }
    timestamp = stamp;
    for (const CellIn& cell : batch.back().cells)
      work.bytes_put += batch.back().row.size() + cell.family.size() + cell.qualifier.size() +
                        kTimestampBytes + cell.value.size();
    if (batch.size() == kBatchRows || i + 1 == loaded()) write();
  }
  load_done();
  return work;
}

Status Course::check(Session& session, Tally& live) const {
  live = {};
  session.scan({}, live);
  const Tally wanted = expected();
  if (live.rows == wanted.rows && live.cells == wanted.cells && live.sum == wanted.sum) return {};
  const auto describe = [](const Tally& tally) {
    return std::to_string(tally.rows) + " rows, " + std::to_string(tally.cells) + " cells, sum " +
           std::to_string(tally.sum);
  };
  return Status::corruption(workload_.name + ": at the end the store has " + describe(live) +
                            "; it must have " + describe(wanted));
}

}  // namespace cellar::bench
