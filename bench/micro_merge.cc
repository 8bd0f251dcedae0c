// Merging 1 to 32 sorted runs: cells that alternate between the runs, that come in stretches of 16, and runs
// one after the other. In one more case each source has the same run, as when every row was overwritten.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bench/bed.h"
#include "cell/cell_codec.h"
#include "cell/cell_key.h"
#include "cell/cell_order.h"
#include "cell/merging_cursor.h"

namespace cellar::bench {
namespace {

// A run in an array: moving on costs next to nothing, so what is measured is the merge.
class ArrayCursor final : public CellCursor {
 public:
  explicit ArrayCursor(const std::vector<CellView>* run) : run_(run) {}
  const CellView* seek(const CellView& target) override {
    at_ = static_cast<size_t>(
        std::ranges::lower_bound(
            *run_, target, [](const CellView& a, const CellView& b) { return compare_cells(a, b) < 0; }) -
        run_->begin());
    return current();
  }
  const CellView* next() override { return ++at_, current(); }
  Status status() const override { return {}; }
  const Pinnable* pinned() const override { return nullptr; }
  void print(TextPrinter& out) const override { out.line("array"); }

 private:
  const CellView* current() const { return at_ < run_->size() ? &(*run_)[at_] : nullptr; }
  const std::vector<CellView>* run_;
  size_t at_ = 0;
};

enum class Pattern { kAlternating, kStretches, kBehind, kSame };
constexpr const char* kPatternNames[] = {"alternating", "stretches_of_16", "one_behind_the_other",
                                         "same_rows"};

struct Runs {
  std::vector<OwnedCell> cells;
  std::vector<std::vector<CellView>> runs;
};

Runs make_runs(Pattern pattern, size_t sources, size_t cells) {
  Runs made;
  made.cells.resize(cells);
  made.runs.resize(sources);
  for (size_t i = 0; i < cells; ++i) {
    const size_t source = pattern == Pattern::kAlternating || pattern == Pattern::kSame ? i % sources
                          : pattern == Pattern::kStretches                              ? i / 16 % sources
                                                                                        : i * sources / cells;
    const size_t row = pattern == Pattern::kSame ? i / sources : i;
    made.cells[i].assign(numbered("user", row), "d", "q", 1'700'000'000'000 + static_cast<int64_t>(source),
                         CellType::kPut, source + 1, "value");
    made.runs[source].push_back(made.cells[i].view());
  }
  return made;
}

void merge(benchmark::State& state, Pattern pattern, size_t sources) {
  const size_t cells = scaled(200'000, 3200);
  const Runs runs = make_runs(pattern, sources, cells);
  OwnedCell first;
  first_of_row(first, "");
  uint64_t merged = 0;
  bool ordered = true;
  for (auto unused : state) {
    static_cast<void>(unused);
    std::vector<MergeSource> all;
    for (size_t i = 0; i < sources; ++i)
      all.push_back({std::make_unique<ArrayCursor>(&runs.runs[i]), static_cast<uint32_t>(i)});
    const std::unique_ptr<CellCursor> cursor = make_merging_cursor(std::move(all));
    int64_t last = INT64_MAX;
    for (const CellView* cell = cursor->seek(first.view()); cell != nullptr;
         cell = cursor->next(), ++merged) {
      if (pattern == Pattern::kSame && sources > 1)  // newest first in each row
        ordered = ordered && (merged % sources == 0 || cell->timestamp < last);
      last = cell->timestamp;
    }
  }
  if (merged != cells * static_cast<uint64_t>(state.iterations()) || !ordered)
    state.SkipWithError("cells are missing or out of order");
  state.SetItemsProcessed(static_cast<int64_t>(merged));
  state.counters["ns/cell"] = benchmark::Counter(static_cast<double>(merged) * 1e-9,
                                                 benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

[[maybe_unused]] const bool registered_micro_merge = [] {
  for (const Pattern pattern :
       {Pattern::kAlternating, Pattern::kStretches, Pattern::kBehind, Pattern::kSame}) {
    for (const size_t sources : {1, 2, 4, 8, 16, 32}) {
      benchmark::RegisterBenchmark(
          fmt::format("merge/pattern:{}/sources:{}", kPatternNames[static_cast<int>(pattern)], sources)
              .c_str(),
          [=](benchmark::State& state) { merge(state, pattern, sources); })
          ->Unit(benchmark::kMillisecond);
    }
  }
  return true;
}();

}  // namespace
}  // namespace cellar::bench
