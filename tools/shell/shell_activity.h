// ShellActivity: the flushes and compactions that an engine has begun and not ended.
#pragma once

#include <string>
#include <vector>

#include "base/mutex.h"
#include "cellar/events.h"

namespace cellar {

// Any thread may call any function.
class ShellActivity final : public EventListener {
 public:
  struct Work {
    std::string what;  // "flush", "compaction", "major compaction"
    std::string table;
    std::string family;
    size_t files = 0;  // that go in
    int64_t began_us = 0;
  };
  // The oldest first.
  std::vector<Work> running() const;

  // While it lives, another listener hears what this one does.
  class Forwarding {
   public:
    Forwarding(ShellActivity& activity, EventListener& to) : activity_(activity) {
      activity_.forward_to(&to);
    }
    ~Forwarding() { activity_.forward_to(nullptr); }
    Forwarding(const Forwarding&) = delete;
    Forwarding& operator=(const Forwarding&) = delete;

   private:
    ShellActivity& activity_;
  };

  void on_flush_begin(const FlushInfo& info) override;
  void on_flush_progress(const FlushInfo& info) override;
  void on_flush_end(const FlushInfo& info) override;
  void on_compaction_begin(const CompactionInfo& info) override;
  void on_compaction_progress(const CompactionInfo& info) override;
  void on_compaction_end(const CompactionInfo& info) override;
  void on_checkpoint_progress(const CheckpointInfo& info) override;

 private:
  void forward_to(EventListener* other);
  // The other listener must not take locks of the engine, nor call this one.
  template <class Info>
  void forward(void (EventListener::*event)(const Info&), const Info& info) {
    const MutexLock lock(mutex_);
    if (other_ != nullptr) (other_->*event)(info);
  }
  void begin(Work work);
  void end(const std::string& what, const std::string& table, const std::string& family);

  mutable Mutex mutex_;
  std::vector<Work> running_ CELLAR_GUARDED_BY(mutex_);
  EventListener* other_ CELLAR_GUARDED_BY(mutex_) = nullptr;
};

}  // namespace cellar
