// A thread that draws what the engine's threads tell.
#include "tools/store/store_progress.h"

#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "base/bytes.h"

namespace cellar {

struct StoreProgress::Ticker {
  std::atomic<bool> ended{false};
  std::thread thread;
};

StoreProgress::StoreProgress(const Session& session, std::string what)
    : session_(session), what_(std::move(what)) {}
StoreProgress::~StoreProgress() = default;

void StoreProgress::begin() {
  if (!Progress::is_shown(session_)) return;
  ticker_ = std::make_unique<Ticker>();
  ticker_->thread = std::thread([this, &ended = ticker_->ended] {
    constexpr auto kEvery = std::chrono::milliseconds(100);
    Progress progress(session_, what_);
    while (!ended) {
      std::this_thread::sleep_for(kEvery);
      progress.show(figures());
    }
  });
}

void StoreProgress::end() {
  if (ticker_ == nullptr) return;
  ticker_->ended = true;
  ticker_->thread.join();
  ticker_.reset();
}

// The cells of all families that are at work. A checkpoint counts the bytes of its files.
Progress::Figures StoreProgress::figures() const {
  const MutexLock lock(mutex_);
  Progress::Figures figures;
  figures.cells = cells_finished_;
  for (const auto& [name, work] : works_) {
    figures.cells += work.cells_done;
    figures.done += work.cells_done;
    figures.total += work.cells_in;
    figures.at += (figures.at.empty() ? "" : ", ") + name;
  }
  figures.done += cells_finished_;
  figures.total = figures.total == 0 ? 0 : figures.total + cells_finished_;
  if (checkpoint_.files == 0) return figures;
  if (checkpoint_.files_done < checkpoint_.files || figures.cells == 0)
    return {.done = checkpoint_.bytes_done,
            .total = checkpoint_.bytes,
            .unit = Progress::Unit::kBytes,
            .at = fmt::format("{} of {}", human_count(checkpoint_.files_done),
                              counted(checkpoint_.files, "file"))};
  return figures;
}

void StoreProgress::set(const std::string& name, uint64_t cells_in, uint64_t cells_done) {
  const MutexLock lock(mutex_);
  Work& work = works_[name];
  if (cells_in > 0) work.cells_in = cells_in;
  work.cells_done = cells_done;
}

void StoreProgress::finish(const std::string& name, uint64_t cells_in) {
  const MutexLock lock(mutex_);
  works_.erase(name);
  cells_finished_ += cells_in;
}

void StoreProgress::on_flush_begin(const FlushInfo& info) {
  set(info.table + "/" + info.family, info.cells_in, 0);
}
void StoreProgress::on_flush_progress(const FlushInfo& info) {
  set(info.table + "/" + info.family, 0, info.cells_done);
}
void StoreProgress::on_flush_end(const FlushInfo& info) {
  finish(info.table + "/" + info.family, info.cells_in);
}
void StoreProgress::on_compaction_begin(const CompactionInfo& info) {
  set(info.table + "/" + info.family, info.cells_in, 0);
}
void StoreProgress::on_compaction_progress(const CompactionInfo& info) {
  set(info.table + "/" + info.family, info.cells_in, info.cells_done);
}
void StoreProgress::on_compaction_end(const CompactionInfo& info) {
  finish(info.table + "/" + info.family, info.cells_in);
}
void StoreProgress::on_checkpoint_progress(const CheckpointInfo& info) {
  const MutexLock lock(mutex_);
  checkpoint_ = info;
}

}  // namespace cellar
