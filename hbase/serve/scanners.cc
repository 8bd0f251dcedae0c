// Keeps scanners between the calls of their clients.
#include "hbase/serve/scanners.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "base/assert.h"
#include "cellar/environment.h"

namespace cellar::hbase::serve {
namespace {

int64_t now_ms() { return system_clock().steady_us() / 1000; }

}  // namespace

Result<uint64_t> ScannerTable::reserve() {
  const MutexLock lock(mutex_);
  if (sessions_.size() >= most_)
    return Status::busy(fmt::format("{} scanners are open, which is the limit", most_))
        .hinting("close scanners that are not used; their lease ends after a minute");
  const uint64_t id = next_id_++;
  sessions_.emplace(id, nullptr);
  return id;
}

std::unique_ptr<ScanSession> ScannerTable::take(uint64_t id) {
  const MutexLock lock(mutex_);
  const auto found = sessions_.find(id);
  if (found == sessions_.end()) return nullptr;
  return std::exchange(found->second, nullptr);
}

void ScannerTable::put_back(uint64_t id, std::unique_ptr<ScanSession> session) {
  CELLAR_ASSERT(session != nullptr);
  session->last_use_ms = now_ms();
  const MutexLock lock(mutex_);
  const auto found = sessions_.find(id);
  CELLAR_ASSERT(found != sessions_.end());
  found->second = std::move(session);
}

void ScannerTable::release(uint64_t id) {
  const MutexLock lock(mutex_);
  const auto found = sessions_.find(id);
  CELLAR_ASSERT(found != sessions_.end() && found->second == nullptr);
  sessions_.erase(found);
}

size_t ScannerTable::close_expired() {
  std::vector<std::unique_ptr<ScanSession>> expired;  // destroyed without the lock
  const int64_t now = now_ms();
  const MutexLock lock(mutex_);
  for (auto at = sessions_.begin(); at != sessions_.end();) {
    if (at->second != nullptr && now - at->second->last_use_ms > lease_ms_) {
      expired.push_back(std::move(at->second));
      at = sessions_.erase(at);
    } else {
      ++at;
    }
  }
  return expired.size();
}

void ScannerTable::close_all() {
  std::vector<std::unique_ptr<ScanSession>> all;
  const MutexLock lock(mutex_);
  for (auto at = sessions_.begin(); at != sessions_.end();) {
    if (at->second == nullptr) {
      ++at;
      continue;
    }
    all.push_back(std::move(at->second));
    at = sessions_.erase(at);
  }
}

size_t ScannerTable::open() {
  const MutexLock lock(mutex_);
  return sessions_.size();
}

}  // namespace cellar::hbase::serve
