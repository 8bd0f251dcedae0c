// ResumeJob: manifest first, then files, then the log.
#include "engine/jobs/resume_job.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "engine/jobs/background.h"
#include "engine/jobs/feeds.h"
#include "engine/jobs/flush_job.h"
#include "engine/log/log_cut.h"
#include "engine/store/file_copy.h"
#include "engine/write/write_path.h"

namespace cellar {

Status ResumeJob::run() {
  CELLAR_ASSERT(written_.empty() && work_.disk.wal != nullptr);  // used once
  CELLAR_TRY(work_.disk.check_lock());                           // another engine may have the store by now
  // Also ends a failure of the manifest that refuses no writes.
  CELLAR_TRY(work_.disk.manifest->resume().with_context("resuming"));
  if (!work_.disk.wal->health().ok()) {
    background_.log_release().hold();  // it changes what the manifest keeps of the log, too
    const Status renewed = renew_log();
    background_.log_release().let_go();
    CELLAR_TRY(renewed.with_context("resuming"));
  }
  // Other threads may tell of the failure even now. It is over if manifest and log work.
  while (true) {
    const uint64_t failures = work_.health.failures();
    if (work_.disk.manifest->poisoned() || !work_.disk.wal->health().ok() || !work_.health.resumable()) {
      CELLAR_TRY(work_.health.check());
      return Status::read_only("the manifest or the log has failed again")
          .hinting("call Engine::resume() again");
    }
    if (work_.health.clear(failures)) break;
  }
  work_.world.log(LogLevel::kInfo, "writes are accepted again");
  return {};
}

// A crash before the edit leaves the old log, and files that nothing names; after it, the new log.
Status ResumeJob::renew_log() {
  CELLAR_ASSERT(!work_.disk.wal->health().ok());
  for (const auto& store : catalog_.stores()) {
    background_.claim_flush(*store);
    write_path_.freeze(*store);
    written_.push_back({store, store->view(), {}});
  }
  std::vector<LogSegment> ends;
  Status status = write_memory();
  if (status.ok()) status = rewrite_unsynced();
  if (status.ok()) status = find_ends(ends);
  if (status.ok()) status = work_.disk.wal->restart(work_.mvcc.read_point(), ends);
  if (status.ok()) status = publish();
  if (status.ok()) {
    install();
  } else {
    remove_written();
  }
  for (const Written& each : written_) background_.end_flush(*each.store, status);
  return status;
}

Status ResumeJob::write_memory() {
  const OpenReadPoints points = work_.mvcc.open_read_points();
  for (Written& each : written_) {
    if (each.view->frozen.empty()) continue;
    CELLAR_TRY_ASSIGN(each.made, work_.writer.write_memtables(*each.store, each.view->frozen, points));
    each.made.rewritten.work = flush_totals(each.view->frozen, each.made);
  }
  return {};
}

// Feeds read the old log. A sync of these segments may have failed, and a second one would prove nothing.
// Each is therefore written anew, whole, because the next segment names its end. A crash leaves the old
// segment or the new one under its name, with the same records.
Status ResumeJob::rewrite_unsynced() {
  if (!work_.disk.manifest->current()->feeds.followed()) return {};
  CELLAR_TRY_ASSIGN(const std::unique_ptr<Directory> wal, open_wal_directory(*work_.disk.root, false));
  const uint64_t unsynced = work_.disk.wal->synced().segment;
  CELLAR_ASSERT(unsynced != 0 && unsynced <= work_.disk.wal->current_segment());
  for (const LogSegment& segment : work_.disk.wal->segments()) {
    if (segment.id < unsynced) continue;
    CELLAR_TRY(
        rewrite_file(work_.world.executor, *wal, segment_name(segment.id), segment_copy_name(segment.id))
            .with_context("keeping the log for feeds"));
  }
  return wal->sync();
}

// Feeds must not read writes that failed. Their records lie in the old log, after all that are visible.
Status ResumeJob::find_ends(std::vector<LogSegment>& ends) {
  CELLAR_ASSERT(ends.empty());
  if (!work_.disk.manifest->current()->feeds.followed()) return {};
  CELLAR_TRY_ASSIGN(const std::unique_ptr<Directory> wal, open_wal_directory(*work_.disk.root, false));
  for (const LogSegment& segment : work_.disk.wal->segments()) {
    CELLAR_TRY_ASSIGN(const LogSegment end,
                      cut_after(*wal, work_.disk.identity, segment, work_.mvcc.read_point()));
    ends.push_back(end);
  }
  return {};
}

Status ResumeJob::publish() {
  ManifestEdit edit;
  for (const Written& each : written_) {
    const uint32_t family = each.store->ids().family;
    for (ManifestEdit::FileChange& change : each.made.changes(*each.store))
      edit.add_files.push_back(std::move(change));
    edit.flushed.push_back({family, work_.mvcc.read_point()});
    if (!each.view->frozen.empty()) edit.work.push_back({family, each.made.rewritten.work});
  }
  edit.last_sequence = work_.mvcc.read_point();
  edit.log_start = work_.disk.wal->current_segment();
  CELLAR_ASSERT(*edit.log_start > work_.disk.manifest->current()->log_start);
  edit.log_synced = work_.disk.wal->synced();
  // Feeds read the old log up to here. Its segments are durable, see rewrite_unsynced().
  const FeedBook feeds = work_.disk.manifest->current()->feeds;
  const std::vector<LogSegment> segments = work_.disk.wal->segments();
  const FeedRetention keep = retention_of(feeds, segments, *edit.log_start);
  edit.feeds = edit_of(feeds, keep);
  const Status committed = work_.files.commit(edit);
  // The manifest does not say that the log begins here: it must take no record.
  if (!committed.ok()) work_.disk.wal->seal(committed);
  return committed;
}

void ResumeJob::install() {
  background_.log_release().begins_at(work_.disk.wal->current_segment());
  work_.mvcc.with_snapshots([&](const std::vector<uint64_t>& snapshots) {
    for (const Written& each : written_) {
      const Store::FlushInstalled installed = each.store->install_flush(
          each.view->frozen, each.made.rewritten, work_.mvcc.read_point(), snapshots);
      CELLAR_ASSERT(each.store->oldest_unflushed() == UINT64_MAX);
      work_.counters.views_kept += installed.views_kept;
      work_.memory.shrink(installed.freed);
    }
  });
}

// Nothing names these files. If an edit failed in a way that leaves that open, they stay until a later try
// succeeds.
void ResumeJob::remove_written() {
  const bool unknown = work_.disk.manifest->poisoned();
  for (Written& each : written_) {
    const auto directory = each.store->directory();
    for (const auto& file : std::exchange(each.made.rewritten.outputs, {})) {
      if (unknown || !directory.ok()) {
        file->set_obsolete();
      } else {
        static_cast<void>((*directory)->unlink(file->record().name).ok());  // else an orphan
      }
    }
  }
}

}  // namespace cellar
