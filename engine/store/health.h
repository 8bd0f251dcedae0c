// Health: why writes are refused, and what goes wrong while they are taken.
#pragma once

#include <atomic>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/mutex.h"
#include "cellar/engine.h"
#include "cellar/environment.h"
#include "cellar/status.h"
#include "engine/store/world.h"

namespace cellar {

// Any thread. Two kinds of fault (docs/resumption.md has the table):
//  - A failure refuses writes until resume() or until the store is opened again. The state of the medium is
//    not known, and only a person knows whether the medium can be trusted.
//  - A trouble is a fault that is tried again by itself. It is listed from its first failure until it is
//    over.
class Health {
 public:
  // The action that ends a failure.
  enum class Ends : uint8_t { kByResume, kByReopen };

  // Borrows both. A failure is logged, told to the listener and signalled by `changed`.
  Health(const World& world, Event& changed) : world_(world), changed_(changed) {}

  // Ok, or kReadOnly (kNoSpace for a full disk) with the first failure as its reason.
  Status check() const;
  bool failed() const { return failed_.load(std::memory_order_acquire); }

  // Makes the engine read-only. The first failure is remembered, logged and told to the listener. A later
  // failure that only a reopen ends makes the first one so, too.
  void fail(const Status& status, Ends ends = Ends::kByResume);
  // Returns true if resume() can end the failure.
  bool resumable() const;
  // Returns how often a failure was over. A thread reads it, sees that a part has failed, and calls
  // fail_since(). The call does nothing, and returns false, if that failure is over meanwhile.
  uint64_t resumes() const;
  bool fail_since(uint64_t resumes, const Status& status);
  // Returns how often fail() was called.
  uint64_t failures() const;
  // The failure is over, unless fail() was called again since there were so many failures, or only a reopen
  // ends it. Returns whether it is.
  bool clear(uint64_t failures);

  // The trouble of this name begins, or is tried again in vain. `refuses`: writes wait for its end.
  void trouble(std::string_view what, const Status& status, int64_t now_ms, bool refuses = false);
  // It is over, if it was there; true if it was.
  bool over(std::string_view what);
  // A writer waits for room, or waits no longer: a trouble as long as one of them does.
  void wait_begins(const std::string& reason, int64_t now_ms);
  void wait_ends();
  // In the order of their names.
  std::vector<Trouble> troubles() const;
  // check(), else the status of a trouble that writes wait for, else of any trouble, else ok.
  Status summary() const;

 private:
  void tell(const Status& status);
  bool remember(const Status& status, Ends ends) CELLAR_REQUIRES(mutex_);
  void begin(std::string_view what, const Status& status, int64_t now_ms, bool refuses)
      CELLAR_REQUIRES(mutex_);
  bool end(std::string_view what) CELLAR_REQUIRES(mutex_);

  const World& world_;
  Event& changed_;
  std::atomic<bool> failed_{false};
  std::atomic<size_t> trouble_count_{0};
  mutable Mutex mutex_;
  Status first_ CELLAR_GUARDED_BY(mutex_);
  uint64_t failures_ CELLAR_GUARDED_BY(mutex_) = 0;
  uint64_t resumes_ CELLAR_GUARDED_BY(mutex_) = 0;
  uint64_t writers_waiting_ CELLAR_GUARDED_BY(mutex_) = 0;
  Ends ends_ CELLAR_GUARDED_BY(mutex_) = Ends::kByResume;
  std::map<std::string, Trouble, std::less<>> troubles_ CELLAR_GUARDED_BY(mutex_);
};

}  // namespace cellar
