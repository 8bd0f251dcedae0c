// Goal: exactly the log segments that a feed needs are kept. A feed is cut off exactly when it holds back
// more than it may. Method: books and segments written down by hand.
#include "engine/manifest/feed_book.h"

#include <gtest/gtest.h>

namespace cellar {
namespace {

FeedRecord feed(uint64_t id, uint64_t acknowledged, uint64_t retained_bytes_max = 10'000) {
  return {id, "feed" + std::to_string(id), acknowledged, retained_bytes_max, false, {}};
}

std::vector<uint64_t> ids(const std::vector<LogSegment>& segments) {
  std::vector<uint64_t> all;
  for (const LogSegment& each : segments) all.push_back(each.id);
  return all;
}

const std::vector<LogSegment> kSegments = {{3, 1000, 10}, {4, 1000, 20}, {5, kFileHeaderBytes, 20},
                                           {6, 1000, 30}, {7, 1000, 40}, {8, 500, 45}};

TEST(FeedBook, WithoutFeedsNothingIsKept) {
  FeedBook book;
  EXPECT_EQ(retention_of(book, kSegments, 7).first, 7u);
  EXPECT_TRUE(retention_of(book, kSegments, 7).retained.empty());
  book.feeds = {feed(1, 0)};
  book.feeds[0].lost = true;
  EXPECT_EQ(retention_of(book, kSegments, 7).first, 7u);
}

TEST(FeedBook, KeepsFromTheFirstWriteThatIsNotAcknowledged) {
  FeedBook book;
  book.feeds = {feed(1, 20), feed(2, 45)};
  FeedRetention keep = retention_of(book, kSegments, 7);
  EXPECT_EQ(keep.first, 6u);
  EXPECT_EQ(ids(keep.retained), std::vector<uint64_t>{6});
  book.feeds[0].acknowledged = 19;  // the last write of segment 4 is missing
  keep = retention_of(book, kSegments, 7);
  EXPECT_EQ(keep.first, 4u);
  EXPECT_EQ(ids(keep.retained), (std::vector<uint64_t>{4, 6})) << "5 holds nothing";
  EXPECT_EQ(held_back(book, book.feeds[0], kSegments, 7), 2000u);
  EXPECT_EQ(held_back(book, book.feeds[1], kSegments, 7), 0u);
  book.feeds[0].acknowledged = 35;  // needs nothing below the start of the log
  EXPECT_EQ(retention_of(book, kSegments, 7).first, 7u);
}

TEST(FeedBook, CutsOffWhoHoldsBackTooMuch) {
  FeedBook book;
  book.feeds = {feed(1, 0, 2999), feed(2, 10, 2000)};
  FeedRetention keep = retention_of(book, kSegments, 7);
  ASSERT_EQ(keep.lost.size(), 1u);
  EXPECT_EQ(keep.lost[0].id, 1u);
  EXPECT_EQ(keep.first, 4u);
  ASSERT_TRUE(apply(book, edit_of(book, keep)).ok());
  EXPECT_TRUE(book.feeds[0].lost);
  EXPECT_EQ(ids(book.retained), (std::vector<uint64_t>{4, 6}));
  EXPECT_EQ(edit_of(book, retention_of(book, kSegments, 7)).retain.size(), 0u) << "each once";
  FeedEdit further;
  further.acknowledge = {{1, 100}, {2, 20}};
  ASSERT_TRUE(apply(book, further).ok());
  EXPECT_EQ(book.feeds[0].acknowledged, 0u) << "a lost feed says for ever where it was";
  EXPECT_EQ(edit_of(book, retention_of(book, kSegments, 7)).release_before, std::optional<uint64_t>(6));
}

TEST(FeedBook, ForgetsWhatAllHaveAcknowledged) {
  FeedBook book;
  book.feeds = {feed(1, 10), feed(2, 30)};
  book.dropped = {{7, "t", "f", 10}, {8, "t", "g", 11}};
  book.unlogged = {{9, 1, "a", 1, 1}, {20, 1, "b", 1, 1}};
  trim(book);
  EXPECT_EQ(book.dropped.size(), 1u);
  EXPECT_EQ(book.unlogged.size(), 1u);
  FeedEdit edit;
  edit.acknowledge = {{1, 5}, {1, 25}};
  ASSERT_TRUE(apply(book, edit).ok());
  EXPECT_TRUE(book.dropped.empty());
  EXPECT_TRUE(book.unlogged.empty());
  book.unlogged = {{40, 1, "c", 1, 1}};
  edit = {};
  edit.drop = {1, 2};
  ASSERT_TRUE(apply(book, edit).ok());
  EXPECT_TRUE(book.unlogged.empty()) << "nobody reads";
  EXPECT_FALSE(book.followed());
}

TEST(FeedBook, DroppedFamiliesCount) {
  FeedBook book;
  book.feeds = {feed(1, 10, 2000)};
  for (uint32_t id = 1; id <= 7; ++id) book.dropped.push_back({id, "t", "f", 10 + id});
  EXPECT_EQ(held_back(book, book.feeds[0], {}, 7), 7u * 256);
  EXPECT_TRUE(retention_of(book, {}, 7).lost.empty());
  book.dropped.push_back({8, "t", "f", 18});
  EXPECT_EQ(retention_of(book, {}, 7).lost.size(), 1u);
  book.feeds[0].acknowledged = 11;
  EXPECT_TRUE(retention_of(book, {}, 7).lost.empty()) << "the first one is known to its reader";
}

}  // namespace
}  // namespace cellar
