// Goal: the parts that a warm-up was asked for are in memory afterwards, checked as reads check them, and no
// others. Method: files of every encoding and filter with deep indexes, warmed up in part, then read with
// counters. A cache that is too small; damaged files; files that other programs wrote.
#include "hfile/read/warm_up.h"

#include <gtest/gtest.h>

#include "cell/cell_key.h"
#include "hfile/block/file_parts.h"
#include "hfile/read/hfile_reader.h"
#include "tests/hfile/fixture_files.h"
#include "tests/hfile_support/writer_support.h"

namespace cellar::testing {
namespace {

constexpr WarmUpParts kAll = {.data = true, .index = true, .blooms = true};

const auto kAlways = [] { return true; };

std::shared_ptr<BlockCache> make_cache(uint64_t bytes) { return BlockCache::create(bytes, "lru", 1).value(); }

std::shared_ptr<HFileReader> open_with(std::string_view bytes, std::shared_ptr<BlockCache> cache,
                                       const std::string& start = {}, const std::string& stop = {}) {
  HFileReaderOptions options;
  options.cache = std::move(cache);
  options.name = "warm";
  options.start_row = start;
  options.stop_row = stop;
  auto reader = HFileReader::open(std::make_unique<ViewFile>(bytes), std::move(options));
  EXPECT_TRUE(reader.ok()) << reader.status().to_text();
  return reader.ok() ? reader.value() : nullptr;
}

// 400 rows with a marker of the family in every fifth, in small blocks under three levels of index.
HFileWriterOptions small_blocks() {
  HFileWriterOptions options;
  options.block_bytes = 200;
  options.index_chunk_bytes = 120;
  options.index_entries_min = 3;
  options.bloom_chunk_bytes = 64;
  options.mvcc = true;
  return options;
}

std::string row_of(int i) { return "row" + std::to_string(1000 + i); }

std::vector<Cell> many_cells() {
  std::vector<Cell> cells;
  for (int i = 0; i < 400; ++i) {
    if (i % 5 == 0) cells.emplace_back(row_of(i), "f", "", 5, CellType::kDeleteFamily, "");
    for (const char* qualifier : {"a", "b"})
      cells.emplace_back(row_of(i), "f", qualifier, 9, CellType::kPut, std::string(60, 'v'));
  }
  return cells;
}

ReadStats scan_costs(const HFileReader& file) {
  ReadStats stats;
  const auto cursor = file.cursor({.fill_cache = false, .sequential = false, .stats = &stats});
  OwnedCell first;
  first_of_row(first, {});
  for (const CellView* cell = cursor->seek(first.view()); cell != nullptr; cell = cursor->next())
    stats.cells_examined += 1;
  EXPECT_TRUE(cursor->status().ok()) << cursor->status().to_text();
  return stats;
}

uint64_t nodes_below(const HFileReader& file, const IndexNode& node, uint32_t depth, ReadStats* stats) {
  uint64_t nodes = 0;
  for (uint32_t i = 0; !node.children_are_data() && i < node.size(); ++i)
    nodes +=
        1 + nodes_below(file, *file.parts().index->child(node, i, depth, stats).value(), depth + 1, stats);
  return nodes;
}

uint64_t filter_costs(const HFileReader& file) {
  ReadStats stats;
  for (int i = 0; i < 400; ++i) {
    const std::string qualifiers[] = {"a"};
    EXPECT_TRUE(file.may_contain_columns(row_of(i), qualifiers, &stats));
    if (i % 5 == 0) {
      EXPECT_TRUE(file.may_contain_family_markers(row_of(i), &stats));
    }
  }
  return stats.blocks_from_disk;
}

class WarmUpOfEachKind : public ::testing::TestWithParam<std::tuple<std::string, std::string>> {};

TEST_P(WarmUpOfEachKind, BringsTheParts) {
  HFileWriterOptions options = small_blocks();
  std::tie(options.encoding, options.bloom) = GetParam();
  const WrittenFile written = write_cells(options, many_cells());
  const auto cache = make_cache(64 << 20);
  const auto file = open_with(written.bytes, cache);
  ASSERT_GE(file->parts().index->levels(), 3u);
  const uint64_t pinned_at_first = cache->stats().pinned_bytes;

  WarmUp index(*file, {.parts = {.index = true}});
  EXPECT_TRUE(index.run(kAlways).ok());
  EXPECT_TRUE(index.done());
  ReadStats nodes;
  EXPECT_EQ(index.loaded().blocks, nodes_below(*file, file->parts().index->root(), 0, &nodes));
  EXPECT_EQ(nodes.blocks_from_disk, 0u);
  EXPECT_EQ(cache->stats().blocks, 0u);
  EXPECT_EQ(cache->stats().pinned_bytes, pinned_at_first + index.loaded().memory_bytes);

  WarmUp blooms(*file, {.parts = {.blooms = true}});
  EXPECT_TRUE(blooms.run(kAlways).ok());
  EXPECT_GE(blooms.loaded().blocks, 3u);
  EXPECT_EQ(filter_costs(*file), 0u);
  EXPECT_EQ(cache->stats().blocks, 0u);
  EXPECT_EQ(scan_costs(*file).blocks_from_disk, written.summary.data_blocks);

  ReadStats stats;
  WarmUp all(*file, {.parts = kAll, .stats = &stats});
  EXPECT_TRUE(all.run(kAlways).ok());
  EXPECT_EQ(all.loaded().blocks, written.summary.data_blocks) << "the rest was there";
  EXPECT_EQ(stats.blocks_from_disk, written.summary.data_blocks);
  EXPECT_EQ(stats.bytes_from_disk, all.loaded().bytes);
  EXPECT_EQ(cache->stats().used_bytes, all.loaded().memory_bytes);
  EXPECT_EQ(scan_costs(*file).blocks_from_disk, 0u);
  EXPECT_EQ(scan_costs(*file).cells_examined, many_cells().size());
}

INSTANTIATE_TEST_SUITE_P(Kinds, WarmUpOfEachKind,
                         ::testing::Combine(::testing::Values("none", "row_index_v1", "prefix", "diff",
                                                              "fast_diff"),
                                            ::testing::Values("row", "rowcol")));

TEST(WarmUp, DataBringsTheIndexThatLeadsThere) {
  const WrittenFile written = write_cells(small_blocks(), many_cells());
  const auto cold = open_with(written.bytes, make_cache(64 << 20));
  const uint64_t nodes = nodes_below(*cold, cold->parts().index->root(), 0, nullptr);
  const auto file = open_with(written.bytes, make_cache(64 << 20));
  WarmUp data(*file, {.parts = {.data = true}});
  EXPECT_TRUE(data.run(kAlways).ok());
  EXPECT_EQ(data.loaded().blocks, written.summary.data_blocks + nodes);
  EXPECT_EQ(scan_costs(*file).blocks_from_disk, 0u);
}

TEST(WarmUp, WithoutACacheOnlyWhatStaysInTheFileIsRead) {
  const WrittenFile written = write_cells(small_blocks(), many_cells());
  const auto file = open_with(written.bytes, nullptr);
  WarmUp all(*file, {.parts = kAll});
  EXPECT_TRUE(all.run(kAlways).ok());
  EXPECT_TRUE(all.done());
  EXPECT_GT(all.loaded().blocks, 0u);
  EXPECT_EQ(scan_costs(*file).blocks_from_disk, written.summary.data_blocks);
}

TEST(WarmUp, IsAskedBeforeEachBlockAndGoesOnWhereItWas) {
  HFileWriterOptions options = small_blocks();
  options.bloom = "row";
  const WrittenFile written = write_cells(options, many_cells());
  const auto file = open_with(written.bytes, make_cache(64 << 20));
  WarmUp all(*file, {.parts = kAll});
  EXPECT_TRUE(all.run([] { return false; }).ok());
  EXPECT_EQ(all.loaded().blocks, 0u);
  EXPECT_FALSE(all.done());
  for (uint64_t turn = 0; !all.done(); ++turn) {
    ASSERT_EQ(all.loaded().blocks, turn);
    bool first = true;
    ASSERT_TRUE(all.run([&] { return std::exchange(first, false); }).ok());
  }
  EXPECT_GT(all.loaded().blocks, written.summary.data_blocks);
  EXPECT_EQ(scan_costs(*file).blocks_from_disk, 0u);
  EXPECT_EQ(filter_costs(*file), 0u);
}

TEST(WarmUp, EvictsNobodyUnlessItMay) {
  const WrittenFile written = write_cells(small_blocks(), many_cells());
  const auto cache = make_cache(60'000);
  const auto first = open_with(written.bytes, cache, "", row_of(60));
  const auto second = open_with(written.bytes, cache);
  EXPECT_TRUE(WarmUp(*first, {.parts = kAll}).run(kAlways).ok());
  EXPECT_EQ(cache->stats().evictions, 0u) << "it fits";
  ASSERT_EQ(scan_costs(*first).blocks_from_disk, 0u);

  WarmUp modest(*second, {.parts = kAll, .evict = false});
  EXPECT_TRUE(modest.run(kAlways).ok());
  EXPECT_TRUE(modest.done());
  EXPECT_GT(modest.loaded().blocks, 0u);
  EXPECT_EQ(cache->stats().evictions, 0u);
  EXPECT_EQ(scan_costs(*first).blocks_from_disk, 0u);
  EXPECT_GT(scan_costs(*second).blocks_from_disk, 0u);
  EXPECT_LE(cache->stats().used_bytes + cache->stats().pinned_bytes, 60'000u);
  const WarmedUp loaded = modest.loaded();
  EXPECT_TRUE(modest.run(kAlways).ok());
  EXPECT_EQ(modest.loaded().blocks, loaded.blocks) << "it is over";

  WarmUp greedy(*second, {.parts = kAll});
  EXPECT_TRUE(greedy.run(kAlways).ok());
  EXPECT_GT(cache->stats().evictions, 0u);
}

TEST(WarmUp, NoIndexNorFilterIsReadIntoAFullCache) {
  HFileWriterOptions options = small_blocks();
  options.bloom = "row";
  const WrittenFile written = write_cells(options, many_cells());
  const auto cache = make_cache(12'000);
  const auto full = open_with(written.bytes, cache);
  EXPECT_TRUE(WarmUp(*full, {.parts = {.data = true}}).run(kAlways).ok());
  const auto file = open_with(written.bytes, cache);
  const BlockCacheStats before = cache->stats();
  WarmUp none(*file, {.parts = kAll, .evict = false});
  EXPECT_TRUE(none.run(kAlways).ok());
  EXPECT_TRUE(none.done());
  EXPECT_EQ(none.loaded().blocks, 0u);
  EXPECT_EQ(cache->stats().evictions, before.evictions);
}

TEST(WarmUp, OfAPartOfAFileIsThatPart) {
  const WrittenFile written = write_cells(small_blocks(), many_cells());
  const auto whole = open_with(written.bytes, make_cache(64 << 20));
  WarmUp all(*whole, {.parts = kAll});
  EXPECT_TRUE(all.run(kAlways).ok());
  uint64_t blocks = 0;
  const std::string bounds[] = {"", row_of(13), row_of(133), row_of(134), row_of(390), ""};
  for (size_t i = 0; i + 1 < std::size(bounds); ++i) {
    const auto part = open_with(written.bytes, make_cache(64 << 20), bounds[i], bounds[i + 1]);
    WarmUp some(*part, {.parts = kAll});
    EXPECT_TRUE(some.run(kAlways).ok());
    EXPECT_EQ(scan_costs(*part).blocks_from_disk, 0u) << bounds[i];
    EXPECT_LT(some.loaded().blocks, all.loaded().blocks);
    blocks += some.loaded().blocks;
  }
  EXPECT_GE(blocks, all.loaded().blocks);
  EXPECT_LE(blocks, all.loaded().blocks + 5 * 2 * 4) << "only what lies on the borders is read twice";
}

TEST(WarmUp, ADamagedBlockEndsIt) {
  const WrittenFile written = write_cells(small_blocks(), many_cells());
  std::string damaged = written.bytes;
  damaged[damaged.size() / 2] ^= 1;
  const auto cache = make_cache(64 << 20);
  const auto file = open_with(damaged, cache);
  WarmUp all(*file, {.parts = kAll});
  const Status status = all.run(kAlways);
  EXPECT_TRUE(status.is(Code::kCorruption)) << status.to_text();
  EXPECT_NE(status.to_text().find("warm: offset "), std::string::npos) << status.to_text();
  EXPECT_TRUE(all.done());
  EXPECT_TRUE(all.run(kAlways).ok()) << "it is over";
}

// Two data blocks that have changed places: their sums hold.
TEST(WarmUp, ABlockInAnothersPlaceIsNotTaken) {
  HFileWriterOptions options = small_blocks();
  options.index_chunk_bytes = 131072;
  const WrittenFile written = write_cells(options, many_cells());
  const auto sound = open_with(written.bytes, nullptr);
  IndexCursor at(sound->parts().index.get());
  struct Place {
    uint64_t offset = 0;
    uint32_t bytes = 0;
    std::string key;  // as the index has it
  };
  std::vector<Place> places;
  for (Status moved = at.to_first(nullptr); moved.ok() && at.valid(); moved = at.next(nullptr))
    places.push_back({at.offset(), at.disk_bytes(), std::string(at.key().key_bytes())});
  size_t other = 11;
  while (other < places.size() && places[other].bytes != places[10].bytes) ++other;
  ASSERT_LT(other, places.size());
  std::string swapped = written.bytes;
  std::swap_ranges(swapped.begin() + static_cast<std::ptrdiff_t>(places[10].offset),
                   swapped.begin() + static_cast<std::ptrdiff_t>(places[10].offset + places[10].bytes),
                   swapped.begin() + static_cast<std::ptrdiff_t>(places[other].offset));
  const auto cache = make_cache(64 << 20);
  const auto file = open_with(swapped, cache);
  WarmUp all(*file, {.parts = kAll});
  const Status status = all.run(kAlways);
  EXPECT_TRUE(status.is(Code::kCorruption)) << status.to_text();
  EXPECT_NE(status.to_text().find("first cell"), std::string::npos) << status.to_text();
  EXPECT_EQ(cache->stats().blocks, 10u) << "those before it";
  for (int round = 0; round < 2; ++round) {
    const auto cursor = file->cursor({});
    CellView target;
    ASSERT_TRUE(parse_flat_key(places[10].key.data(), places[10].key.size(), target));
    EXPECT_EQ(cursor->seek(target), nullptr);
    EXPECT_TRUE(cursor->status().is(Code::kCorruption)) << "a read does not leave it in the cache either";
    EXPECT_EQ(cache->stats().inserts, 10u) << "not even until it is checked: others would trust it";
  }
}

TEST(WarmUp, FilesOfOthersAreReadAsCursorsReadThem) {
  size_t files = 0;
  for (const FixtureFile& fixture : all_fixtures()) {
    SCOPED_TRACE(fixture.hfile);
    const std::string bytes = read_test_file(fixture.hfile);
    HFileReaderOptions options;
    options.cache = make_cache(64 << 20);
    const auto file = HFileReader::open(std::make_unique<ViewFile>(bytes), std::move(options));
    if (!file.ok()) continue;
    const auto walk = [&](ReadStats& stats) {
      const auto cursor = (*file)->cursor({.fill_cache = false, .sequential = false, .stats = &stats});
      OwnedCell first;
      first_of_row(first, {});
      for (const CellView* cell = cursor->seek(first.view()); cell != nullptr; cell = cursor->next()) {
      }
      return cursor->status();
    };
    ReadStats cold;
    const Status readable = walk(cold);
    WarmUp all(**file, {.parts = {.data = true, .index = true}});
    const Status status = all.run(kAlways);
    EXPECT_TRUE(status.ok() || !readable.ok()) << status.to_text();
    ReadStats warm;
    EXPECT_EQ(walk(warm).code(), readable.code()) << "damage within a block is found as before";
    if (!readable.ok()) continue;
    EXPECT_EQ(warm.blocks_from_disk, 0u);
    ++files;
  }
  EXPECT_GE(files, 20u);
}

}  // namespace
}  // namespace cellar::testing
