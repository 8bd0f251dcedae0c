// ResumeJob: manifest first, then files, then the log.
#include "engine/jobs/resume_job.h"

#include <algorithm>

#include "base/assert.h"
#include "engine/jobs/background.h"
#include "engine/jobs/feeds.h"
#include "engine/write/write_path.h"

namespace cellar {

Status ResumeJob::run() {
  CELLAR_ASSERT(written_.empty() && core_.wal != nullptr);  // used once
  // Also ends a failure of the manifest that refuses no writes.
  CELLAR_TRY(core_.manifest->resume().with_context("resuming"));
  if (!core_.wal->health().ok()) CELLAR_TRY(renew_log().with_context("resuming"));
  core_.health.clear();
  core_.log(LogLevel::kInfo, "writes are accepted again");
  return {};
}

// A crash before the edit leaves the old log, and files that nothing names; after it, the new log.
Status ResumeJob::renew_log() {
  CELLAR_ASSERT(!core_.wal->health().ok());
  for (const auto& store : core_.catalog.stores()) {
    background_.claim_flush(*store);
    write_path_.freeze(*store);
    written_.push_back({store, store->view(), {}});
  }
  Status status = write_memory();
  if (status.ok()) status = core_.wal->restart();
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
  const OpenReadPoints points = core_.mvcc.open_read_points();
  for (Written& each : written_) {
    if (each.view->frozen.empty()) continue;
    CELLAR_TRY_ASSIGN(each.made, write_memtables(core_, *each.store, each.view->frozen, points));
  }
  return {};
}

Status ResumeJob::publish() {
  ManifestEdit edit;
  for (const Written& each : written_) {
    const uint32_t family = each.store->ids().family;
    if (each.made.file != nullptr) edit.add_files.push_back({family, each.made.record});
    edit.flushed.push_back({family, core_.mvcc.read_point()});
  }
  edit.last_sequence = core_.mvcc.read_point();
  edit.log_start = core_.wal->current_segment();
  CELLAR_ASSERT(*edit.log_start > core_.manifest->current()->log_start);
  edit.log_synced = core_.wal->synced();
  edit.forget_obsolete = core_.remover.take_removed();
  // Feeds read the old log up to here; what the medium refuses to keep of it, they lose.
  const FeedBook feeds = core_.manifest->current()->feeds;
  const std::vector<LogSegment> segments = core_.wal->segments();
  const FeedRetention keep = retention_of(feeds, segments, *edit.log_start);
  edit.feeds = edit_of(feeds, keep);
  if (!edit.feeds.retain.empty()) {
    CELLAR_TRY_ASSIGN(const std::unique_ptr<Directory> wal, open_wal_directory(*core_.root, false));
    for (const LogSegment& segment : edit.feeds.retain)
      CELLAR_TRY(wal->sync_file(segment_name(segment.id)).with_context("keeping the log for feeds"));
  }
  const Status committed = core_.commit(edit);
  // The manifest does not say that the log begins here: it must take no record.
  if (!committed.ok()) core_.wal->seal(committed);
  return committed;
}

void ResumeJob::install() {
  background_.log_begins_at(core_.wal->current_segment());
  core_.mvcc.with_snapshots([&](const std::vector<uint64_t>& snapshots) {
    for (const Written& each : written_) {
      const Store::FlushInstalled installed = each.store->install_flush(
          each.view->frozen, each.made.rewritten, core_.mvcc.read_point(), snapshots);
      CELLAR_ASSERT(each.store->oldest_unflushed() == UINT64_MAX);
      core_.counters.views_kept += installed.views_kept;
      core_.memtable_bytes.fetch_sub(static_cast<int64_t>(installed.freed), std::memory_order_relaxed);
    }
  });
}

// Nothing names these files, unless an edit failed in a way that leaves that open.
void ResumeJob::remove_written() {
  if (core_.manifest->poisoned()) return;
  for (Written& each : written_) {
    if (each.made.file == nullptr) continue;
    each.made.file.reset();
    static_cast<void>(each.store->directory()->unlink(each.made.record.name).ok());  // else an orphan
  }
}

}  // namespace cellar
