// Health: one failure, and a list of troubles by name.
#include "engine/store/health.h"

#include "base/assert.h"

namespace cellar {
namespace {

constexpr std::string_view kWriters = "writers";

}  // namespace

Status Health::check() const {
  if (!failed()) return {};
  MutexLock lock(mutex_);
  if (!failed_.load(std::memory_order_relaxed)) return {};
  CELLAR_ASSERT(!first_.ok());  // a failure has a reason
  return Status::with_code(first_.code() == Code::kNoSpace ? Code::kNoSpace : Code::kReadOnly,
                           "writes are refused since an earlier failure: " + std::string(first_.message()))
      .at(first_.place())
      .hinting(ends_ == Ends::kByResume
                   ? "fix the cause, then call Engine::resume(), or close the store and open it again"
                   : "fix the cause, close the store and open it again");
}

void Health::fail(const Status& status, Ends ends) {
  CELLAR_ASSERT(!status.ok());
  {
    MutexLock lock(mutex_);
    if (!remember(status, ends)) return;
  }
  tell(status);
}

bool Health::fail_since(uint64_t resumes, const Status& status) {
  CELLAR_ASSERT(!status.ok());
  {
    MutexLock lock(mutex_);
    CELLAR_ASSERT(resumes <= resumes_);
    if (resumes != resumes_) return false;
    if (!remember(status, Ends::kByResume)) return true;
  }
  tell(status);
  return true;
}

void Health::tell(const Status& status) {
  world_.log(LogLevel::kError, "writes are refused from now on: " + status.to_text());
  world_.events.on_background_error(status);
  changed_.signal();
}

// Returns whether this is the first failure.
bool Health::remember(const Status& status, Ends ends) {
  ++failures_;
  if (ends == Ends::kByReopen) ends_ = ends;
  if (failed_.load(std::memory_order_relaxed)) return false;
  first_ = status;
  ends_ = ends;
  failed_.store(true, std::memory_order_release);
  return true;
}

bool Health::resumable() const {
  MutexLock lock(mutex_);
  return ends_ == Ends::kByResume;
}

uint64_t Health::resumes() const {
  MutexLock lock(mutex_);
  return resumes_;
}

uint64_t Health::failures() const {
  MutexLock lock(mutex_);
  return failures_;
}

bool Health::clear(uint64_t failures) {
  MutexLock lock(mutex_);
  CELLAR_ASSERT(failures <= failures_);
  if (failures != failures_ || ends_ != Ends::kByResume) return false;
  ++resumes_;
  first_ = {};
  failed_.store(false, std::memory_order_release);
  return true;
}

void Health::begin(std::string_view what, const Status& status, int64_t now_ms, bool refuses) {
  CELLAR_ASSERT(!status.ok() && !what.empty());
  auto [at, is_new] = troubles_.try_emplace(std::string(what));
  Trouble& trouble = at->second;
  if (is_new) {
    trouble.what = what;
    trouble.since_ms = now_ms;
  }
  ++trouble.tries;
  trouble.status = status;
  trouble.writes_wait = refuses;
  trouble_count_.store(troubles_.size(), std::memory_order_relaxed);
}

bool Health::end(std::string_view what) {
  CELLAR_ASSERT(trouble_count_.load(std::memory_order_relaxed) == troubles_.size());
  const auto found = troubles_.find(what);
  if (found == troubles_.end()) return false;
  troubles_.erase(found);
  trouble_count_.store(troubles_.size(), std::memory_order_relaxed);
  return true;
}

void Health::trouble(std::string_view what, const Status& status, int64_t now_ms, bool refuses) {
  MutexLock lock(mutex_);
  begin(what, status, now_ms, refuses);
}

bool Health::over(std::string_view what) {
  if (trouble_count_.load(std::memory_order_relaxed) == 0) return false;
  MutexLock lock(mutex_);
  return end(what);
}

void Health::wait_begins(const std::string& reason, int64_t now_ms) {
  CELLAR_ASSERT(!reason.empty());
  MutexLock lock(mutex_);
  ++writers_waiting_;
  begin(kWriters, Status::busy("writes wait: " + reason), now_ms, true);
}

void Health::wait_ends() {
  MutexLock lock(mutex_);
  CELLAR_ASSERT(writers_waiting_ > 0);
  if (--writers_waiting_ == 0) static_cast<void>(end(kWriters));
}

std::vector<Trouble> Health::troubles() const {
  MutexLock lock(mutex_);
  std::vector<Trouble> all;
  for (const auto& [name, trouble] : troubles_) all.push_back(trouble);
  return all;
}

Status Health::summary() const {
  if (Status failure = check(); !failure.ok()) return failure;
  const std::vector<Trouble> all = troubles();
  const Trouble* worst = all.empty() ? nullptr : &all.front();
  for (const Trouble& each : all)
    if (each.writes_wait && !worst->writes_wait) worst = &each;
  return worst == nullptr ? Status() : worst->status.with_context(worst->what);
}

}  // namespace cellar
