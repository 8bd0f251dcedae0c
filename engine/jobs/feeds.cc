// Feeds: each change of them is one edit of the manifest.
#include "engine/jobs/feeds.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/assert.h"
#include "base/bytes.h"
#include "base/plugins.h"
#include "engine/schema/names.h"
#include "engine/store/table_state.h"

namespace cellar {
namespace {

// Returns ok if the table and its families exist. A misspelt name would make a feed that gives nothing.
Status check_table(const Catalog& catalog, const std::string& name,
                   const std::vector<std::string>& families) {
  CELLAR_TRY_ASSIGN(const std::shared_ptr<TableState> table, catalog.find(name));
  for (const std::string& family : families)
    if (table->families().find(family) == nullptr) return table->unknown_family(family);
  return {};
}

}  // namespace

Status check_feed(const World& world, const Catalog& catalog, const std::string& name,
                  const FeedOptions& options) {
  CELLAR_TRY(check_name("feed", name));
  if (options.retained_bytes_max < world.options.log_segment_bytes)
    return Status::invalid_argument(
               fmt::format("retained_bytes_max is {}, less than a segment of the log ({} bytes)",
                           options.retained_bytes_max, world.options.log_segment_bytes))
        .hinting("the log is kept in whole segments: leave room for several");
  for (const auto& [table, families] : options.tables) CELLAR_TRY(check_table(catalog, table, families));
  return {};
}

// The edit records the read point: no crash may give out again a sequence that the feed begins after.
Status create_feed_now(Disk& disk, uint64_t read_point, const std::string& name, const FeedOptions& options) {
  CELLAR_ASSERT(!name.empty());  // check_feed() was asked
  const std::shared_ptr<const ManifestState> state = disk.manifest->current();
  if (state->feeds.named(name) != nullptr)
    return Status::invalid_argument("feed " + name + " exists already")
        .hinting("drop it first to create it again");
  FeedRecord feed;
  feed.id = state->edit + 1;  // edits are never fewer when the next feed is made
  feed.name = name;
  feed.acknowledged = read_point;
  feed.retained_bytes_max = std::min(options.retained_bytes_max, kCountMax - 1);  // no log is so large
  feed.tables = options.tables;
  CELLAR_ASSERT(state->feeds.feed(feed.id) == nullptr);  // an id is never used again
  ManifestEdit edit;
  edit.last_sequence = feed.acknowledged;
  edit.feeds.add.push_back(std::move(feed));
  return disk.commit(edit);
}

Status drop_feed_now(Disk& disk, const std::string& name) {
  const std::shared_ptr<const ManifestState> state = disk.manifest->current();
  const FeedRecord* feed = state->feeds.named(name);
  if (feed == nullptr) return no_such_feed(state->feeds, name);
  ManifestEdit edit;
  edit.feeds.drop.push_back(feed->id);
  return disk.commit(edit);
}

std::vector<FeedInfo> list_feeds(const Disk& disk) {
  const std::vector<LogSegment> segments = disk.log_segments();
  const std::shared_ptr<const ManifestState> state = disk.manifest->current();
  std::vector<FeedInfo> feeds;
  for (const FeedRecord& feed : state->feeds.feeds) {
    const uint64_t held = held_back(state->feeds, feed, segments, state->log_start);
    CELLAR_ASSERT(held == 0 || !feed.lost);  // a lost feed holds back nothing
    feeds.push_back({feed.name, feed.tables, feed.acknowledged, held, feed.retained_bytes_max, feed.lost});
  }
  return feeds;
}

Status no_such_feed(const FeedBook& feeds, const std::string& name) {
  std::vector<std::string> names;
  for (const FeedRecord& each : feeds.feeds) names.push_back(each.name);
  return Status::not_found("the store has no feed \"" + escaped(name) + "\"")
      .hinting(nearest_hint(name, names));
}

Status feed_was_lost(const FeedRecord& feed) {
  CELLAR_ASSERT(feed.lost);
  return Status::limit(
             fmt::format("feed {} is lost: it held back more than {} bytes of log and was cut off; it misses "
                         "writes after sequence {}",
                         feed.name, feed.retained_bytes_max, feed.acknowledged))
      .hinting("drop it, create it again, and start from a snapshot");
}

void tell_feed_lost(const World& world, Mvcc& mvcc, const FeedRecord& feed, uint64_t retained_bytes) {
  CELLAR_ASSERT(feed.id != 0 && !feed.lost);
  world.log(LogLevel::kWarning,
            fmt::format("feed {} is lost: it held back {} bytes of the log, and its limit is {}; it was "
                        "acknowledged up to sequence {}",
                        feed.name, retained_bytes, feed.retained_bytes_max, feed.acknowledged));
  FeedInfo info;
  info.name = feed.name;
  info.acknowledged = feed.acknowledged;
  info.retained_bytes = retained_bytes;
  info.retained_bytes_max = feed.retained_bytes_max;
  info.lost = true;
  world.events.on_feed_lost(info);
  mvcc.wake_waiters();
}

}  // namespace cellar
