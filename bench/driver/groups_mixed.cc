// Mixed work: reads concurrent with writes, counters, time ranges, deletes, expiry.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "base/random.h"
#include "bench/driver/groups.h"

namespace cellar::bench {
namespace {

void read_while_writing(Run& run, Sample& sample) {
  std::atomic<bool> done{false};
  std::atomic<uint64_t> written{0};
  std::thread writer([&] {
    const std::unique_ptr<Session> session = run.peer().session();
    Random random(37);
    OneCell cell;
    for (; !done; ++written) session->put(cell.row(random.below(run.n()), 0), Keep::kProcess);
  });
  while (written < 100) std::this_thread::yield();
  sample.ops = run.n() / 8;
  run.work(sample, 1, [&](Worker& worker) {
    Random random(41);
    RowKey key;
    timed(0, sample.ops, worker.times, [&](uint64_t) {
      worker.session.get(key.present(random.below(run.n())).view(), kFamily, kQualifier, worker.tally);
    });
  });
  done = true;
  writer.join();
}

}  // namespace

// Two threads meet, in a store in which every row has the value that the writer writes.
void run_together(Run& run) {
  run.step("read_while_writing", Step::kAlone, "ops/s", [&](Sample& sample) {
    run.fresh({std::string(kFamily)});
    run.load(run.n());
    run.peer().compact();
    run.warm();
    read_while_writing(run, sample);
  });
}

namespace {

constexpr int64_t kLongAgo = 1600000000000;  // milliseconds

// Loads rows whose timestamps are old, then gives one row in a hundred a newer version in a file of its own.
void load_old_and_new(Run& run) {
  run.fresh({std::string(kFamily)});
  run.load(run.n(), kLongAgo);
  run.peer().compact();
  const std::unique_ptr<Session> session = run.peer().session();
  OneCell cell;
  for (uint64_t i = 0; i < run.n(); i += 100)
    session->put(cell.row(i, 1), Keep::kNothing, kLongAgo + 86400000);
  run.peer().flush();
  run.peer().settle();
}

}  // namespace

void run_time_range(Run& run) {
  run.step("scan_timerange", Step::kAlone, "cells/s", [&](Sample& sample) {
    load_old_and_new(run);
    run.work(sample, 1, [&](Worker& worker) {
      timed(0, 20, worker.times, [&](uint64_t) {
        worker.session.scan({.from = kLongAgo + 86400000, .until = kLongAgo + 2 * 86400000}, worker.tally);
      });
    });
    sample.ops = sample.tally.cells;
  });
}

namespace {

void count(Run& run, Sample& sample, uint64_t threads, uint64_t rows) {
  run.fresh({std::string(kFamily)});
  const uint64_t each = run.n() / 4 / threads;
  sample.ops = each * threads;
  run.work(sample, threads, [&](Worker& worker) {
    Random random(43 + worker.index);
    RowKey key;
    timed(0, each, worker.times, [&](uint64_t) {
      const int64_t sum = worker.session.increment(key.present(random.below(rows)).view(), kFamily,
                                                   kQualifier, 1, Keep::kProcess);
      worker.tally.add_weight(static_cast<uint64_t>(sum), sizeof sum);
    });
  });
  run.peer().session()->scan({}, sample.tally);
}

}  // namespace

void run_counters(Run& run) {
  const uint64_t many = std::min<uint64_t>(run.n(), 100000);
  const auto measure = [&](const char* name, uint64_t threads, uint64_t rows) {
    run.step(name, Step::kAlone, "ops/s", [&](Sample& sample) { count(run, sample, threads, rows); });
  };
  measure("incr_hot_rmw", 1, 1);
  measure("incr_hot_rmw_t2", 2, 1);
  measure("incr_100k_rmw", 1, many);
  measure("incr_100k_rmw_t2", 2, many);
}

void run_tombstones(Run& run) {
  const uint64_t rows = run.n() / 2;
  run.fresh({std::string(kFamily)});
  run.load(rows);
  run.peer().compact();
  run.step("delete_90pct", Step::kNeeded, "ops/s", [&](Sample& sample) {
    sample.ops = rows - (rows + 9) / 10;
    run.work(sample, 1, [&](Worker& worker) {
      RowKey key;
      const CellIn cell{kFamily, kQualifier, {}};
      timed(0, sample.ops, worker.times, [&](uint64_t i) {
        const std::string_view row = key.present(i / 9 * 10 + i % 9 + 1).view();
        worker.session.erase_row({row, {&cell, 1}}, Keep::kProcess);
      });
    });
  });
  if (!run.more()) return;
  run.peer().flush();
  run.peer().settle();
  run.warm();
  run.step("scan_tombstones", Step::kAlone, "rows passed/s", [&](Sample& sample) {
    sample.ops = 3 * rows;
    run.work(sample, 1, [&](Worker& worker) {
      timed(0, 3, worker.times, [&](uint64_t) { worker.session.scan({}, worker.tally); });
    });
  });
  run.step("scan10_tombstones", Step::kAlone, "ops/s", [&](Sample& sample) {
    sample.ops = run.n() / 200;
    run.work(sample, 1, [&](Worker& worker) {
      Random random(47);
      RowKey key;
      timed(0, sample.ops, worker.times, [&](uint64_t) {
        worker.session.scan({.start = key.present(random.below(rows)).view(), .limit = 10}, worker.tally);
      });
    });
  });
}

void run_time_to_live(Run& run) {
  if (!run.peer().has(Feature::kTimeToLive)) return;
  run.step("ttl_compact", Step::kAlone, "rows/s", [&](Sample& sample) {
    const uint64_t rows = run.n() / 2;
    run.fresh({std::string(kFamily)});
    const std::unique_ptr<Session> session = run.peer().session();
    OneCell cell;
    for (uint64_t i = 0; i < rows; ++i)
      session->put(cell.row(i, 0), Keep::kNothing, i % 2 == 0 ? kClock : kLongAgo);
    run.peer().flush();
    run.peer().settle();
    run.peer().set_time_to_live(std::string(kFamily), 86400);
    sample.ops = rows;
    sample.start();
    timed(0, 1, sample.times, [&](uint64_t) { run.peer().compact(); });
    sample.stop();
    run.peer().session()->scan({}, sample.tally);
  });
}

}  // namespace cellar::bench
