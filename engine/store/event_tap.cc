// EventTap: counts, then passes on.
#include "engine/store/event_tap.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/assert.h"
#include "base/bytes.h"

namespace cellar {
namespace {

uint64_t nanos_of(int64_t micros) { return static_cast<uint64_t>(std::max<int64_t>(0, micros)) * 1000; }

}  // namespace

const std::array<std::string_view, EventTap::kKinds> EventTap::kEventNames = {
    "flush",  "flush_failed", "compaction",  "compaction_failed", "files_moved", "files_dropped",
    "ingest", "log_rolled",   "log_removed", "feed_lost",         "recovery",    "background_error"};

void EventTap::note(Kind kind, std::string text) {
  CELLAR_ASSERT(mutexes_held() == 0 && static_cast<size_t>(kind) < kKinds);  // the listener may call back
  const int64_t now_ms = clock_.wall_ms();
  const MutexLock lock(mutex_);
  ++counts_[static_cast<size_t>(kind)];
  newest_.emplace_back(now_ms, std::move(text));
  if (newest_.size() > kNewest) newest_.pop_front();
}

std::map<std::string, uint64_t> EventTap::counts() const {
  const MutexLock lock(mutex_);
  std::map<std::string, uint64_t> counts;
  for (size_t i = 0; i < kKinds; ++i) counts.emplace(kEventNames[i], counts_[i]);
  CELLAR_ASSERT(counts.size() == kKinds);
  return counts;
}

std::vector<std::pair<int64_t, std::string>> EventTap::newest() const {
  const MutexLock lock(mutex_);
  CELLAR_ASSERT(newest_.size() <= kNewest);
  return {newest_.begin(), newest_.end()};
}

void EventTap::on_flush_begin(const FlushInfo& info) {
  CELLAR_ASSERT(mutexes_held() == 0);
  if (to_ != nullptr) to_->on_flush_begin(info);
}

void EventTap::on_flush_end(const FlushInfo& info) {
  operations_.note(Metered::kFlush, nanos_of(info.micros));
  note(info.status.ok() ? Kind::kFlush : Kind::kFlushFailed, to_text(info));
  if (to_ != nullptr) to_->on_flush_end(info);
}

void EventTap::on_flush_progress(const FlushInfo& info) {
  CELLAR_DCHECK(mutexes_held() == 0);
  if (to_ != nullptr) to_->on_flush_progress(info);
}

void EventTap::on_compaction_begin(const CompactionInfo& info) {
  CELLAR_ASSERT(mutexes_held() == 0);
  if (to_ != nullptr) to_->on_compaction_begin(info);
}

// Files that were moved or dropped were not read. A compaction that the close cuts off has not failed.
void EventTap::on_compaction_end(const CompactionInfo& info) {
  CELLAR_ASSERT(!(info.moved && info.dropped));
  if (info.status.is(Code::kAborted)) {
    if (to_ != nullptr) to_->on_compaction_end(info);
    return;
  }
  Kind kind = Kind::kCompaction;
  if (!info.status.ok()) {
    kind = Kind::kCompactionFailed;
  } else if (info.moved) {
    kind = Kind::kFilesMoved;
  } else if (info.dropped) {
    kind = Kind::kFilesDropped;
  } else {
    bytes_compacted_from_.fetch_add(info.bytes_in, std::memory_order_relaxed);
  }
  if (!info.moved && !info.dropped) operations_.note(Metered::kCompaction, nanos_of(info.micros));
  note(kind, to_text(info));
  if (to_ != nullptr) to_->on_compaction_end(info);
}

void EventTap::on_compaction_progress(const CompactionInfo& info) {
  CELLAR_DCHECK(mutexes_held() == 0);
  if (to_ != nullptr) to_->on_compaction_progress(info);
}

void EventTap::on_checkpoint_progress(const CheckpointInfo& info) {
  CELLAR_DCHECK(mutexes_held() == 0);
  if (to_ != nullptr) to_->on_checkpoint_progress(info);
}

void EventTap::on_ingested(const IngestInfo& info) {
  note(Kind::kIngest, to_text(info));
  if (to_ != nullptr) to_->on_ingested(info);
}

void EventTap::on_stall_begin(const std::string& reason) {
  CELLAR_ASSERT(mutexes_held() == 0 && !reason.empty());
  if (to_ != nullptr) to_->on_stall_begin(reason);
}

// The throttle counts stalls itself: it knows their cause.
void EventTap::on_stall_end(const std::string& reason, int64_t micros) {
  CELLAR_ASSERT(mutexes_held() == 0 && !reason.empty());
  if (to_ != nullptr) to_->on_stall_end(reason, micros);
}

void EventTap::on_log_rolled(uint64_t segment, uint64_t bytes) {
  note(Kind::kLogRolled, fmt::format("log segment {} is complete: {}", segment, human_bytes(bytes)));
  if (to_ != nullptr) to_->on_log_rolled(segment, bytes);
}

void EventTap::on_log_removed(uint64_t segment, uint64_t bytes) {
  note(Kind::kLogRemoved, fmt::format("log segment {} was removed: {}", segment, human_bytes(bytes)));
  if (to_ != nullptr) to_->on_log_removed(segment, bytes);
}

void EventTap::on_feed_lost(const FeedInfo& info) {
  note(Kind::kFeedLost, fmt::format("feed {} was cut off: it retained {} of log", escaped(info.name),
                                    human_bytes(info.retained_bytes)));
  if (to_ != nullptr) to_->on_feed_lost(info);
}

void EventTap::on_recovered(const RecoveryReport& report) {
  note(Kind::kRecovery, to_text(report));
  if (to_ != nullptr) to_->on_recovered(report);
}

void EventTap::on_background_error(const Status& status) {
  note(Kind::kBackgroundError, status.to_text());
  if (to_ != nullptr) to_->on_background_error(status);
}

}  // namespace cellar
