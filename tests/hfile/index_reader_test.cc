// Goal: index and filter blocks are believed only as far as they hold together, and searches land where a
// sorted list says. Method: blocks made by hand, with one thing wrong in each; searches against a plain list.
#include "hfile/block/index_reader.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/coding.h"
#include "base/random.h"
#include "cell/cell_key.h"
#include "hfile/block/bloom_reader.h"
#include "tests/hfile_support/writer_support.h"

namespace cellar::testing {
namespace {

struct Entry {
  uint64_t offset = 0;
  uint32_t disk_bytes = 100;
  std::string key;
};

std::string flat(std::string_view row, std::string_view qualifier = "q") {
  std::string key;
  append_flat_key(key, row, "f", qualifier, 1000, CellType::kPut);
  return key;
}

std::string root_payload(const std::vector<Entry>& entries) {
  std::string bytes;
  for (const Entry& entry : entries) {
    append_be64(bytes, entry.offset);
    append_be32(bytes, entry.disk_bytes);
    append_hadoop_vint(bytes, static_cast<int64_t>(entry.key.size()));
    bytes += entry.key;
  }
  return bytes;
}

std::string node_payload(const std::vector<Entry>& entries) {
  std::string bytes;
  append_be32(bytes, static_cast<uint32_t>(entries.size()));
  uint32_t at = 0;
  append_be32(bytes, at);
  for (const Entry& entry : entries) append_be32(bytes, at += 12 + static_cast<uint32_t>(entry.key.size()));
  for (const Entry& entry : entries) {
    append_be64(bytes, entry.offset);
    append_be32(bytes, entry.disk_bytes);
    bytes += entry.key;
  }
  return bytes;
}

IndexPlace root_place(uint32_t entries) {
  return {.offset = 100000,
          .children_are_data = true,
          .meta_order = false,
          .root_form = true,
          .entries = entries};
}
constexpr IndexPlace kNodePlace = {.offset = 100000, .children_are_data = true};

const std::vector<Entry> kSound = {{0, 100, flat("a")}, {100, 100, flat("b")}, {250, 50, flat("c")}};

TEST(IndexNodes, AreReadInBothForms) {
  for (const bool root : {true, false}) {
    const auto node = root ? IndexNode::parse(root_payload(kSound), root_place(3))
                           : IndexNode::parse(node_payload(kSound), kNodePlace);
    ASSERT_TRUE(node.ok()) << node.status().to_text();
    ASSERT_EQ((*node)->size(), 3u);
    EXPECT_EQ((*node)->key(1), flat("b"));
    EXPECT_EQ((*node)->child_offset(2), 250u);
    EXPECT_EQ((*node)->child_disk_bytes(2), 50u);
    EXPECT_FALSE((*node)->loose_keys());
  }
}

void expect_refused(std::string_view payload, const IndexPlace& place, const char* what) {
  const auto node = IndexNode::parse(payload, place);
  EXPECT_FALSE(node.ok()) << what;
  EXPECT_TRUE(node.ok() || node.status().is(Code::kCorruption)) << what;
}

TEST(IndexNodes, AreRefusedWhenTheyDoNotHoldTogether) {
  const std::string root = root_payload(kSound);
  expect_refused(root, root_place(2), "an entry too many");
  expect_refused(root, root_place(4), "an entry too few");
  expect_refused(root, root_place(UINT32_MAX), "a huge count");
  expect_refused(root + std::string(15, '\0'), root_place(3), "a middle key cut short");
  EXPECT_TRUE(IndexNode::parse(root + std::string(16, '\0'), root_place(3)).ok());
  for (size_t cut = 1; cut < root.size(); ++cut) expect_refused(root.substr(0, cut), root_place(3), "cut");
  const auto changed = [&](size_t i, const Entry& entry) {
    std::vector<Entry> entries = kSound;
    entries[i] = entry;
    expect_refused(root_payload(entries), root_place(3), "root");
    expect_refused(node_payload(entries), kNodePlace, "node");
  };
  changed(1, {50, 100, flat("b")});      // overlaps
  changed(1, {0, 100, flat("b")});       // the same block twice
  changed(2, {100000, 100, flat("c")});  // after its parent
  changed(2, {99990, 11, flat("c")});    // reaches into its parent
  changed(2, {UINT64_MAX, 100, flat("c")});
  changed(2, {250, 0, flat("c")});
  changed(2, {250, UINT32_MAX, flat("c")});
  changed(1, {100, 100, flat("d")});  // keys descend
  changed(1, {100, 100, "b"});        // no key
  changed(1, {100, 100, ""});
  changed(1, {100, 100, std::string("\x7f\xff", 2) + std::string(20, 'b')});  // a row longer than the key
  std::string node = node_payload(kSound);
  expect_refused("", kNodePlace, "no bytes");
  expect_refused(std::string(4, '\0'), kNodePlace, "no entries");
  for (const size_t at : {0u, 4u, 8u, 12u, 16u}) {
    for (const uint32_t value : {0u, 1u, 2u, 0x7fffffffu, 0x80000000u, 0xffffffffu}) {
      std::string bytes = node;
      store_be32(bytes.data() + at, value);
      if (bytes != node) expect_refused(bytes, kNodePlace, "table");
    }
  }
}

TEST(IndexNodes, FindTheLastKeyUpToATarget) {
  Random random(5);
  for (int round = 0; round < 200; ++round) {
    // Rows that share much, little or nothing, and many qualifiers of one row.
    const std::string stem(random.below(12), 'x');
    std::set<std::string> keys;
    const size_t count = 1 + random.below(40);
    while (keys.size() < count) {
      std::string row = stem;
      for (uint64_t i = random.below(11); i > 0; --i)
        row += static_cast<char>(random.one_in(4) ? 0 : random.below(256));
      if (row.empty()) row = "r";
      keys.insert(flat(row, std::string(random.below(3), static_cast<char>('a' + random.below(3)))));
    }
    std::vector<CellView> sorted;
    for (const std::string& key : keys) {
      CellView view;
      ASSERT_TRUE(parse_flat_key(key.data(), key.size(), view));
      sorted.push_back(view);
    }
    std::sort(sorted.begin(), sorted.end(),
              [](const CellView& a, const CellView& b) { return compare_keys(a, b) < 0; });
    std::vector<Entry> entries;
    for (const CellView& view : sorted)
      entries.push_back({entries.size() * 10, 10, std::string(view.key_bytes())});
    const auto node = IndexNode::parse(node_payload(entries), kNodePlace);
    ASSERT_TRUE(node.ok()) << node.status().to_text();
    for (int i = 0; i < 60; ++i) {
      const CellView& near = sorted[random.below(sorted.size())];
      std::string row(near.row());
      if (random.one_in(3)) row.push_back('\0');
      if (random.one_in(4)) row.pop_back();
      if (random.one_in(4) && !row.empty()) row.back() = static_cast<char>(random.next());
      OwnedCell target;
      random.one_in(2) ? first_of_row(target, row)
                       : target.assign(row, "f", near.qualifier(), 1000, CellType::kPut, 0);
      for (const bool strictly : {false, true}) {
        const auto expected = std::count_if(sorted.begin(), sorted.end(), [&](const CellView& each) {
          const std::strong_ordering order = compare_keys(each, target.view());
          return order < 0 || (order == 0 && !strictly);
        });
        ASSERT_EQ((*node)->count_up_to(target.view(), strictly), static_cast<uint32_t>(expected));
      }
    }
  }
}

TEST(IndexNodes, RowsAloneBoundTheirBlocksLoosely) {
  const auto node = IndexNode::parse(
      root_payload({{0, 100, std::string("\0\1a", 3)}, {100, 100, std::string("\0\1b", 3)}}), root_place(2));
  ASSERT_TRUE(node.ok()) << node.status().to_text();
  EXPECT_TRUE((*node)->row_only_keys());
  EXPECT_TRUE((*node)->loose_keys());
  EXPECT_EQ((*node)->key_view(1).row(), "b");
  OwnedCell target;
  target.assign("b", "f", "q", 1, CellType::kPut, 0);
  EXPECT_EQ((*node)->count_up_to(target.view(), true), 1u);  // "b" may begin in the block before
}

// A filter's meta block, and a file that holds one chunk.
struct BloomBlock {
  uint32_t version = 3;
  uint64_t bytes = 8;
  uint32_t hashes = 7;
  uint32_t hash = 1;
  uint64_t keys = 1;
  uint64_t keys_max = 1;
  uint32_t chunks = 1;
  std::string comparator = std::string(1, '\0');
  std::vector<Entry> index = {{0, 45, "a"}};

