// Feeds: each change of them is one edit of the manifest.
#include "engine/jobs/feeds.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/bytes.h"
#include "base/plugins.h"
#include "engine/schema/names.h"
#include "engine/store/table_state.h"

namespace cellar {
namespace {

// There now: a name that is wrong by a letter would give a feed of nothing.
Status check_table(EngineCore& core, const FeedTable& wanted) {
  CELLAR_TRY_ASSIGN(const std::shared_ptr<TableState> table, core.catalog.find(wanted.table));
  for (const std::string& family : wanted.families)
    if (table->families().find(family) == nullptr) return table->unknown_family(family);
  return {};
}

}  // namespace

Status check_feed(EngineCore& core, const std::string& name, const FeedOptions& options) {
  CELLAR_TRY(check_name("feed", name));
  if (options.retained_bytes_max < core.options.log_segment_bytes)
    return Status::invalid_argument(
               fmt::format("retained_bytes_max is {}, less than a segment of the log ({} bytes)",
                           options.retained_bytes_max, core.options.log_segment_bytes))
        .hinting("the log is kept by whole segments: allow for several");
  std::set<std::string> seen;
  for (const FeedTable& table : options.tables) {
    if (!seen.insert(table.table).second)
      return Status::invalid_argument("table " + escaped(table.table) + " is named twice")
          .hinting("name it once, with all its families");
    CELLAR_TRY(check_table(core, table));
  }
  return {};
}

// No crash may give out again a sequence that it begins behind.
Status create_feed_now(EngineCore& core, const std::string& name, const FeedOptions& options) {
  const std::shared_ptr<const ManifestState> state = core.manifest->current();
  if (state->feeds.named(name) != nullptr)
    return Status::invalid_argument("feed " + name + " exists already").hinting("drop it to start anew");
  FeedRecord feed;
  feed.id = state->edit + 1;  // edits are never fewer when the next feed is made
  feed.name = name;
  feed.acknowledged = core.mvcc.read_point();
  feed.retained_bytes_max = options.retained_bytes_max;
  feed.tables = options.tables;
  ManifestEdit edit;
  edit.last_sequence = feed.acknowledged;
  edit.feeds.add.push_back(std::move(feed));
  return core.commit(edit);
}

Status drop_feed_now(EngineCore& core, const std::string& name) {
  const std::shared_ptr<const ManifestState> state = core.manifest->current();
  const FeedRecord* feed = state->feeds.named(name);
  if (feed == nullptr) return no_such_feed(state->feeds, name);
  ManifestEdit edit;
  edit.feeds.drop.push_back(feed->id);
  return core.commit(edit);
}

std::vector<FeedInfo> list_feeds(EngineCore& core) {
  const std::vector<LogSegment> segments = core.log_segments();
  const std::shared_ptr<const ManifestState> state = core.manifest->current();
  std::vector<FeedInfo> feeds;
  for (const FeedRecord& feed : state->feeds.feeds) {
    const uint64_t held = held_back(state->feeds, feed, segments, state->log_start);
    feeds.push_back({feed.name, feed.tables, feed.acknowledged, held, feed.retained_bytes_max, feed.lost});
  }
  return feeds;
}

Status no_such_feed(const FeedBook& feeds, const std::string& name) {
  std::vector<std::string> names;
  for (const FeedRecord& each : feeds.feeds) names.push_back(each.name);
  return Status::not_found("there is no feed \"" + escaped(name) + "\"").hinting(nearest_hint(name, names));
}

Status feed_was_lost(const FeedRecord& feed) {
  return Status::limit(
             fmt::format("feed {} is lost: it held back more than {} bytes of log and was cut off; writes "
                         "behind sequence {} are missing in it",
                         feed.name, feed.retained_bytes_max, feed.acknowledged))
      .hinting("drop it, create it anew, and start from a snapshot");
}

void tell_feed_lost(EngineCore& core, const FeedRecord& feed, uint64_t retained_bytes) {
  core.log(LogLevel::kWarning,
           fmt::format("feed {} is lost: it held back {} bytes of the log, and its limit is {}; it was "
                       "acknowledged up to sequence {}",
                       feed.name, retained_bytes, feed.retained_bytes_max, feed.acknowledged));
  FeedInfo info;
  info.name = feed.name;
  info.acknowledged = feed.acknowledged;
  info.retained_bytes = retained_bytes;
  info.retained_bytes_max = feed.retained_bytes_max;
  info.lost = true;
  core.events.on_feed_lost(info);
  core.written->signal();
}

}  // namespace cellar
