// EarlySync: a queue of one sync, which only a thread of the executor takes on.
#include "engine/store/early_sync.h"

#include <utility>

#include "base/assert.h"

namespace cellar {

EarlySync::EarlySync(std::unique_ptr<WritableFile> file, Executor& executor, uint64_t bytes)
    : file_(std::move(file)),
      bytes_(bytes),
      syncs_(executor, {.worth_a_job = 1, .per_job = 1}, [this](Piece&) { return file_->sync(); }) {
  CELLAR_ASSERT(file_ != nullptr && bytes_ > 0);
}

EarlySync::~EarlySync() = default;

Status EarlySync::append(std::string_view bytes) {
  CELLAR_TRY(syncs_.failure());
  CELLAR_TRY(file_->append(bytes));
  if (size() - asked_ < bytes_ || !syncs_.is_idle()) return {};
  asked_ = size();
  return syncs_.push({}, 1);
}

Status EarlySync::sync() {
  CELLAR_TRY(syncs_.abandon());
  return file_->sync();
}

uint64_t EarlySync::size() const { return file_->size(); }

Status EarlySync::close() {
  CELLAR_TRY(syncs_.abandon());
  return file_->close();
}

}  // namespace cellar
