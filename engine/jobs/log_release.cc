// LogRelease: one edit of the manifest, and then the removal of segments.
#include "engine/jobs/log_release.h"

#include <algorithm>

#include "base/assert.h"
#include "engine/jobs/feeds.h"

namespace cellar {

// Segments that are kept only for feeds do not count: a flush does not release them.
uint64_t LogRelease::unflushed_segments() const {
  CELLAR_ASSERT(work_.disk.wal != nullptr);
  const std::vector<LogSegment> segments = work_.disk.wal->segments();
  const auto counts = [&](const LogSegment& each) { return each.id >= start_.load(); };
  return static_cast<uint64_t>(std::ranges::count_if(segments, counts));
}

void LogRelease::note_dropped(uint32_t family_id, uint64_t sequence) {
  MutexLock lock(dropped_mutex_);
  const bool added = dropped_.try_emplace(family_id, sequence).second;
  CELLAR_ASSERT(added && family_id != 0);  // ids are never used again
}

std::vector<uint32_t> LogRelease::not_mentioned_after(uint64_t released_up_to) {
  MutexLock lock(dropped_mutex_);
  std::vector<uint32_t> families;
  for (const auto& [family, sequence] : dropped_)
    if (sequence <= released_up_to) families.push_back(family);
  return families;
}

// One thread at a time, which also does what others ask for meanwhile.
void LogRelease::run() noexcept {
  ++wanted_;
  while (!running_.exchange(true)) {
    const uint64_t wanted = wanted_.load();
    run_once();
    running_.store(false);
    if (awaited_.load()) work_.activity.changed.signal();
    if (wanted_.load() == wanted) return;
  }
}

void LogRelease::hold() {
  CELLAR_ASSERT(mutexes_held() == 0);
  awaited_.store(true);
  while (true) {
    const uint64_t seen = work_.activity.changed.count();
    if (!running_.exchange(true)) return;
    work_.activity.changed.wait(seen, -1);
  }
}

void LogRelease::let_go() {
  CELLAR_ASSERT(running_.load());
  awaited_.store(false);
  running_.store(false);
}

void LogRelease::run_once() {
  CELLAR_ASSERT(running_.load() && mutexes_held() == 0);
  // The read point first: what is at or below it is in the memtables, and seen there unless it has been
  // flushed.
  uint64_t bound = work_.mvcc.read_point();
  for (const auto& store : catalog_.stores())
    if (const uint64_t oldest = store->oldest_unflushed(); oldest != UINT64_MAX)
      bound = std::min(bound, oldest - 1);
  const uint64_t start = start_.load();
  const uint64_t needed = std::max(start, work_.disk.wal->needed_from(bound));
  const std::vector<LogSegment> segments = work_.disk.wal->segments();
  // A feed that is made from here on needs nothing up to the read point, hence nothing that is released now.
  const FeedBook feeds = work_.disk.manifest->current()->feeds;
  const FeedRetention keep = retention_of(feeds, segments, needed);
  CELLAR_ASSERT(!segments.empty() && keep.first <= needed && needed <= segments.back().id);
  if (needed == start && keep.lost.empty() && segments.front().id >= keep.first) return;
  ManifestEdit edit;
  edit.feeds = edit_of(feeds, keep);
  // The segments that the manifest keeps for feeds must not lose their ends. Therefore the log is synced
  // first.
  if (!edit.feeds.retain.empty() && !work_.disk.sync_log().ok()) return;
  uint64_t released_up_to = 0;
  for (const LogSegment& segment : segments)
    if (segment.id < needed) released_up_to = std::max(released_up_to, segment.last_sequence);
  edit.log_start = needed;
  edit.log_synced = work_.disk.wal->synced();
  edit.forget_dropped = not_mentioned_after(released_up_to);
  if (!work_.disk.commit(edit).ok()) return;
  start_.store(needed);
  {
    MutexLock lock(dropped_mutex_);
    for (const uint32_t family : edit.forget_dropped) dropped_.erase(family);
  }
  for (const FeedRecord& feed : keep.lost)
    tell_feed_lost(work_.world, work_.mvcc, feed, held_back(feeds, feed, segments, needed));
  const Status released =
      work_.disk.wal->release_before(keep.first);  // crash before: the next open removes them
  if (!released.ok())
    work_.world.log(LogLevel::kWarning, "old log segments remain until the next open: " + released.to_text());
}

}  // namespace cellar
