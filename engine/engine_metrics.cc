// Metrics of an engine: gathered from its parts, and written to a file.
#include "engine/engine_metrics.h"

#include <algorithm>
#include <string_view>

#include "base/assert.h"
#include "cellar/file_system.h"

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

MetricsFile::MetricsFile(const World& world, Health& health, const std::string& identity,
                         std::function<std::string()> text)
    : world_(world), health_(health), text_(std::move(text)) {
  CELLAR_ASSERT(!world.options.read_only && !identity.empty());
  const std::string& path = world.options.metrics_file;
  const size_t slash = path.rfind('/');
  name_ = slash == path.npos ? path : path.substr(slash + 1);
  temporary_ = name_ + "." + identity + ".tmp";
  folder_ = slash == path.npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}

namespace {

// Returns whether the directory is that of a store, or one of a store's own directories.
bool is_in_a_store(FileSystem& files, std::string folder) {
  constexpr int kLevelsMax = 4;  // tables/ID/FAMILY in a store
  CELLAR_ASSERT(!folder.empty());
  for (int level = 0; level < kLevelsMax; ++level, folder += "/..") {
    const auto directory = files.open_directory(folder, false);
    if (!directory.ok()) return false;
    if ((*directory)->open("CURRENT").ok() && files.open_directory(folder + "/wal", false).ok()) return true;
  }
  return false;
}

}  // namespace

Status MetricsFile::check_path() const {
  CELLAR_TRY(check_file_name(name_));
  CELLAR_TRY(check_file_name(temporary_));
  if (!is_in_a_store(world_.files, folder_)) return {};
  return Status::invalid_argument("it lies in a store's directory")
      .hinting("name a file in another directory: opening a store removes files that it does not know");
}

// A mistyped name must not replace somebody's file. A loss of power may leave an empty file, or only zeros.
Status MetricsFile::check_old_file(Directory& directory) const {
  constexpr uint64_t kReadMax = 4 << 20;
  Result<std::unique_ptr<ReadableFile>> file = directory.open(name_);
  if (file.status().is(Code::kNotFound)) return {};
  CELLAR_TRY(file);
  std::string bytes(std::min<uint64_t>((*file)->size(), kReadMax), '\0');
  CELLAR_TRY((*file)->read(0, bytes.size(), bytes.data()));
  CELLAR_ASSERT(bytes.size() <= kReadMax);
  if (bytes.starts_with(kBeginning) || bytes.find_first_not_of('\0') == bytes.npos) return {};
  return Status::invalid_argument("the file exists, and holds no metrics of Cellar")
      .hinting("name another file, or remove this one");
}

// Opens the directory each time, since it may be removed and made again. Nothing waits for the disk: a file
// that a loss of power damages is replaced soon. No other engine uses this temporary name, since a store has
// only one writer.
Status MetricsFile::write() const {
  CELLAR_ASSERT(mutexes_held() == 0);
  CELLAR_TRY(check_path());
  CELLAR_TRY_ASSIGN(const std::unique_ptr<Directory> directory, world_.files.open_directory(folder_, false));
  CELLAR_TRY(check_old_file(*directory));
  const Status removed = directory->unlink(temporary_);
  if (!removed.ok() && !removed.is(Code::kNotFound)) return removed;
  Status status = write_as(*directory, temporary_);
  if (status.ok()) status = directory->rename(temporary_, name_);
  if (!status.ok()) static_cast<void>(directory->unlink(temporary_));
  return status;
}

Status MetricsFile::write_as(Directory& directory, const std::string& name) const {
  CELLAR_TRY_ASSIGN(const std::unique_ptr<WritableFile> file, directory.create_shared(name));
  CELLAR_TRY(file->append(text_()));
  return file->close();
}

Status MetricsFile::start() {
  CELLAR_ASSERT(executor_ == nullptr && !world_.options.metrics_file.empty());
  const Status status = rewrite();
  if (status.is(Code::kInvalidArgument))
    return status.with_context("metrics_file " + world_.options.metrics_file);
  executor_ = make_thread_executor(1, 1);
  changed_ = executor_->make_event();
  executor_->submit(JobPriority::kLow, [this] { run(); });
  return {};
}

bool MetricsFile::is_stopping() {
  const MutexLock lock(mutex_);
  return stopping_;
}

Status MetricsFile::rewrite() {
  Status status = write();
  if (status.ok())
    health_.over(kTrouble);
  else
    health_.trouble(kTrouble, status, world_.clock.wall_ms());
  return status;
}

void MetricsFile::run() {
  CELLAR_ASSERT(changed_ != nullptr && world_.options.metrics_interval_s >= 1);
  const int64_t interval_us = world_.options.metrics_interval_s * 1'000'000;
  while (true) {
    const uint64_t seen = changed_->count();
    if (!is_stopping()) changed_->wait(seen, interval_us);
    if (is_stopping()) break;
    static_cast<void>(rewrite());  // health knows
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
}

void MetricsFile::write_last() {
  CELLAR_ASSERT(executor_ == nullptr && mutexes_held() == 0);
  static_cast<void>(rewrite());  // health knows
}

}  // namespace cellar
