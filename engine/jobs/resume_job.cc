// ResumeJob: manifest first, then files, then the log.
#include "engine/jobs/resume_job.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "engine/jobs/background.h"
#include "engine/jobs/feeds.h"
#include "engine/jobs/flush_job.h"
#include "engine/log/log_cut.h"
#include "engine/write/write_path.h"

namespace cellar {

Status ResumeJob::run() {
  CELLAR_ASSERT(written_.empty() && work_.disk.wal != nullptr);  // used once
  CELLAR_TRY(work_.disk.check_lock());  // another engine may have the store by now
  const uint64_t failures = work_.health.failures();
  // Also ends a failure of the manifest that refuses no writes.
  CELLAR_TRY(work_.disk.manifest->resume().with_context("resuming"));
  if (!work_.disk.wal->health().ok()) CELLAR_TRY(renew_log().with_context("resuming"));
  if (!work_.health.clear(failures)) return work_.health.check();
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
  edit.forget_obsolete = work_.files.take_removed();
  // Feeds read the old log up to here; what the medium refuses to keep of it, they lose.
  const FeedBook feeds = work_.disk.manifest->current()->feeds;
  const std::vector<LogSegment> segments = work_.disk.wal->segments();
  const FeedRetention keep = retention_of(feeds, segments, *edit.log_start);
  edit.feeds = edit_of(feeds, keep);
  if (!edit.feeds.retain.empty()) {
    CELLAR_TRY_ASSIGN(const std::unique_ptr<Directory> wal, open_wal_directory(*work_.disk.root, false));
    for (const LogSegment& segment : edit.feeds.retain)
      CELLAR_TRY(wal->sync_file(segment_name(segment.id)).with_context("keeping the log for feeds"));
  }
  const Status committed = work_.disk.commit(edit);
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

// Nothing names these files, unless an edit failed in a way that leaves that open.
void ResumeJob::remove_written() {
  if (work_.disk.manifest->poisoned()) return;
  for (Written& each : written_) {
    for (const auto& file : std::exchange(each.made.rewritten.outputs, {})) {
      const std::string name = file->record().name;
      static_cast<void>(each.store->directory()->unlink(name).ok());  // else an orphan
    }
  }
}

}  // namespace cellar
