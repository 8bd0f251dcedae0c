// ReplayHelper: batches of records that wait for a second thread.
#include "engine/jobs/replay_helper.h"

#include <string_view>
#include <utility>

#include "base/assert.h"

namespace cellar {
namespace {

constexpr size_t kBatchBytes = 64 << 10;  // some hundred records, far longer to insert than a thread to wake
constexpr size_t kBytesPerJob = 1 << 20;  // inserted, before the executor's other jobs have their turn

}  // namespace

ReplayHelper::ReplayHelper(Executor& executor, Insert insert)
    : insert_(std::move(insert)),
      work_(executor, {1, kBytesPerJob}, [this](Batch& batch) { return this->insert(batch); }) {}

// One batch may wait while the helper inserts another one. Records are the caller's until then.
Result<bool> ReplayHelper::offer(const LogRecord& record) {
  if (filling_.records.empty() && work_.bytes_left() > 0) return false;
  filling_.payloads.append(record.payload);
  filling_.records.push_back(record);
  filling_.sizes.push_back(record.payload.size());
  if (filling_.payloads.size() >= kBatchBytes) CELLAR_TRY(push());
  return true;
}

Status ReplayHelper::drain() {
  if (!filling_.records.empty()) CELLAR_TRY(push());
  return work_.drain();
}

Status ReplayHelper::push() {
  CELLAR_ASSERT(!filling_.records.empty() && filling_.records.size() == filling_.sizes.size());
  const size_t bytes = filling_.payloads.size() + 1;  // a batch counts, whatever its records hold
  return work_.push(std::exchange(filling_, {}), bytes);
}

Status ReplayHelper::insert(Batch& batch) const {
  CELLAR_ASSERT(batch.records.size() == batch.sizes.size());
  std::string_view rest = batch.payloads;
  for (size_t i = 0; i < batch.records.size(); ++i) {
    batch.records[i].payload = rest.substr(0, batch.sizes[i]);
    rest.remove_prefix(batch.sizes[i]);
    CELLAR_TRY(insert_(batch.records[i]));
  }
  return {};
}

}  // namespace cellar
