// Metrics of an engine: gathered from its parts, and written to a file.
#include "engine/engine_metrics.h"

#include <algorithm>
#include <string_view>

#include "base/assert.h"

namespace cellar {
namespace {

// The name of the trouble of a file that could not be written.
constexpr std::string_view kTrouble = "metrics file";
// The first bytes of each text.
constexpr std::string_view kBeginning = "# TYPE cellar_";

}  // namespace

Metrics metrics_of(EngineParts& parts, EngineStatus status) {
  Metrics metrics;
  metrics.status = std::move(status);
  for (const std::string& name : parts.catalog.names())
    if (const std::shared_ptr<TableState> table = parts.catalog.lookup(name); table != nullptr)
      metrics.tables.push_back(table->info());
  EngineMeter* const meter = parts.world.meter.get();
  if (meter == nullptr) return metrics;
  metrics.seconds = meter->seconds();
  metrics.operations = meter->operations.read();
  metrics.stalls = meter->stalls();
  metrics.bytes_written = meter->files.bytes_written();
  metrics.bytes_read = meter->files.bytes_read();
  metrics.bytes_compacted_from = meter->events.bytes_compacted_from();
  metrics.event_counts = meter->events.counts();
  metrics.events = meter->events.newest();
  CELLAR_ASSERT(metrics.operations.size() == kMeteredKinds && metrics.stalls.size() == kStallCauses);
  return metrics;
}

Status MetricsFile::find_directory() {
  const std::string& path = world_.options.metrics_file;
  if (path.starts_with(world_.path + "/"))
    return Status::invalid_argument("it lies in the store's directory")
        .hinting("name a file in another directory: opening a store removes files that it does not know");
  const size_t slash = path.rfind('/');
  name_ = slash == path.npos ? path : path.substr(slash + 1);
  CELLAR_TRY(check_file_name(name_));
  const std::string folder = slash == path.npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
  CELLAR_TRY_ASSIGN(directory_, world_.files.open_directory(folder, false));
  return {};
}

// A mistyped name must not replace somebody's file.
Status MetricsFile::check_old_file() const {
  CELLAR_ASSERT(directory_ != nullptr && !name_.empty());
  Result<std::unique_ptr<ReadableFile>> file = directory_->open(name_);
  if (file.status().is(Code::kNotFound)) return {};
  CELLAR_TRY(file);
  std::string beginning(std::min<uint64_t>((*file)->size(), kBeginning.size()), '\0');
  CELLAR_TRY((*file)->read(0, beginning.size(), beginning.data()));
  if (beginning == kBeginning) return {};
  return Status::invalid_argument("the file exists, and holds no metrics of Cellar")
      .hinting("name another file, or remove this one");
}

// Nothing waits for the disk: a file that a crash leaves is replaced soon.
Status MetricsFile::write() const {
  CELLAR_ASSERT(directory_ != nullptr && mutexes_held() == 0);
  const std::string temporary = name_ + ".tmp";
  const Status removed = directory_->unlink(temporary);
  if (!removed.ok() && !removed.is(Code::kNotFound)) return removed;
  CELLAR_TRY_ASSIGN(const std::unique_ptr<WritableFile> file, directory_->create(temporary));
  CELLAR_TRY(file->append(text_()));
  CELLAR_TRY(file->close());
  return directory_->rename(temporary, name_);
}

Status MetricsFile::start() {
  CELLAR_ASSERT(executor_ == nullptr && !world_.options.metrics_file.empty());
  const std::string context = "metrics_file " + world_.options.metrics_file;
  CELLAR_TRY(find_directory().with_context(context));
  CELLAR_TRY(check_old_file().with_context(context));
  CELLAR_TRY(write().with_context(context));
  executor_ = make_thread_executor(1, 1);
  changed_ = executor_->make_event();
  executor_->submit(JobPriority::kLow, [this] { run(); });
  return {};
}

bool MetricsFile::is_stopping() {
  const MutexLock lock(mutex_);
  return stopping_;
}

void MetricsFile::rewrite() {
  const Status status = write();
  if (status.ok())
    health_.over(kTrouble);
  else
    health_.trouble(kTrouble, status, world_.clock.wall_ms());
}

void MetricsFile::run() {
  CELLAR_ASSERT(changed_ != nullptr && world_.options.metrics_interval_s >= 1);
  const int64_t interval_us = world_.options.metrics_interval_s * 1'000'000;
  while (true) {
    const uint64_t seen = changed_->count();
    if (!is_stopping()) changed_->wait(seen, interval_us);
    if (is_stopping()) break;
    rewrite();
  }
  // stop() destroys the event next, but not before it has the mutex.
  const MutexLock lock(mutex_);
  ended_ = true;
  changed_->signal();
}

void MetricsFile::stop() {
  if (executor_ == nullptr) return;
  CELLAR_ASSERT(changed_ != nullptr && mutexes_held() == 0);
  {
    const MutexLock lock(mutex_);
    stopping_ = true;
    changed_->signal();
  }
  while (true) {
    const uint64_t seen = changed_->count();
    {
      const MutexLock lock(mutex_);
      if (ended_) break;
    }
    changed_->wait(seen, -1);
  }
  changed_.reset();
  executor_.reset();
  rewrite();
}

}  // namespace cellar
