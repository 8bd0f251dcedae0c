// Merging 1 to 32 sorted runs: cells that alternate between the runs, that come in stretches of 16, and runs
// one after the other. In one more case each source has the same run, as when every row was overwritten. The
// merge is asked for cells, or for spans of them.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <span>
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
  std::span<const CellView> next_span() override {
    constexpr size_t kSpanCells = 32;  // as files give them
    if (++at_ >= run_->size()) return {};
    const size_t begin = at_;
    at_ = std::min(begin + kSpanCells, run_->size()) - 1;
    return std::span(*run_).subspan(begin, at_ + 1 - begin);
  }
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

enum class By { kCells, kSpans };
constexpr const char* kByNames[] = {"cells", "spans"};

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

// Merges the sources and calls take(cell) for each cell.
template <class Take>
void merge_all(CellCursor& cursor, By by, const Take& take) {
  OwnedCell first;
  first_of_row(first, "");
  const CellView* cell = cursor.seek(first.view());
  if (by == By::kCells) {
    for (; cell != nullptr; cell = cursor.next()) take(*cell);
    return;
  }
  for (std::span<const CellView> span(cell, cell == nullptr ? 0 : 1); !span.empty();
       span = cursor.next_span())
    for (const CellView& each : span) take(each);
}

void merge(benchmark::State& state, Pattern pattern, size_t sources, By by) {
  const size_t cells = scaled(200'000, 3200);
  const Runs runs = make_runs(pattern, sources, cells);
  uint64_t merged = 0;
  bool ordered = true;
  for (auto unused : state) {
    static_cast<void>(unused);
    std::vector<MergeSource> all;
    for (size_t i = 0; i < sources; ++i)
      all.push_back({std::make_unique<ArrayCursor>(&runs.runs[i]), static_cast<uint32_t>(i)});
    const std::unique_ptr<CellCursor> cursor = make_merging_cursor(std::move(all));
    int64_t last = INT64_MAX;
    merge_all(*cursor, by, [&](const CellView& cell) {
      if (pattern == Pattern::kSame && sources > 1)  // newest first in each row
        ordered = ordered && (merged % sources == 0 || cell.timestamp < last);
      last = cell.timestamp;
      ++merged;
    });
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
      for (const By by : {By::kCells, By::kSpans}) {
        benchmark::RegisterBenchmark(
            fmt::format("merge/pattern:{}/sources:{}/by:{}", kPatternNames[static_cast<int>(pattern)],
                        sources, kByNames[static_cast<int>(by)])
                .c_str(),
            [=](benchmark::State& state) { merge(state, pattern, sources, by); })
            ->Unit(benchmark::kMillisecond);
      }
    }
  }
  return true;
}();

}  // namespace
}  // namespace cellar::bench
