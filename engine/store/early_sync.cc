// EarlySync: the file, and the stage of the one early sync that may be on its way.
#include "engine/store/early_sync.h"

#include <atomic>
#include <utility>

#include "base/assert.h"
#include "base/mutex.h"

namespace cellar {

struct EarlySync::Shared {
  enum class Stage : uint8_t { kIdle, kAskedFor, kRunning, kOver };

  Shared(std::unique_ptr<WritableFile> given, std::unique_ptr<Event> event)
      : file(std::move(given)), changed(std::move(event)) {}

  // Returns whether the stage was `from`. It is then `to`.
  bool move(Stage from, Stage to) { return stage.compare_exchange_strong(from, to); }

  std::unique_ptr<WritableFile> file;    // null after the end
  const std::unique_ptr<Event> changed;  // an early sync is over
  std::atomic<Stage> stage{Stage::kIdle};
  Status failure;  // set before the stage is kOver, by the thread that syncs
};

EarlySync::EarlySync(std::unique_ptr<WritableFile> file, Executor& executor, uint64_t bytes)
    : shared_(std::make_shared<Shared>(std::move(file), executor.make_event())),
      executor_(executor),
      bytes_(bytes) {
  CELLAR_ASSERT(shared_->file != nullptr && bytes_ > 0);
}

// The file may not outlive the file system. A job that has not begun keeps the rest alone.
EarlySync::~EarlySync() {
  static_cast<void>(finish_sync());
  shared_->file.reset();
}

// A job that begins after the file was closed, or after a later sync, finds nothing to do.
void EarlySync::begin_sync() {
  CELLAR_ASSERT(shared_->stage == Shared::Stage::kIdle);
  asked_ = size();
  shared_->stage = Shared::Stage::kAskedFor;
  executor_.submit(JobPriority::kHigh, [shared = shared_] {
    if (!shared->move(Shared::Stage::kAskedFor, Shared::Stage::kRunning)) return;
    shared->failure = shared->file->sync();
    shared->stage = Shared::Stage::kOver;
    shared->changed->signal();
  });
}

Status EarlySync::finish_sync() {
  CELLAR_ASSERT(mutexes_held() == 0);
  if (shared_->move(Shared::Stage::kAskedFor, Shared::Stage::kIdle)) return shared_->failure;
  while (true) {
    const uint64_t seen = shared_->changed->count();
    if (shared_->stage != Shared::Stage::kRunning) break;
    shared_->changed->wait(seen, -1);
  }
  if (shared_->failure.ok()) shared_->stage = Shared::Stage::kIdle;
  return shared_->failure;
}

Status EarlySync::append(std::string_view bytes) {
  const bool idle = shared_->stage != Shared::Stage::kAskedFor && shared_->stage != Shared::Stage::kRunning;
  if (idle) CELLAR_TRY(finish_sync());
  CELLAR_TRY(shared_->file->append(bytes));
  if (idle && size() - asked_ >= bytes_) begin_sync();
  return {};
}

Status EarlySync::sync() {
  CELLAR_TRY(finish_sync());
  return shared_->file->sync();
}

uint64_t EarlySync::size() const { return shared_->file->size(); }

Status EarlySync::close() {
  CELLAR_TRY(finish_sync());
  return shared_->file->close();
}

}  // namespace cellar
