// LogFiles: a writer removes segments oldest first, so the oldest ones are held open.
#include "engine/log/log_files.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "engine/log/directory.h"

namespace cellar {
namespace {

// A log of tiny segments may have more of them than a process may hold open.
constexpr size_t kHeldMax = 64;

}  // namespace

Status LogFiles::hold(uint64_t first) {
  CELLAR_ASSERT(!is_held_ && held_.empty());
  CELLAR_TRY_ASSIGN(ids_, list_segments(wal_));
  is_held_ = true;
  for (const uint64_t id : ids_) {
    if (id < first) continue;
    if (held_.size() == kHeldMax) break;
    CELLAR_TRY_ASSIGN(std::shared_ptr<ReadableFile> file, wal_.open(segment_name(id)));
    held_.emplace(id, std::move(file));
  }
  return {};
}

Result<std::vector<uint64_t>> LogFiles::list() const {
  if (is_held_) return ids_;
  return list_segments(wal_);
}

// A file that is opened anew has the size that the writer has given it meanwhile.
Result<std::shared_ptr<ReadableFile>> LogFiles::open(uint64_t id) const {
  auto opened = wal_.open(segment_name(id));
  const auto held = held_.find(id);
  if (opened.status().is(Code::kNotFound) && held != held_.end()) return held->second;
  CELLAR_TRY(opened.status());
  return std::shared_ptr<ReadableFile>(std::move(opened).value());
}

Result<bool> LogFiles::has_grown_to(uint64_t id) const {
  if (!is_held_) return false;
  CELLAR_TRY_ASSIGN(const std::vector<uint64_t> now, list_segments(wal_));
  CELLAR_ASSERT(std::ranges::is_sorted(now));
  return !now.empty() && now.back() >= id;
}

}  // namespace cellar
