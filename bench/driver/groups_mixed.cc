// Mixed work: YCSB, reads concurrent with writes, counters, time ranges, deletes, expiry.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "bench/driver/groups.h"

namespace cellar::bench {
namespace {

struct Mix {
  const char* name;
  uint64_t reads;  // of a hundred operations
  uint64_t updates;
  uint64_t read_updates;
  uint64_t inserts;
  uint64_t scans;
  bool latest = false;  // reads prefer the newest rows
};

constexpr Mix kC = {"ycsb_c", 100, 0, 0, 0, 0};
constexpr Mix kB = {"ycsb_b", 95, 5, 0, 0, 0};
constexpr Mix kA = {"ycsb_a", 50, 50, 0, 0, 0};
constexpr Mix kAByTwo = {"ycsb_a_t2", 50, 50, 0, 0, 0};
constexpr Mix kF = {"ycsb_f", 50, 0, 50, 0, 0};
constexpr Mix kD = {"ycsb_d", 95, 0, 0, 5, 0, true};
constexpr Mix kE = {"ycsb_e", 0, 0, 0, 5, 95};

// The rows of a mix, chosen before the clock runs.
class Ycsb {
 public:
  Ycsb(Run& run, const Mix& mix, uint64_t ops, uint64_t& rows)
      : mix_(mix), rows_(rows), choices_(scattered_zipf(run.n(), ops, 23)) {
    if (!mix.latest) return;
    const Zipf zipf(run.n());
    Random random(29);
    for (uint32_t& choice : choices_) choice = static_cast<uint32_t>(zipf(random));
  }

  void operation(Worker& worker, Random& random, OneCell& cell, uint64_t i, uint64_t version) {
    RowKey key;
    const uint64_t row = mix_.latest ? rows_ - 1 - choices_[i] : choices_[i];
    uint64_t dice = random.below(100);
    if (dice < mix_.reads) {
      worker.session.get(key.present(row).view(), kFamily, kQualifier, worker.tally);
    } else if ((dice -= mix_.reads) < mix_.updates) {
      worker.session.put(cell.row(row, version), Keep::kProcess);
    } else if ((dice -= mix_.updates) < mix_.read_updates) {
      worker.session.get(key.present(row).view(), kFamily, kQualifier, worker.tally);
      worker.session.put(cell.row(row, version), Keep::kProcess);
    } else if ((dice -= mix_.read_updates) < mix_.inserts) {
      worker.session.put(cell.row(rows_++, version), Keep::kProcess);
    } else {
      worker.session.scan({.start = key.present(row).view(), .limit = 1 + random.below(100)}, worker.tally);
    }
  }

 private:
  const Mix& mix_;
  uint64_t& rows_;
  std::vector<uint32_t> choices_;
};

// With two threads every write of a row writes the same value, so that what is read does not depend on who is
// first.
void measure_mix(Run& run, const Mix& mix, uint64_t threads, uint64_t& rows) {
  const uint64_t total = std::max<uint64_t>(run.n() / (mix.scans != 0 ? 40 : 4), 100);
  run.step(mix.name, Step::kNeeded, "ops/s", [&](Sample& sample) {
    Ycsb ycsb(run, mix, total, rows);
    const uint64_t each = total / threads;
    sample.ops = each * threads;
    run.work(sample, threads, [&](Worker& worker) {
      OneCell cell;
      Random random(31 + worker.index);
      timed(worker.index * each, (worker.index + 1) * each, worker.times,
            [&](uint64_t i) { ycsb.operation(worker, random, cell, i, threads == 1 ? i + 1 : 0); });
    });
  });
}

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

void run_ycsb(Run& run) {
  uint64_t rows = run.n();
  run.fresh({std::string(kFamily)});
  run.load(run.n());
  run.peer().compact();
  run.warm();
  measure_mix(run, kC, 1, rows);
  measure_mix(run, kB, 1, rows);
  measure_mix(run, kA, 1, rows);
  measure_mix(run, kF, 1, rows);
  measure_mix(run, kD, 1, rows);
  measure_mix(run, kE, 1, rows);
}

// Two threads meet, in a store in which every row has the value that they write.
void run_together(Run& run) {
  uint64_t rows = run.n();
  run.fresh({std::string(kFamily)});
  run.load(run.n());
  run.peer().compact();
  run.warm();
  measure_mix(run, kAByTwo, 2, rows);
  run.step("read_while_writing", Step::kAlone, "ops/s",
           [&](Sample& sample) { read_while_writing(run, sample); });
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
      worker.tally.add_weight(static_cast<uint64_t>(sum));
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
