// Wal: hands every call to the state that it shares with its jobs.
#include "engine/log/wal_writer.h"

#include <utility>

#include "engine/log/wal_core.h"

namespace cellar {

Result<std::unique_ptr<Wal>> Wal::create(Directory& root, Executor& executor, const WalOptions& options) {
  CELLAR_TRY_ASSIGN(std::unique_ptr<Directory> directory, open_wal_directory(root, false));
  auto core = std::make_shared<WalCore>(std::move(directory), executor, options);
  CELLAR_TRY(core->start());
  return std::unique_ptr<Wal>(new Wal(std::move(core)));
}

Wal::Wal(std::shared_ptr<WalCore> core) : core_(std::move(core)) {}
Wal::~Wal() { core_->stop(); }
Status Wal::append(uint64_t sequence, uint32_t count, std::string_view payload) {
  return core_->append(sequence, count, payload);
}
Status Wal::sync() { return core_->sync(); }
Status Wal::sync_before(uint64_t lsn) { return core_->sync_before(lsn); }
uint64_t Wal::next_lsn() const { return core_->next_lsn(); }
bool Wal::is_durable(uint64_t lsn) const { return core_->is_durable(lsn); }
void Wal::note_manifest_edit(uint64_t edit) { core_->note_manifest_edit(edit); }
uint64_t Wal::needed_from(uint64_t sequence) const { return core_->needed_from(sequence); }
Status Wal::release_before(uint64_t segment) { return core_->release_before(segment); }
Status Wal::restart(uint64_t last_sequence, const std::vector<LogSegment>& ends) {
  return core_->restart(last_sequence, ends);
}
uint64_t Wal::restarts() const { return core_->restarts(); }
void Wal::seal(const Status& failure) { static_cast<void>(core_->seal(failure)); }
Status Wal::begin_small_segment() { return core_->begin_small_segment(); }
Result<LogPosition> Wal::close_cleanly() { return core_->close_cleanly(); }
uint64_t Wal::current_segment() const { return core_->current_segment(); }
LogPosition Wal::end() const { return core_->end(); }
LogPosition Wal::synced() const { return core_->synced(); }
std::vector<LogSegment> Wal::segments() const { return core_->segments(); }
uint64_t Wal::preallocated_bytes() const { return core_->preallocated_bytes(); }
Status Wal::health() const { return core_->health(); }

}  // namespace cellar
