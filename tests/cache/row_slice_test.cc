// Goal: the cache finds the slices that it keeps, by file and row, and never another one. Slices share the
// budget with blocks. A slice holds its cells until the last pin is dropped, whatever happens to the cache.
// Method: slices whose bytes tell file and row; small caches of each policy; threads at random.
#include "cache/row_slice.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "base/random.h"
#include "cache/block_cache.h"
#include "cache/row_table.h"
#include "tests/support/test_scale.h"

namespace cellar::testing {
namespace {

constexpr uint64_t kSliceFile = 77;
const std::string kTags("\0\2\1z", 4);

// A flat key without the help of the layer above, which encodes keys.
struct TestCell {
  std::string key, value, tags;
  CellView view;

  TestCell(std::string_view row, char qualifier, std::string value_, std::string tags_ = {},
           CellType type = CellType::kPut)
      : value(std::move(value_)), tags(std::move(tags_)) {
    key += static_cast<char>(row.size() >> 8);
    key += static_cast<char>(row.size());
    key += row;
    key += std::string("\1f") + qualifier + std::string(8, '\0');
    key += static_cast<char>(type);
    view.row_size = static_cast<uint16_t>(row.size());
    view.family_size = 1;
    view.cell_type = type;
    view.sequence = 7;
    view.key_in_scratch = true;
    view.key = key.data();
    view.key_size = static_cast<uint32_t>(key.size());
    view.value = value.data();
    view.value_size = static_cast<uint32_t>(value.size());
    view.tags = tags.data();
    view.tags_size = static_cast<uint16_t>(tags.size());
  }
};

std::string row_name(uint64_t number) { return "row" + std::to_string(number); }
std::string value_of(uint64_t file, uint64_t row) {
  return std::to_string(file) + "/" + row_name(row) + std::string(row % 90, 'x');
}

// A slice of two cells whose values name file and row.
RowSlice* slice_of(uint64_t file, uint64_t row) {
  RowSliceBuilder builder;
  builder.begin(1 << 20);
  const std::string name = row_name(row);
  EXPECT_TRUE(builder.add(TestCell(name, 'a', value_of(file, row)).view));
  EXPECT_TRUE(builder.add(TestCell(name, 'b', value_of(file, row), kTags).view));
  return builder.finish(SliceKey::of(file * kSliceFile, name), false);
}

// Returns true if the pin holds the slice of file and row.
bool holds(const Pin& pin, uint64_t file, uint64_t row) {
  if (!pin) return false;
  const auto& slice = *static_cast<const RowSlice*>(pin.get());
  if (!slice.is_of(SliceKey::of(file * kSliceFile, row_name(row))) || slice.cells().size() != 2) return false;
  for (const CellView& cell : slice.cells())
    if (cell.row() != row_name(row) || cell.value_bytes() != value_of(file, row)) return false;
  return true;
}

class PlainBlock final : public CachedBlock {
 public:
  using CachedBlock::CachedBlock;
};

class RowSlices : public ::testing::TestWithParam<std::string> {
 protected:
  // Makes a cache from which a block had to leave. It therefore keeps rows.
  void fill(uint64_t bytes, uint32_t shards = 1) {
    cache_ = BlockCache::create(bytes, GetParam(), shards, nullptr, true).value();
    EXPECT_FALSE(cache_->keeps_rows());
    for (BlockSlot& slot : slots_) cache_->insert(slot, new PlainBlock(bytes / shards));
    EXPECT_TRUE(cache_->keeps_rows());
    erase_all();
  }
  void erase_all() {
    for (BlockSlot& slot : slots_)
      if (cache_ != nullptr) cache_->erase(slot);
  }
  void TearDown() override { erase_all(); }
  Pin find(uint64_t file, uint64_t row) {
    const std::string name = row_name(row);
    return cache_->find_row(SliceKey::of(file * kSliceFile, name));
  }
  void keep(uint64_t file, uint64_t row) {
    const std::string name = row_name(row);
    cache_->keep_row(SliceKey::of(file * kSliceFile, name), slice_of(file, row));
  }

