// EventTap: hears an engine's events, counts them, keeps the newest, and passes all of them on.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "cellar/events.h"
#include "engine/store/operation_meter.h"

namespace cellar {

// The listener hears each event after it was counted, on the same thread and without a lock. Any thread.
class EventTap final : public EventListener {
 public:
  // Borrows all. `to` may be null: nobody else listens.
  EventTap(EventListener* to, OperationMeter& operations, Clock& clock)
      : to_(to), operations_(operations), clock_(clock) {}

  void on_flush_begin(const FlushInfo& info) override;
  void on_flush_end(const FlushInfo& info) override;
  void on_flush_progress(const FlushInfo& info) override;
  void on_compaction_begin(const CompactionInfo& info) override;
  void on_compaction_end(const CompactionInfo& info) override;
  void on_compaction_progress(const CompactionInfo& info) override;
  void on_checkpoint_progress(const CheckpointInfo& info) override;
  void on_ingested(const IngestInfo& info) override;
  void on_stall_begin(const std::string& reason) override;
  void on_stall_end(const std::string& reason, int64_t micros) override;
  void on_log_rolled(uint64_t segment, uint64_t bytes) override;
  void on_log_removed(uint64_t segment, uint64_t bytes) override;
  void on_feed_lost(const FeedInfo& info) override;
  void on_recovered(const RecoveryReport& report) override;
  void on_background_error(const Status& status) override;

  std::map<std::string, uint64_t> counts() const;
  // Returns the newest events, the oldest first, with the clock in milliseconds.
  std::vector<std::pair<int64_t, std::string>> newest() const;
  uint64_t bytes_compacted_from() const { return bytes_compacted_from_.load(std::memory_order_relaxed); }

 private:
  // In the order of kEventNames.
  enum class Kind : uint8_t {
    kFlush,
    kFlushFailed,
    kCompaction,
    kCompactionFailed,
    kFilesMoved,
    kFilesDropped,
    kIngest,
    kLogRolled,
    kLogRemoved,
    kFeedLost,
    kRecovery,
    kBackgroundError,
  };
  static constexpr size_t kKinds = 12;
  static constexpr size_t kNewest = 100;
  static const std::array<std::string_view, kKinds> kEventNames;

  void note(Kind kind, std::string text);

  EventListener* const to_;
  OperationMeter& operations_;
  Clock& clock_;
  std::atomic<uint64_t> bytes_compacted_from_{0};
  mutable Mutex mutex_;
  std::array<uint64_t, kKinds> counts_ CELLAR_GUARDED_BY(mutex_) = {};
  std::deque<std::pair<int64_t, std::string>> newest_ CELLAR_GUARDED_BY(mutex_);
};

}  // namespace cellar
