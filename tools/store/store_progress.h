// StoreProgress: how far flushes, compactions and checkpoints of an open store are, at a terminal.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "base/mutex.h"
#include "cellar/events.h"
#include "tools/frame/progress.h"

namespace cellar {

// Listens to an engine, and draws a line of progress while watch() waits for it. Events come from any thread.
class StoreProgress final : public EventListener {
 public:
  // `what` stands in the line: "compact".
  StoreProgress(const Session& session, std::string what);
  ~StoreProgress() override;

  // Runs `work`, which waits for the engine and prints nothing, and draws meanwhile.
  template <class Work>
  auto watch(Work work) {
    const Watch watching(*this);
    return work();
  }

  void on_flush_begin(const FlushInfo& info) override;
  void on_flush_progress(const FlushInfo& info) override;
  void on_flush_end(const FlushInfo& info) override;
  void on_compaction_begin(const CompactionInfo& info) override;
  void on_compaction_progress(const CompactionInfo& info) override;
  void on_compaction_end(const CompactionInfo& info) override;
  void on_checkpoint_progress(const CheckpointInfo& info) override;

 private:
  struct Ticker;
  class Watch {
   public:
    explicit Watch(StoreProgress& progress) : progress_(progress) { progress_.begin(); }
    ~Watch() { progress_.end(); }

   private:
    StoreProgress& progress_;
  };
  // One family's flush or compaction.
  struct Work {
    uint64_t cells_in = 0;
    uint64_t cells_done = 0;
  };

  void begin();
  void end();
  // Returns the line as of now.
  Progress::Figures figures() const;
  void set(const std::string& name, uint64_t cells_in, uint64_t cells_done);
  void finish(const std::string& name, uint64_t cells_in);

  const Session& session_;
  const std::string what_;
  mutable Mutex mutex_;
  std::map<std::string, Work> works_ CELLAR_GUARDED_BY(mutex_);
  uint64_t cells_finished_ CELLAR_GUARDED_BY(mutex_) = 0;
  CheckpointInfo checkpoint_ CELLAR_GUARDED_BY(mutex_);
  std::unique_ptr<Ticker> ticker_;
};

}  // namespace cellar
