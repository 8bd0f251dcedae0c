// Keeps the flushes and compactions that have begun until the hook of their end.
#include "tools/shell/shell_activity.h"

#include <algorithm>

#include "cellar/environment.h"

namespace cellar {
namespace {

std::string kind_of(const CompactionInfo& info) { return info.major ? "major compaction" : "compaction"; }

}  // namespace

std::vector<ShellActivity::Work> ShellActivity::running() const {
  const MutexLock lock(mutex_);
  return running_;
}

void ShellActivity::begin(Work work) {
  work.began_us = system_clock().steady_us();
  const MutexLock lock(mutex_);
  running_.push_back(std::move(work));
}

void ShellActivity::end(const std::string& what, const std::string& table, const std::string& family) {
  const MutexLock lock(mutex_);
  const auto found = std::ranges::find_if(running_, [&](const Work& work) {
    return work.what == what && work.table == table && work.family == family;
  });
  if (found != running_.end()) running_.erase(found);
}

void ShellActivity::forward_to(EventListener* other) {
  const MutexLock lock(mutex_);
  other_ = other;
}

void ShellActivity::on_flush_begin(const FlushInfo& info) {
  begin({.what = "flush", .table = info.table, .family = info.family});
  forward(&EventListener::on_flush_begin, info);
}
void ShellActivity::on_flush_progress(const FlushInfo& info) {
  forward(&EventListener::on_flush_progress, info);
}
void ShellActivity::on_flush_end(const FlushInfo& info) {
  end("flush", info.table, info.family);
  forward(&EventListener::on_flush_end, info);
}
void ShellActivity::on_compaction_begin(const CompactionInfo& info) {
  begin({.what = kind_of(info), .table = info.table, .family = info.family, .files = info.inputs.size()});
  forward(&EventListener::on_compaction_begin, info);
}
void ShellActivity::on_compaction_progress(const CompactionInfo& info) {
  forward(&EventListener::on_compaction_progress, info);
}
void ShellActivity::on_compaction_end(const CompactionInfo& info) {
  end(kind_of(info), info.table, info.family);
  forward(&EventListener::on_compaction_end, info);
}
void ShellActivity::on_checkpoint_progress(const CheckpointInfo& info) {
  forward(&EventListener::on_checkpoint_progress, info);
}

}  // namespace cellar
