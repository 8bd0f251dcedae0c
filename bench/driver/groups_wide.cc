// Rows of a hundred columns, and tables of three families.
#include <algorithm>
#include <array>
#include <vector>

#include "bench/driver/groups.h"

namespace cellar::bench {
namespace {

constexpr uint64_t kColumns = 100;

std::string column_name(uint64_t index) {
  return "q" + std::string(1, static_cast<char>('0' + index / 10)) +
         std::string(1, static_cast<char>('0' + index % 10));
}

// A row of a hundred cells f:q00 … f:q99.
class WideRow {
 public:
  WideRow() : values_(kColumns), cells_(kColumns) {
    for (uint64_t i = 0; i < kColumns; ++i) names_.push_back(column_name(i));
  }
  RowIn row(uint64_t index) {
    for (uint64_t i = 0; i < kColumns; ++i)
      cells_[i] = {kFamily, names_[i], values_[i].of(index * kColumns + i, 0)};
    return {key_.present(index).view(), cells_};
  }
  const std::string& name(uint64_t index) const { return names_[index]; }

 private:
  RowKey key_;
  std::vector<std::string> names_;
  std::vector<ValueMaker> values_;
  std::vector<CellIn> cells_;
};

uint64_t wide_rows(const Run& run) { return std::max<uint64_t>(run.n() / kColumns, 10); }

void measure_wide_reads(Run& run) {
  const uint64_t rows = wide_rows(run);
  run.step("wide_get_one", Step::kAlone, "ops/s", [&](Sample& sample) {
    const WideRow names;
    sample.ops = run.n() / 4;
    run.work(sample, 1, [&](Worker& worker) {
      Random random(53);
      RowKey key;
      timed(0, sample.ops, worker.times, [&](uint64_t) {
        const uint64_t row = random.below(rows);
        worker.session.get(key.present(row).view(), kFamily, names.name(random.below(kColumns)),
                           worker.tally);
      });
    });
  });
  run.step("wide_get_row", Step::kAlone, "rows of 100/s", [&](Sample& sample) {
    sample.ops = run.n() / 20;
    run.work(sample, 1, [&](Worker& worker) {
      Random random(59);
      RowKey key;
      timed(0, sample.ops, worker.times, [&](uint64_t) {
        worker.session.get_row(key.present(random.below(rows)).view(), kFamily, worker.tally);
      });
    });
  });
  run.step("wide_full_scan", Step::kAlone, "cells/s", [&](Sample& sample) {
    run.work(sample, 1, [&](Worker& worker) {
      timed(0, 5, worker.times, [&](uint64_t) { worker.session.scan({}, worker.tally); });
    });
    sample.ops = sample.tally.cells;
  });
}

}  // namespace

void run_wide(Run& run) {
  const uint64_t rows = wide_rows(run);
  run.fresh({std::string(kFamily)});
  run.step("wide_load", Step::kNeeded, "rows of 100/s", [&](Sample& sample) {
    const Permutation shuffled(rows, 7);
    sample.ops = rows;
    run.work(sample, 1, [&](Worker& worker) {
      WideRow row;
      timed(0, rows, worker.times,
            [&](uint64_t i) { worker.session.put(row.row(shuffled(i)), Keep::kProcess); });
    });
  });
  if (!run.more()) return;
  run.peer().flush();
  run.peer().compact();
  run.reopen(kLargeCache);
  run.warm();
  measure_wide_reads(run);
}

void run_three_families(Run& run) {
  const std::vector<std::string> families = {"a", "b", "c"};
  const uint64_t rows = run.n() / 4;
  run.fresh(families);
  run.step("fam3_load", Step::kNeeded, "ops/s", [&](Sample& sample) {
    const Permutation shuffled(rows, 8);
    sample.ops = rows;
    run.work(sample, 1, [&](Worker& worker) {
      std::array<ValueMaker, 3> values;
      std::array<CellIn, 3> cells;
      RowKey key;
      timed(0, rows, worker.times, [&](uint64_t i) {
        const uint64_t row = shuffled(i);
        for (uint64_t f = 0; f < 3; ++f) cells[f] = {families[f], kQualifier, values[f].of(row, f)};
        worker.session.put({key.present(row).view(), cells}, Keep::kProcess);
      });
    });
  });
  if (!run.more()) return;
  run.peer().flush();
  run.peer().compact();
  run.reopen(kLargeCache);
  run.warm();
  const auto scan = [&](const char* name, const ScanIn& in) {
    run.step(name, Step::kAlone, "cells/s", [&](Sample& sample) {
      run.work(sample, 1, [&](Worker& worker) {
        timed(0, 5, worker.times, [&](uint64_t) { worker.session.scan(in, worker.tally); });
      });
      sample.ops = sample.tally.cells;
    });
  };
  scan("fam3_scan_one", {.families = {&families[1], 1}});
  scan("fam3_scan_all", {});
}

}  // namespace cellar::bench
