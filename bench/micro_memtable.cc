// Memtable structures side by side: insert at random, in order and into wide rows; get; miss; scan. A million
// cells of 16-byte rows and 100-byte values, read in random order; one iteration of an insert case fills a
// fresh table.
#include <benchmark/benchmark.h>

#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "cell/cell_codec.h"
#include "cell/cell_key.h"
#include "cell/cell_order.h"
#include "memtable/memtable.h"

namespace cellar {
namespace {

constexpr uint32_t kCells = 1'000'000;
constexpr uint32_t kWide = 100;  // cells of a wide row

// Makes one cell and overwrites the number of its row, and in wide rows of its qualifier, in place. This
// costs little compared with the measured operation.
class CellMaker {
 public:
  explicit CellMaker(bool wide) : wide_(wide) {
    cell_.assign("user000000000000", "f", wide ? "q0000000" : "q", 1'700'000'000'000, CellType::kPut, 1,
                 std::string(100, 'v'));
    view_ = cell_.view();
    key_.assign(view_.key_bytes());
  }
  const CellView& make(uint32_t number) {
    put_digits(key_.data() + 2 + 4, 12, wide_ ? number / kWide : number);
    if (wide_) put_digits(key_.data() + 2 + 16 + 1 + 1 + 1, 7, number % kWide);
    ++view_.sequence;
    view_.key = key_.data();
    view_.value = cell_.view().value;
    return view_;
  }

 private:
  static void put_digits(char* to, int digits, uint32_t number) {
    for (int i = digits - 1; i >= 0; --i, number /= 10) to[i] = static_cast<char>('0' + number % 10);
  }

  bool wide_;
  OwnedCell cell_;
  std::string key_;
  CellView view_;
};

const std::vector<uint32_t>& shuffled() {
  static const std::vector<uint32_t> numbers = [] {
    std::vector<uint32_t> all(kCells);
    for (uint32_t i = 0; i < kCells; ++i) all[i] = i;
    Random random(1);
    for (uint32_t i = kCells; i-- > 1;) std::swap(all[i], all[random.below(i + 1)]);
    return all;
  }();
  return numbers;
}

enum class Way { kRandom, kInOrder, kWideRows };

uint32_t number_at(Way way, uint32_t i) {
  switch (way) {
    case Way::kRandom:
      return 2 * shuffled()[i];
    case Way::kInOrder:
      return 2 * i;
    case Way::kWideRows:  // rows at random, the cells of each in order
      return shuffled()[i / kWide] / kWide * kWide + i % kWide;
  }
  return 0;
}

Memtable* fill(const char* structure, Way way) {
  Memtable* table = make_memtable(structure).value().release();
  CellMaker maker(way == Way::kWideRows);
  for (uint32_t i = 0; i < kCells; ++i) table->insert(maker.make(number_at(way, i)));
  return table;
}

void BM_Insert(benchmark::State& state, const char* structure, Way way) {
  shuffled();
  uint64_t bytes = 0;
  for (auto unused : state) {
    static_cast<void>(unused);
    const Pin pin(fill(structure, way));
    bytes = static_cast<const Memtable*>(pin.get())->bytes();
    state.PauseTiming();  // not its end
    const_cast<Pin&>(pin).reset();
    state.ResumeTiming();
  }
  state.SetItemsProcessed(state.iterations() * kCells);
  state.counters["bytes/cell"] = static_cast<double>(bytes) / kCells;
  state.counters["ns/cell"] = benchmark::Counter(static_cast<double>(state.iterations()) * kCells * 1e-9,
                                                 benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

void BM_Get(benchmark::State& state, const char* structure) {
  Memtable* table = fill(structure, Way::kRandom);
  const Pin pin(table);
  CellMaker maker(false);
  OwnedCell target;
  const std::unique_ptr<CellCursor> cursor = table->cursor();
  uint32_t i = 0;
  uint64_t found = 0;
  for (auto unused : state) {
    static_cast<void>(unused);
    CellView wanted = maker.make(2 * shuffled()[i++ % kCells]);
    wanted.sequence = kLatestSequence;
    const CellView* cell = table->may_contain_row(wanted.row()) ? cursor->seek(wanted) : nullptr;
    if (cell != nullptr && same_column(*cell, wanted)) ++found;
  }
  if (found != static_cast<uint64_t>(state.iterations())) state.SkipWithError("a cell is missing");
  state.SetItemsProcessed(state.iterations());
}

void BM_GetMissing(benchmark::State& state, const char* structure) {
  Memtable* table = fill(structure, Way::kRandom);
  const Pin pin(table);
  CellMaker maker(false);
  uint32_t i = 0;
  uint64_t maybe = 0;
  for (auto unused : state) {
    static_cast<void>(unused);
    if (table->may_contain_row(maker.make(2 * shuffled()[i++ % kCells] + 1).row())) ++maybe;
  }
  state.SetItemsProcessed(state.iterations());
  state.counters["maybe"] = static_cast<double>(maybe) / static_cast<double>(state.iterations());
}

void BM_Scan(benchmark::State& state, const char* structure, Way way) {
  Memtable* table = fill(structure, way);
  const Pin pin(table);
  OwnedCell first;
  first_of_row(first, "");
  uint64_t cells = 0;
  for (auto unused : state) {
    static_cast<void>(unused);
    const std::unique_ptr<CellCursor> cursor = table->cursor();
    uint64_t sum = 0;
    for (const CellView* cell = cursor->seek(first.view()); cell != nullptr; cell = cursor->next(), ++cells) {
      sum += cell->key_size;
    }
    benchmark::DoNotOptimize(sum);
  }
  state.SetItemsProcessed(static_cast<int64_t>(cells));
  state.counters["ns/cell"] = benchmark::Counter(static_cast<double>(cells) * 1e-9,
                                                 benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

constexpr benchmark::TimeUnit kMs = benchmark::kMillisecond;
BENCHMARK_CAPTURE(BM_Insert, blink_random, "blink", Way::kRandom)->Unit(kMs);
BENCHMARK_CAPTURE(BM_Insert, skip_list_random, "skip_list", Way::kRandom)->Unit(kMs);
BENCHMARK_CAPTURE(BM_Insert, blink_in_order, "blink", Way::kInOrder)->Unit(kMs);
BENCHMARK_CAPTURE(BM_Insert, skip_list_in_order, "skip_list", Way::kInOrder)->Unit(kMs);
BENCHMARK_CAPTURE(BM_Insert, blink_wide_rows, "blink", Way::kWideRows)->Unit(kMs);
BENCHMARK_CAPTURE(BM_Insert, skip_list_wide_rows, "skip_list", Way::kWideRows)->Unit(kMs);
BENCHMARK_CAPTURE(BM_Get, blink, "blink");
BENCHMARK_CAPTURE(BM_Get, skip_list, "skip_list");
BENCHMARK_CAPTURE(BM_GetMissing, blink, "blink");
BENCHMARK_CAPTURE(BM_Scan, blink_random, "blink", Way::kRandom)->Unit(kMs);
BENCHMARK_CAPTURE(BM_Scan, skip_list_random, "skip_list", Way::kRandom)->Unit(kMs);
BENCHMARK_CAPTURE(BM_Scan, blink_in_order, "blink", Way::kInOrder)->Unit(kMs);
BENCHMARK_CAPTURE(BM_Scan, skip_list_in_order, "skip_list", Way::kInOrder)->Unit(kMs);

}  // namespace
}  // namespace cellar
