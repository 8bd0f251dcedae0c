// Goal: readers that run concurrently with the inserter see every cell that was inserted before they asked,
// whole and in order. Method: an inserter publishes how far it is. Readers walk, seek and step back, and
// count. Meant for TSan.
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "base/random.h"
#include "cell/cell_key.h"
#include "cell/cell_order.h"
#include "memtable/memtable.h"
#include "tests/cell_support/cursor_contract.h"
#include "tests/memtable/key_shapes.h"
#include "tests/memtable/structures.h"

namespace cellar::testing {
namespace {

constexpr uint64_t kSeed = 21;
constexpr uint64_t kStretch = 40;  // cells that are inserted each by itself, or together

// One table, its inserter and what the readers found wrong.
struct Scene {
  Pin pin;
  Memtable* table = nullptr;
  KeyShape shape = KeyShape::kRandomRows;
  std::atomic<uint64_t> inserted{0};
  std::atomic<bool> done{false};
  std::atomic<uint64_t> wrong{0};

  void insert_all(uint64_t cells) {
    OwnedCell cell;
    for (uint64_t i = 0; i < cells; ++i) {
      make_cell(shape, kSeed, i, i + 1, cell);
      const bool adds = i / kStretch % 2 == 1;
      if (adds) {
        table->add(cell.view());
      } else {
        table->insert(cell.view());
      }
      if (adds && i % kStretch != kStretch - 1 && i + 1 < cells) continue;
      table->settle();
      inserted.store(i + 1, std::memory_order_release);
    }
    done.store(true);
  }

  // Everything inserted so far, each once, nothing out of order.
  void walk(Random&) {
    const uint64_t known = inserted.load(std::memory_order_acquire);
    const std::unique_ptr<RunCursor> cursor = table->cursor();
    OwnedCell target;
    first_of_row(target, "");
    uint64_t seen = 0;
    OwnedCell last;
    bool first = true;
    for (const CellView* cell = cursor->seek(target.view()); cell != nullptr; cell = cursor->next()) {
      if (cell->sequence <= known) ++seen;
      if (cell->value_bytes() != "v" + std::to_string(cell->sequence - 1)) wrong.fetch_add(1);
      if (!first && compare_cells(last.view(), *cell) > 0) wrong.fetch_add(1);
      last.assign(*cell);
      first = false;
    }
    if (seen != known) wrong.fetch_add(1);
  }

  // A cell that must be there; the one before what follows it; and its row in the filter.
  void look_up(Random& random) {
    const uint64_t known = inserted.load(std::memory_order_acquire);
    if (known == 0) return;
    const uint64_t i = random.below(known);
    OwnedCell wanted;
    make_cell(shape, kSeed, i, i + 1, wanted);
    const std::unique_ptr<RunCursor> cursor = table->cursor();
    const CellView* found = cursor->seek(wanted.view());
    if (found == nullptr || found->sequence != i + 1) wrong.fetch_add(1);
    if (!table->may_contain_row(wanted.view().row())) wrong.fetch_add(1);

    const CellView* before = cursor->seek_before(wanted.view());
    if (before != nullptr && compare_cells(*before, wanted.view()) >= 0) wrong.fetch_add(1);
    // Going on from there leads past the cell itself.
    for (int steps = 0; steps < 1000; ++steps) {
      found = before == nullptr && steps == 0 ? cursor->seek(wanted.view()) : cursor->next();
      if (found == nullptr || compare_cells(*found, wanted.view()) >= 0) break;
    }
    if (found == nullptr) wrong.fetch_add(1);

    // From its row's first cell to it, by short skips.
    OwnedCell start;
    first_of_row(start, wanted.view().row());
    found = cursor->seek(start.view());
    if (found == nullptr) wrong.fetch_add(1);
    if (found != nullptr && compare_cells(*found, wanted.view()) < 0) found = cursor->skip_to(wanted.view());
    if (found == nullptr || found->sequence != i + 1) wrong.fetch_add(1);
  }
};

class MemtableThreads : public ::testing::TestWithParam<std::string> {};

TEST_P(MemtableThreads, ReadersSeeWhatIsThere) {
  constexpr KeyShape kShapes[] = {KeyShape::kRandomRows, KeyShape::kUserRows,    KeyShape::kTinyAlphabet,
                                  KeyShape::kVersions,   KeyShape::kWideUser,    KeyShape::kAscending,
                                  KeyShape::kDescending, KeyShape::kNewestFirst, KeyShape::kStreams};
  for (const KeyShape shape : kShapes) {
    SCOPED_TRACE(::testing::Message() << "shape " << static_cast<int>(shape));
    Scene scene;
    scene.shape = shape;
    scene.table = make_memtable(GetParam()).value().release();
    scene.pin = Pin(scene.table);
    std::vector<std::thread> readers;
    const auto read = [&scene](uint64_t seed, void (Scene::*what)(Random&)) {
      Random random(seed);
      do {
        (scene.*what)(random);
      } while (!scene.done.load());
    };
    readers.emplace_back(read, 1, &Scene::walk);
    readers.emplace_back(read, 2, &Scene::look_up);
    readers.emplace_back(read, 3, &Scene::look_up);
    scene.insert_all(scaled(12'000));
    for (std::thread& reader : readers) reader.join();
    EXPECT_EQ(scene.wrong, 0u);
    Random random(5);
    scene.walk(random);
    for (int i = 0; i < 2000; ++i) scene.look_up(random);
    EXPECT_EQ(scene.wrong, 0u);
  }
}

INSTANTIATE_TEST_SUITE_P(Structures, MemtableThreads, ::testing::ValuesIn(memtable_names()));

}  // namespace
}  // namespace cellar::testing