  std::string payload() const {
    std::string out;
    append_be32(out, version);
    append_be64(out, bytes);
    append_be32(out, hashes);
    append_be32(out, hash);
    append_be64(out, keys);
    append_be64(out, keys_max);
    append_be32(out, chunks);
    return out + comparator + root_payload(index);
  }
};

TEST(BloomReaders, RefuseWhatDoesNotHoldTogether) {
  const ViewFile file("");
  Trailer trailer;
  const BlockReader blocks(&file, trailer, nullptr, {.name = "test"});
  MemoryMeter meter(nullptr, 1000);
  const auto code = [&](const BloomBlock& block, bool flat_keys = false) {
    const auto bloom = BloomReader::parse(block.payload(), &blocks, &meter, 1000, flat_keys);
    return bloom.ok() ? Code::kOk : bloom.status().code();
  };
  EXPECT_EQ(code({}), Code::kOk);
  EXPECT_EQ(code({.version = 101}), Code::kNotSupported);
  EXPECT_EQ(code({.hashes = 33}), Code::kNotSupported);
  EXPECT_EQ(code({.hashes = 0}), Code::kNotSupported);
  EXPECT_EQ(code({.hash = 3}), Code::kNotSupported);
  EXPECT_EQ(code({.chunks = 2}), Code::kCorruption);
  EXPECT_EQ(code({.chunks = UINT32_MAX}), Code::kCorruption);
  EXPECT_EQ(code({.comparator = "\x7f"
                                "short"}),
            Code::kCorruption);
  EXPECT_EQ(code({.index = {{1000, 45, "a"}}}), Code::kCorruption);
  EXPECT_EQ(code({.index = {{990, 45, "a"}}}), Code::kCorruption);
  EXPECT_EQ(code({.chunks = 2, .index = {{0, 45, "b"}, {45, 45, "a"}}}), Code::kCorruption);
  EXPECT_EQ(code({}, true), Code::kCorruption);
  const std::string sound = BloomBlock().payload();
  for (size_t cut = 0; cut < sound.size(); ++cut) {
    EXPECT_FALSE(
        BloomReader::parse(std::string_view(sound).substr(0, cut), &blocks, &meter, 1000, false).ok())
        << cut;
  }
}

// A cap on memory is no damage: the code says so, the message names the cap.
TEST(FilesOverTheirMemory, AreRefusedByNameOfTheLimit) {
  const ViewFile file("");
  Trailer trailer;
  const BlockReader blocks(&file, trailer, nullptr, {.name = "test"});
  MemoryMeter meter(nullptr, 400);
  ASSERT_TRUE(meter.charge(128u << 20));
  EXPECT_FALSE(meter.charge(101)) << "128 MiB and a quarter of 400 bytes";
  const std::string root = root_payload(kSound);
  const auto index =
      IndexReader::open(&blocks, nullptr, &meter,
                        {.levels = 1, .load_on_open_offset = 100000, .root_entries = 3}, root, 100000);
  ASSERT_TRUE(index.status().is(Code::kLimit)) << index.status().to_text();
  EXPECT_NE(index.status().message().find("128 MiB"), std::string_view::npos) << index.status().to_text();
  BloomBlock many;
  many.chunks = 4;
  many.index = {{0, 45, "a"}, {45, 45, "b"}, {90, 45, "c"}, {135, 45, "d"}};
  const auto bloom = BloomReader::parse(many.payload(), &blocks, &meter, 1000, false);
  EXPECT_TRUE(bloom.status().is(Code::kLimit)) << bloom.status().to_text();
  EXPECT_TRUE(IndexNode::parse(std::string(33u << 20, 'x'), kNodePlace).status().is(Code::kLimit));
}

TEST(BloomReaders, AnswerPerhapsWhenAChunkCannotBeRead) {
  const ViewFile file("");
  Trailer trailer;
  const BlockReader blocks(&file, trailer, nullptr, {.name = "test"});
  MemoryMeter meter(nullptr, 1000);
  const auto bloom = BloomReader::parse(BloomBlock().payload(), &blocks, &meter, 1000, false).value();
  EXPECT_TRUE(bloom->may_contain("b", nullptr));
  EXPECT_FALSE(bloom->test("b", nullptr).ok());
  EXPECT_FALSE(bloom->may_contain("A", nullptr));  // before the first chunk: no chunk is asked
}

}  // namespace
}  // namespace cellar::testing
