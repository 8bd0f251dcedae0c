// Groups that load: in order, at random, in batches, with one sync per put; and the replay of a log.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "bench/driver/groups.h"

namespace cellar::bench {
namespace {

void fill_in_order(Run& run, Sample& sample, Keep keep) {
  run.fresh({std::string(kFamily)});
  sample.ops = run.n();
  run.work(sample, 1, [&](Worker& worker) {
    OneCell cell;
    timed(0, run.n(), worker.times, [&](uint64_t i) { worker.session.put(cell.row(i, 0), keep); });
  });
}

void fill_in_batches(Run& run, Sample& sample) {
  constexpr uint64_t kBatch = 1000;
  run.fresh({std::string(kFamily)});
  const Permutation shuffled(run.n(), 2);
  sample.ops = run.n() / kBatch;
  run.work(sample, 1, [&](Worker& worker) {
    std::vector<OneCell> cells(kBatch);
    std::vector<RowIn> rows(kBatch);
    timed(0, sample.ops, worker.times, [&](uint64_t batch) {
      for (uint64_t i = 0; i < kBatch; ++i) rows[i] = cells[i].row(shuffled(batch * kBatch + i), 0);
      worker.session.put_rows(rows, Keep::kProcess);
    });
  });
}

void fill_by_two(Run& run, Sample& sample) {
  run.fresh({std::string(kFamily)});
  const Permutation shuffled(run.n(), 3);
  sample.ops = run.n();
  run.work(sample, 2, [&](Worker& worker) {
    OneCell cell;
    const uint64_t half = run.n() / 2;
    const uint64_t begin = worker.index * half;
    timed(begin, worker.index == 0 ? half : run.n(), worker.times,
          [&](uint64_t i) { worker.session.put(cell.row(shuffled(i), 0), Keep::kProcess); });
  });
}

// Reads the rows of a load; every engine must return the same ones.
void read_back(Run& run, Sample& sample) {
  sample.stop();
  run.peer().session()->scan({}, sample.tally);
}

}  // namespace

void run_fill(Run& run) {
  run.step("fill_seq", Step::kAlone, "ops/s", [&](Sample& sample) {
    fill_in_order(run, sample, Keep::kProcess);
    read_back(run, sample);
  });
  run.step("fill_seq_nowal", Step::kAlone, "ops/s", [&](Sample& sample) {
    fill_in_order(run, sample, Keep::kNothing);
    read_back(run, sample);
  });
  run.step("fill_batch1000", Step::kAlone, "batches/s", [&](Sample& sample) {
    fill_in_batches(run, sample);
    read_back(run, sample);
  });
  run.step("fill_random_t2", Step::kAlone, "ops/s", [&](Sample& sample) {
    fill_by_two(run, sample);
    read_back(run, sample);
  });
}

void run_point_sync(Run& run) {
  for (const uint64_t threads : {1, 4, 16}) {
    run.step("put_sync_t" + std::to_string(threads), Step::kAlone, "ops/s", [&](Sample& sample) {
      run.fresh({std::string(kFamily)});
      const uint64_t each = std::max<uint64_t>(run.n() / 200 / threads, 10);
      sample.ops = each * threads;
      const Permutation shuffled(sample.ops, 4);
      run.work(sample, threads, [&](Worker& worker) {
        OneCell cell;
        timed(worker.index * each, (worker.index + 1) * each, worker.times,
              [&](uint64_t i) { worker.session.put(cell.row(shuffled(i), 0), Keep::kPower); });
      });
      read_back(run, sample);
    });
  }
}

namespace {

// Fills the log from a process that ends without closing anything, as kill -9 would end it.
void leave_a_log(Run& run, const StoreOptions& options, uint64_t rows) {
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child < 0) give_up("fork failed");
  if (child == 0) {
    run.peer().open(options);
    const std::unique_ptr<Session> session = run.peer().session();
    const Permutation shuffled(rows, 5);
    OneCell cell;
    for (uint64_t i = 0; i < rows; ++i) session->put(cell.row(shuffled(i), 0), Keep::kProcess);
    std::_Exit(0);
  }
  int status = 0;
  if (waitpid(child, &status, 0) != child || status != 0) give_up("wal_replay: the writer failed");
}

}  // namespace

void run_replay(Run& run) {
  if (!run.peer().has(Feature::kLog)) return;
  run.step("wal_replay", Step::kAlone, "rows/s", [&](Sample& sample) {
    const uint64_t rows = run.n() / 5;
    run.remove();
    std::filesystem::create_directories(run.path());
    StoreOptions& options = run.options();
    options = {.path = run.path(), .families = {std::string(kFamily)}, .create = true};
    options.memtable_bytes = 256u << 20;  // nothing is flushed before the end
    leave_a_log(run, options, rows);
    options.create = false;
    sample.ops = rows;
    sample.start();
    timed(0, 1, sample.times, [&](uint64_t) { run.peer().open(options); });
    sample.stop();
    read_back(run, sample);
  });
}

}  // namespace cellar::bench