  std::array<BlockSlot, 32> slots_;
  std::shared_ptr<BlockCache> cache_;
};

TEST(RowSliceBuilder, CopiesAllThatACellHas) {
  RowSliceBuilder builder;
  builder.begin(1000);
  EXPECT_TRUE(builder.empty());
  {
    const TestCell marker("r", 'a', "", "", CellType::kDeleteFamily);
    const TestCell tagged("r", 'b', std::string("v\0w", 3), kTags);
    EXPECT_TRUE(builder.add(marker.view));
    EXPECT_TRUE(builder.add(tagged.view));
  }
  const SliceKey key = SliceKey::of(kSliceFile, "r");
  RowSlice* const slice = builder.finish(key, true);
  const Pin pin(slice);
  ASSERT_EQ(slice->cells().size(), 2u);
  const CellView& cell = slice->cells()[1];
  EXPECT_EQ(cell.row(), "r");
  EXPECT_EQ(cell.family(), "f");
  EXPECT_EQ(cell.qualifier(), "b");
  EXPECT_EQ(cell.value_bytes(), std::string_view("v\0w", 3));
  EXPECT_EQ(cell.tags_bytes(), kTags);
  EXPECT_EQ(cell.sequence, 7u);
  EXPECT_FALSE(cell.key_in_scratch) << "the slice holds the bytes";
  EXPECT_TRUE(slice->has_family_markers());
  EXPECT_EQ(slice->cells()[0].cell_type, CellType::kDeleteFamily);
  EXPECT_TRUE(slice->is_of(key));
  EXPECT_FALSE(slice->is_of(SliceKey::of(2 * kSliceFile, "r")));
  EXPECT_FALSE(slice->is_of(SliceKey::of(kSliceFile, "s")));
  EXPECT_GT(slice->charge_bytes(), sizeof(RowSlice) + 2 * sizeof(CellView) + 40);
}

TEST(RowSliceBuilder, RefusesWhatIsTooLarge) {
  RowSliceBuilder builder;
  const TestCell cell("r", 'a', std::string(100, 'v'));
  const uint64_t bytes = sizeof(RowSlice) + sizeof(CellView) + cell.key.size() + 100;
  builder.begin(bytes);
  EXPECT_FALSE(builder.add(cell.view)) << "the allocator needs some bytes, too";
  EXPECT_TRUE(builder.empty());
  builder.begin(bytes + 100);
  EXPECT_TRUE(builder.add(cell.view));
  EXPECT_FALSE(builder.add(cell.view));
  builder.begin(bytes + 100);
  EXPECT_TRUE(builder.empty()) << "a new slice begins";
}

TEST(RowTable, SaysWhichBlocksWereMissedLately) {
  RowTable table(1 << 20);
  EXPECT_FALSE(table.missed_lately(kSliceFile + 100));
  EXPECT_TRUE(table.missed_lately(kSliceFile + 100));
  EXPECT_FALSE(table.missed_lately(2 * kSliceFile + 100));
  for (uint64_t i = 0; i < 10'000; ++i) table.missed_lately(3 * kSliceFile + i * 4096);
  EXPECT_FALSE(table.missed_lately(kSliceFile + 100)) << "many others came after it";
}

TEST_P(RowSlices, AreFoundByFileAndRow) {
  fill(100'000);
  EXPECT_FALSE(find(1, 1));
  keep(1, 1);
  keep(1, 2);
  keep(2, 1);
  EXPECT_TRUE(holds(find(1, 1), 1, 1));
  EXPECT_TRUE(holds(find(1, 2), 1, 2));
  EXPECT_TRUE(holds(find(2, 1), 2, 1));
  EXPECT_FALSE(find(2, 2));
  keep(1, 1);
  const BlockCacheStats stats = cache_->stats();
  EXPECT_EQ(stats.rows, 3u) << "the same slice is kept once";
  EXPECT_EQ(stats.row_hits, 3u);
  EXPECT_EQ(stats.blocks, 0u);
  EXPECT_LE(stats.used_bytes + stats.pinned_bytes, 100'000u);
}

TEST_P(RowSlices, LeaveWithTheirCache) {
  fill(50'000);
  for (uint64_t row = 0; row < 20; ++row) keep(1, row);
  const Pin pin = find(1, 7);
  cache_.reset();
  EXPECT_TRUE(holds(pin, 1, 7));
}

TEST_P(RowSlices, ShareTheBudgetWithBlocks) {
  fill(30'000);
  Random random(3);
  uint64_t found = 0;
  for (int i = 0; i < 20'000; ++i) {
    const uint64_t row = random.below(random.one_in(3) ? 1000 : 20);
    const Pin pin = find(1, row);
    if (pin) {
      ASSERT_TRUE(holds(pin, 1, row));
      ++found;
    } else {
      keep(1, row);
    }
    if (random.one_in(10))
      cache_->insert(slots_[random.below(slots_.size())], new PlainBlock(500 + random.below(4000)));
    const BlockCacheStats stats = cache_->stats();
    ASSERT_LE(stats.used_bytes + stats.pinned_bytes, 30'000u);
  }
  EXPECT_GT(found, 2000u);
  EXPECT_GT(cache_->stats().rows, 0u);
}

TEST_P(RowSlices, WaitForAFullCache) {
  const auto cache = BlockCache::create(10'000, GetParam(), 1, nullptr, true).value();
  EXPECT_TRUE(cache->is_roomy(slots_[0], 8000));
  cache->insert(slots_[0], new PlainBlock(8000));
  EXPECT_FALSE(cache->keeps_rows()) << "no block had to leave";
  EXPECT_FALSE(cache->is_roomy(slots_[1], 800)) << "an eighth stays free";
  EXPECT_FALSE(cache->missed_lately(5));
  cache->insert(slots_[1], new PlainBlock(8000));
  EXPECT_TRUE(cache->keeps_rows());
  cache->erase(slots_[0]);
  cache->erase(slots_[1]);
  const auto without = BlockCache::create(10'000, GetParam(), 1).value();
  without->insert(slots_[0], new PlainBlock(8000));
  without->insert(slots_[1], new PlainBlock(8000));
  EXPECT_FALSE(without->keeps_rows()) << "rows are not wanted";
  without->erase(slots_[0]);
  without->erase(slots_[1]);
}

// Threads keep and find slices of the same rows, insert blocks, and hold pins for a while.
TEST_P(RowSlices, SurviveAStorm) {
  fill(60'000, 2);
  std::atomic<uint64_t> wrong{0};
  std::atomic<uint64_t> found{0};
  const int steps = static_cast<int>(scaled(20'000));
  const auto work = [&](uint64_t seed) {
    Random random(seed);
    std::array<std::tuple<Pin, uint64_t, uint64_t>, 8> kept;
    for (int i = 0; i < steps; ++i) {
      const uint64_t file = 1 + random.below(2);
      const uint64_t row = random.below(60);
      Pin pin = find(file, row);
      if (!pin) {
        keep(file, row);
      } else {
        found.fetch_add(1, std::memory_order_relaxed);
        if (!holds(pin, file, row)) wrong.fetch_add(1);
      }
      auto& [held, held_file, held_row] = kept[random.below(kept.size())];
      if (held && !holds(held, held_file, held_row)) wrong.fetch_add(1);
      held = std::move(pin);
      held_file = file;
      held_row = row;
      if (random.one_in(20)) {
        BlockSlot& slot = slots_[random.below(slots_.size())];
        if (random.one_in(3)) cache_->erase(slot);
        cache_->insert(slot, new PlainBlock(1000 + random.below(9000)));
      }
      if (random.one_in(200)) {
        const BlockCacheStats stats = cache_->stats();
        if (stats.used_bytes + stats.pinned_bytes > 60'000) wrong.fetch_add(1);
      }
    }
  };
  std::vector<std::thread> threads;
  for (uint64_t seed = 1; seed <= 4; ++seed) threads.emplace_back(work, seed);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0u);
  EXPECT_GT(found, 100u);
}

INSTANTIATE_TEST_SUITE_P(Policies, RowSlices,
                         ::testing::Values("clock", "lru", "slru", "sieve", "s3fifo", "w_tinylfu", "arc"));

// A process may open more files than ids of blocks can tell apart. Rows are kept under numbers of their own.
TEST(FileIds, AreNeverZeroAndNumbersAreUsedOnce) {
  const auto cache = BlockCache::create(1 << 20, "clock", 1).value();
  const uint64_t first = cache->open_file();
  uint64_t last = first;
  for (uint64_t i = 0; i < uint64_t{1} << 24; ++i) {
    last = cache->open_file();
    ASSERT_NE(last, 0u) << i;
  }
  EXPECT_EQ(last, 2 * first) << "the ids begin again";
  EXPECT_NE(BlockCache::number_file(), BlockCache::number_file());
}

}  // namespace
}  // namespace cellar::testing
