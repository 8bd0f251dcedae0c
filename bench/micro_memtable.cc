// Memtable structures side by side: every registered one, filled in six ways; insert, flush, get, short and
// long scan, and update. A million cells of 16-byte rows and 100-byte values, read in random order. One
// iteration of an insert case fills a fresh table.
#include <benchmark/benchmark.h>

#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/coding.h"
#include "base/plugins.h"
#include "base/random.h"
#include "cell/cell_codec.h"
#include "cell/cell_key.h"
#include "cell/cell_order.h"
#include "cellar/plugin.h"
#include "memtable/memtable.h"

namespace cellar {
namespace {

constexpr uint32_t kCells = 1'000'000;
constexpr uint32_t kWide = 100;  // cells of a wide row

// Way: the order in which a table is filled, and the form of its rows.
enum class Way {
  kRandom,      // rows user000000123456, at random
  kInOrder,     // the same, in order
  kDescending,  // the same, from the last to the first
  kWideRows,    // rows of 100 cells; rows at random, the cells of each in order
  kHashed,      // rows of 16 random bytes
  kVersions,    // 10,000 rows at random, each put about 100 times, each time newer
};

// Makes one cell and overwrites the number of its row, and in wide rows of its qualifier, in place. This
// costs little compared with the measured operation.
class CellMaker {
 public:
  explicit CellMaker(Way way) : way_(way) {
    cell_.assign("user000000000000", "f", way == Way::kWideRows ? "q0000000" : "q", 1'700'000'000'000,
                 CellType::kPut, 1, std::string(100, 'v'));
    view_ = cell_.view();
    key_.assign(view_.key_bytes());
  }
  const CellView& make(uint32_t number) {
    ++view_.sequence;
    view_.key = key_.data();
    view_.value = cell_.view().value;
    if (way_ == Way::kHashed) {
      const uint64_t words[2] = {hash64(number), hash64(number + (uint64_t{1} << 32))};
      std::memcpy(key_.data() + 2, words, sizeof words);
      return view_;
    }
    if (way_ == Way::kVersions) {
      put_digits(key_.data() + 2 + 4, 12, number % 10'000);
      set_timestamp(1'700'000'000'000 + static_cast<int64_t>(view_.sequence));
      return view_;
    }
    put_digits(key_.data() + 2 + 4, 12, way_ == Way::kWideRows ? number / kWide : number);
    if (way_ == Way::kWideRows) put_digits(key_.data() + 2 + 16 + 1 + 1 + 1, 7, number % kWide);
    return view_;
  }
  // Makes the key before all cells of the row and column.
  const CellView& make_target(uint32_t number) {
    make(number);
    view_.sequence = kLatestSequence;
    if (way_ == Way::kVersions) set_timestamp(kLatestTimestamp);
    return view_;
  }

 private:
  static void put_digits(char* to, int digits, uint32_t number) {
    for (int i = digits - 1; i >= 0; --i, number /= 10) to[i] = static_cast<char>('0' + number % 10);
  }
  static uint64_t hash64(uint64_t number) {
    number = (number + 1) * 0x9e37'79b9'7f4a'7c15;
    number = (number ^ number >> 30) * 0xbf58'476d'1ce4'e5b9;
    return (number ^ number >> 27) * 0x94d0'49bb'1331'11eb;
  }
  void set_timestamp(int64_t timestamp) {
    view_.timestamp = timestamp;
    store_be64(key_.data() + key_.size() - 9, static_cast<uint64_t>(timestamp));
  }

  Way way_;
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

uint32_t number_at(Way way, uint32_t i) {
  switch (way) {
    case Way::kRandom:
    case Way::kHashed:
    case Way::kVersions:
      return 2 * shuffled()[i];
    case Way::kInOrder:
      return 2 * i;
    case Way::kDescending:
      return 2 * (kCells - i);
    case Way::kWideRows:
      return shuffled()[i / kWide] / kWide * kWide + i % kWide;
  }
  return 0;
}

Memtable* fill(const std::string& structure, Way way) {
  Memtable* table = make_memtable(structure).value().release();
  CellMaker maker(way);
  for (uint32_t i = 0; i < kCells; ++i) table->insert(maker.make(number_at(way, i)));
  return table;
}

uint64_t walk(const Memtable& table) {
  OwnedCell first;
  first_of_row(first, "");
  const std::unique_ptr<RunCursor> cursor = table.cursor();
  uint64_t bytes = 0;
  const CellView* cell = cursor->seek(first.view());
  if (cell != nullptr) bytes = cell->key_size;
  while (cell != nullptr) {
    const std::span<const CellView> span = cursor->next_span();
    if (span.empty()) break;
    for (const CellView& each : span) bytes += each.key_size;
  }
  return bytes;
}

void set_ns(benchmark::State& state, double cells) {
  state.counters["ns/cell"] =
      benchmark::Counter(cells * 1e-9, benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

// Fills a table, and walks over it as a flush does if `flushed`.
void measure_load(benchmark::State& state, const std::string& structure, Way way, bool flushed) {
  shuffled();
  uint64_t bytes = 0;
  for (auto unused : state) {
    static_cast<void>(unused);
    const Pin pin(fill(structure, way));
    const Memtable& table = *static_cast<const Memtable*>(pin.get());
    if (flushed) benchmark::DoNotOptimize(walk(table));
    bytes = table.bytes();
    state.PauseTiming();  // not its end
    const_cast<Pin&>(pin).reset();
    state.ResumeTiming();
  }
  state.SetItemsProcessed(state.iterations() * kCells);
  state.counters["bytes/cell"] = static_cast<double>(bytes) / kCells;
  set_ns(state, static_cast<double>(state.iterations()) * kCells);
}

// Gets rows at random, each with the `cells` cells from there on.
void measure_get(benchmark::State& state, const std::string& structure, Way way, uint32_t cells) {
  Memtable* table = fill(structure, way);
  const Pin pin(table);
  CellMaker maker(way);
  const std::unique_ptr<RunCursor> cursor = table->cursor();
  uint32_t i = 0;
  uint64_t found = 0;
  for (auto unused : state) {
    static_cast<void>(unused);
    const CellView wanted = maker.make_target(number_at(way, i++ % kCells));
    const CellView* cell = table->may_contain_row(wanted.row()) ? cursor->seek(wanted) : nullptr;
    if (cell != nullptr && same_column(*cell, wanted)) ++found;
    for (uint32_t more = 1; more < cells && cell != nullptr; ++more) cell = cursor->next();
    benchmark::DoNotOptimize(cell);
  }
  if (found != static_cast<uint64_t>(state.iterations())) state.SkipWithError("a cell is missing");
  state.SetItemsProcessed(state.iterations());
}

// Finds the newest cell of a row and inserts a newer one after it, as increments do.
void measure_update(benchmark::State& state, const std::string& structure) {
  Memtable* table = fill(structure, Way::kVersions);
  const Pin pin(table);
  CellMaker maker(Way::kVersions);
  CellMaker targets(Way::kVersions);
  for (uint32_t i = 0; i < kCells; ++i) maker.make(0);  // newer than all that are there
  Random random(3);
  CellView cell;
  Spot unused_spot;
  table->find(targets.make_target(0), cell, unused_spot);  // the first read of a vector sorts it
  for (auto unused : state) {
    static_cast<void>(unused);
    const auto number = static_cast<uint32_t>(random.below(10'000)) / 2 * 2;
    Spot spot;
    const CellView& wanted = targets.make_target(number);
    if (!table->find(wanted, cell, spot) || !same_column(cell, wanted)) {
      state.SkipWithError("a cell is missing");
      break;
    }
    table->insert(maker.make(number), spot);
  }
  state.SetItemsProcessed(state.iterations());
}

void measure_missing(benchmark::State& state, const std::string& structure) {
  Memtable* table = fill(structure, Way::kRandom);
  const Pin pin(table);
  CellMaker maker(Way::kRandom);
  uint32_t i = 0;
  uint64_t maybe = 0;
  for (auto unused : state) {
    static_cast<void>(unused);
    if (table->may_contain_row(maker.make(2 * shuffled()[i++ % kCells] + 1).row())) ++maybe;
  }
  state.SetItemsProcessed(state.iterations());
  state.counters["maybe"] = static_cast<double>(maybe) / static_cast<double>(state.iterations());
}

void measure_scan(benchmark::State& state, const std::string& structure, Way way) {
  Memtable* table = fill(structure, way);
  const Pin pin(table);
  walk(*table);  // the first read of a vector sorts it
  for (auto unused : state) {
    static_cast<void>(unused);
    benchmark::DoNotOptimize(walk(*table));
  }
  state.SetItemsProcessed(state.iterations() * kCells);
  set_ns(state, static_cast<double>(state.iterations()) * kCells);
}

struct NamedWay {
  const char* name;
  Way way;
};
constexpr NamedWay kWays[] = {{"random", Way::kRandom},         {"in_order", Way::kInOrder},
                              {"descending", Way::kDescending}, {"wide_rows", Way::kWideRows},
                              {"hashed", Way::kHashed},         {"versions", Way::kVersions}};

// Registers the cases of every structure that the registry knows: memtable/Insert/random/blink and so on.
const bool kRegistered = [] {
  register_memtable_plugins();
  const auto add = [](const std::string& name, const auto& measure) {
    return benchmark::RegisterBenchmark(name.c_str(), measure);
  };
  constexpr benchmark::TimeUnit kMs = benchmark::kMillisecond;
  for (const std::string& name : Registry<Memtable>::instance().names()) {
    for (const NamedWay& each : kWays) {
      const Way way = each.way;
      const std::string rest = std::string("/") + each.name + "/" + name;
      add("memtable/Insert" + rest, [=](auto& state) { measure_load(state, name, way, false); })
          ->Unit(kMs)
          ->Iterations(1);
      add("memtable/InsertAndFlush" + rest, [=](auto& state) { measure_load(state, name, way, true); })
          ->Unit(kMs)
          ->Iterations(1);
      add("memtable/Get" + rest, [=](auto& state) { measure_get(state, name, way, 1); })->Iterations(100'000);
      add("memtable/Get10" + rest, [=](auto& state) {
        measure_get(state, name, way, 10);
      })->Iterations(50'000);
      add("memtable/Scan" + rest, [=](auto& state) { measure_scan(state, name, way); })
          ->Unit(kMs)
          ->Iterations(2);
    }
    add("memtable/Update/" + name, [=](auto& state) { measure_update(state, name); })->Iterations(100'000);
  }
  add("memtable/GetMissing", [](auto& state) { measure_missing(state, "blink"); });
  return true;
}();

}  // namespace
}  // namespace cellar
