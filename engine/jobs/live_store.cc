// Attempts at a store that moves, told from attempts at one that is damaged.
#include "engine/jobs/live_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "engine/log/directory.h"

namespace cellar {

namespace {

// A record that is only half written is whole a moment later, and its store has the same mark.
constexpr int kAttemptsStill = 4;
// Damage is reported at the same place again and again, however much the writer does elsewhere.
constexpr int kAttemptsAlike = 10;
// A writer would have to publish an edit during each of so many attempts.
constexpr int kAttemptsMax = 200;
constexpr int64_t kPauseUs = 2000;
constexpr uint64_t kCurrentBytesMax = 4096;

Result<std::string> read_mark(Directory& root) {
  CELLAR_TRY_ASSIGN(const std::unique_ptr<ReadableFile> current, root.open(kCurrentName));
  std::string mark(std::min(current->size(), kCurrentBytesMax), '\0');
  CELLAR_TRY(current->read(0, mark.size(), mark.data()));
  const auto add_entries = [&](Directory& directory) -> Status {
    CELLAR_TRY_ASSIGN(const std::vector<DirectoryEntry> entries, directory.list());
    for (const DirectoryEntry& entry : entries) mark += fmt::format("{} {}\n", entry.name, entry.bytes);
    return {};
  };
  CELLAR_TRY(add_entries(root));
  const auto wal = open_wal_directory(root, false);
  if (wal.ok()) CELLAR_TRY(add_entries(**wal));
  return mark;
}

std::string mark_of(const World& world) {
  const auto root = world.files.open_directory(world.path, false);
  return root.ok() ? store_mark(**root) : std::string();
}

void pause(const World& world) {
  const std::unique_ptr<Event> never = world.executor.make_event();
  never->wait(never->count(), kPauseUs);
}

bool may_be_a_moment(const Status& failure) {
  return failure.is(Code::kCorruption) || failure.is(Code::kNotFound) || failure.is(Code::kIoError) ||
         failure.is(Code::kConflict);
}

}  // namespace

// A file that was just listed may be gone already. The error is then the mark.
std::string store_mark(Directory& root) {
  const Result<std::string> mark = read_mark(root);
  return mark.ok() ? *mark : mark.status().is(Code::kNotFound) ? std::string() : mark.status().to_text();
}

Status open_live_store(const std::function<Status()>& attempt, const std::function<const World&()>& world) {
  std::string mark;
  std::string failure;
  for (int attempts = 1, alike = 0, still = 0;; ++attempts) {
    const Status status = attempt();
    if (status.ok() || !may_be_a_moment(status)) return status;
    const std::string mark_before = std::exchange(mark, mark_of(world()));
    const std::string failure_before = std::exchange(failure, status.to_text());
    if (mark.empty()) return status;
    alike = failure == failure_before ? alike + 1 : 1;
    still = mark == mark_before ? std::min(still + 1, alike) : 1;
    if (still == kAttemptsStill || alike == kAttemptsAlike || attempts == kAttemptsMax) return status;
    pause(world());
  }
}

}  // namespace cellar
