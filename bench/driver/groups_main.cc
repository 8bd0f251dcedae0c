// The main group: one store is loaded at random, overwritten, and read before and after its compaction. It is
// read from the block cache, from the page cache and from the disk. The group of growth does a fixed number
// of operations on a store of any number of rows.
#include <algorithm>
#include <vector>

#include "bench/driver/groups.h"
#include "bench/workload/key_chooser.h"

namespace cellar::bench {
namespace {

using OneRead = std::function<void(Worker& worker, RowKey& key, uint64_t index)>;

// `ops` reads of random ones of the first `rows` rows, or of all, by `threads` together.
void read_at_random(Run& run, Sample& sample, uint64_t threads, uint64_t ops, const OneRead& read,
                    uint64_t rows = UINT64_MAX) {
  const uint64_t each = std::max<uint64_t>(ops / threads, 1);
  sample.ops = each * threads;
  run.work(sample, threads, [&](Worker& worker) {
    Random random(71 + worker.index);
    RowKey key;
    timed(0, each, worker.times, [&](uint64_t) { read(worker, key, random.below(std::min(rows, run.n()))); });
  });
}

void get_hit(Worker& worker, RowKey& key, uint64_t index) {
  if (!worker.session.get(key.present(index).view(), kFamily, kQualifier, worker.tally))
    give_up("a row that was put is missing: " + std::string(key.view()));
}

// Full scans; ops are cells.
void scan_all(Run& run, Sample& sample, const ScanIn& scan, uint64_t passes) {
  run.work(sample, 1, [&](Worker& worker) {
    timed(0, passes, worker.times, [&](uint64_t) { worker.session.scan(scan, worker.tally); });
  });
  sample.ops = sample.tally.cells;
}

void put_at_random(Run& run, Sample& sample, uint64_t ops, uint64_t version) {
  const Permutation shuffled(run.n(), 11 + version);
  sample.ops = ops;
  run.work(sample, 1, [&](Worker& worker) {
    OneCell cell;
    timed(0, ops, worker.times,
          [&](uint64_t i) { worker.session.put(cell.row(shuffled(i), version), Keep::kProcess); });
  });
}

void measure_loading(Run& run) {
  run.step("fill_random", Step::kNeeded, "ops/s",
           [&](Sample& sample) { put_at_random(run, sample, run.n(), 0); });
  run.step("overwrite", Step::kNeeded, "ops/s",
           [&](Sample& sample) { put_at_random(run, sample, run.n() / 2, 1); });
  if (run.wants("get_hit_lsm") || run.wants("full_scan_lsm")) run.warm();
  run.step("get_hit_lsm", Step::kAlone, "ops/s",
           [&](Sample& sample) { read_at_random(run, sample, 1, run.n() / 4, get_hit); });
  run.step("full_scan_lsm", Step::kAlone, "cells/s", [&](Sample& sample) { scan_all(run, sample, {}, 3); });
  if (!run.peer().has(Feature::kCompactions)) return;
  run.step("compact_major", Step::kNeeded, "rows/s", [&](Sample& sample) {
    run.peer().flush();
    run.peer().settle();
    sample.ops = run.n();
    sample.start();
    timed(0, 1, sample.times, [&](uint64_t) { run.peer().compact(); });
    sample.stop();
    run.peer().session()->scan({}, sample.tally);
  });
}

void measure_cached_gets(Run& run) {
  const uint64_t ops = run.n() / 2;
  for (const uint64_t threads : {1, 2}) {
    run.step(threads == 1 ? "get_hit_cached" : "get_hit_cached_t2", Step::kAlone, "ops/s",
             [&](Sample& sample) { read_at_random(run, sample, threads, ops * threads, get_hit); });
  }
  run.step("get_row_cached", Step::kAlone, "ops/s", [&](Sample& sample) {
    read_at_random(run, sample, 1, ops, [](Worker& worker, RowKey& key, uint64_t index) {
      worker.session.get_row(key.present(index).view(), kFamily, worker.tally);
    });
  });
  run.step("get_missing", Step::kAlone, "ops/s", [&](Sample& sample) {
    read_at_random(run, sample, 1, ops, [](Worker& worker, RowKey& key, uint64_t index) {
      worker.session.get(key.missing(index).view(), kFamily, kQualifier, worker.tally);
    });
  });
}

void scan_from(Worker& worker, std::string_view start, uint64_t limit) {
  worker.session.scan({.start = start, .limit = limit}, worker.tally);
}

void measure_cached_scans(Run& run) {
  run.step("full_scan_cached", Step::kAlone, "cells/s",
           [&](Sample& sample) { scan_all(run, sample, {}, 5); });
  run.step("scan10", Step::kAlone, "ops/s", [&](Sample& sample) {
    read_at_random(run, sample, 1, run.n() / 10, [](Worker& worker, RowKey& key, uint64_t index) {
      scan_from(worker, key.present(index).view(), 10);
    });
  });
  run.step("scan100", Step::kAlone, "ops/s", [&](Sample& sample) {
    read_at_random(run, sample, 1, run.n() / 40, [](Worker& worker, RowKey& key, uint64_t index) {
      scan_from(worker, key.present(index).view(), 100);
    });
  });
  run.step("scan_prefix100", Step::kAlone, "ops/s", [&](Sample& sample) {
    // All but the last three digits: 500 rows, of which the first 100 are read.
    read_at_random(run, sample, 1, run.n() / 40, [](Worker& worker, RowKey& key, uint64_t index) {
      worker.session.scan({.prefix = key.present(index).view().substr(0, 13), .limit = 100}, worker.tally);
    });
  });
  run.step("scan_filter1pct", Step::kAlone, "rows passed/s", [&](Sample& sample) {
    scan_all(run, sample, {.filter = one_percent}, 5);
    sample.ops = 5 * run.n();
  });
  run.step("reverse_scan", Step::kAlone, "cells/s",
           [&](Sample& sample) { scan_all(run, sample, {.reversed = true}, 3); });
}

void measure_page_cache(Run& run) {
  if (run.wants("get_hit_pagecache") || run.wants("full_scan_pagecache")) {
    run.reopen(kSmallCache);
    load_pages(run.path());
  }
  run.step("get_hit_pagecache", Step::kAlone, "ops/s",
           [&](Sample& sample) { read_at_random(run, sample, 1, run.n() / 8, get_hit); });
  run.step("full_scan_pagecache", Step::kAlone, "cells/s",
           [&](Sample& sample) { scan_all(run, sample, {}, 3); });
  run.step("get_zipf_smallcache", Step::kAlone, "ops/s", [&](Sample& sample) {
    run.reopen(kMediumCache);
    const std::vector<uint32_t> rows = scattered_zipf(run.n(), run.n() / 2, 13);
    sample.ops = rows.size();
    run.work(sample, 1, [&](Worker& worker) {
      RowKey key;
      timed(0, rows.size(), worker.times, [&](uint64_t i) { get_hit(worker, key, rows[i]); });
    });
  });
}

// Gets random rows in small portions. Before each portion, the pages of the files are dropped. A portion is
// so small that two of its gets rarely read the same block.
void get_cold(Run& run, Sample& sample) {
  constexpr uint64_t kPortion = 200;
  const uint64_t portions = std::max<uint64_t>(run.n() / 400 / kPortion, 2);
  const std::unique_ptr<Session> session = run.peer().session();
  Worker worker{0, *session, sample.times, sample.tally};
  Random random(17);
  RowKey key;
  for (uint64_t portion = 0; portion < portions; ++portion) {
    drop_pages(run.path());
    sample.start();
    timed(0, kPortion, sample.times, [&](uint64_t) { get_hit(worker, key, random.below(run.n())); });
    sample.stop();
  }
  sample.ops = portions * kPortion;
}

void measure_cold(Run& run) {
  if (run.peer().has(Feature::kColdGets)) {
    run.step("get_cold", Step::kAlone, "ops/s", [&](Sample& sample) {
      run.reopen(kSmallCache);
      get_cold(run, sample);
    });
  }
  run.step("full_scan_cold", Step::kAlone, "cells/s", [&](Sample& sample) {
    run.peer().close();
    drop_pages(run.path());
    run.options().cache_bytes = kSmallCache;
    run.peer().open(run.options());
    scan_all(run, sample, {}, 1);
  });
}

}  // namespace

void run_main(Run& run) {
  run.fresh({std::string(kFamily)});
  measure_loading(run);
  if (!run.more()) return;
  run.reopen(kLargeCache);
  run.warm();
  measure_cached_gets(run);
  measure_cached_scans(run);
  measure_page_cache(run);
  measure_cold(run);
}

namespace {

constexpr uint64_t kGrowthOps = 200'000;   // of each kind, whatever the number of rows
constexpr uint64_t kGrowthRows = 100'000;  // which the cache holds, next to each other
constexpr uint64_t kGrowthOpens = 5;

// Closes and opens the store; only opening is measured.
void open_again(Run& run, Sample& sample) {
  run.options().create = false;
  sample.ops = kGrowthOpens;
  for (uint64_t i = 0; i < kGrowthOpens; ++i) {
    run.peer().close();
    sample.start();
    timed(0, 1, sample.times, [&](uint64_t) { run.peer().open(run.options()); });
    sample.stop();
  }
}

// The same reads twice, and the second time is measured: what the cache can hold is in it then.
void read_warm(Run& run, Sample& sample, uint64_t rows, const OneRead& read) {
  Sample unmeasured;
  read_at_random(run, unmeasured, 1, kGrowthOps, read, rows);
  read_at_random(run, sample, 1, kGrowthOps, read, rows);
}

}  // namespace

void run_growth(Run& run) {
  run.fresh({std::string(kFamily)});
  run.step("growth_load", Step::kNeeded, "ops/s",
           [&](Sample& sample) { put_at_random(run, sample, run.n(), 0); });
  if (!run.more()) return;
  run.peer().flush();
  run.peer().settle();
  run.reopen(kLargeCache);
  run.step("growth_open", Step::kAlone, "opens/s", [&](Sample& sample) { open_again(run, sample); });
  run.step("growth_get", Step::kAlone, "ops/s",
           [&](Sample& sample) { read_warm(run, sample, run.n(), get_hit); });
  run.step("growth_get_hot", Step::kAlone, "ops/s",
           [&](Sample& sample) { read_warm(run, sample, kGrowthRows, get_hit); });
  run.step("growth_scan10_hot", Step::kAlone, "ops/s", [&](Sample& sample) {
    read_warm(run, sample, kGrowthRows, [](Worker& worker, RowKey& key, uint64_t index) {
      scan_from(worker, key.present(index).view(), 10);
    });
  });
  run.step("growth_put", Step::kAlone, "ops/s",
           [&](Sample& sample) { put_at_random(run, sample, std::min(run.n(), kGrowthOps), 1); });
}

}  // namespace cellar::bench
