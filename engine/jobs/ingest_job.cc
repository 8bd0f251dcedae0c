// IngestJob: the order of its lines is the argument for "all or none".
#include "engine/jobs/ingest_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/assert.h"
#include "base/bytes.h"
#include "engine/jobs/background.h"
#include "engine/jobs/foreign_file.h"
#include "engine/jobs/ingest_ties.h"
#include "engine/store/file_copy.h"
#include "engine/store/table_state.h"
#include "engine/write/write_path.h"

namespace cellar {
namespace {

// All writers wait during the last flush. The flushes before it are repeated up to kFlushRounds times, until
// at most kUnflushedBytes are left for it. If writes arrive faster, the writers wait longer.
constexpr uint64_t kUnflushedBytes = 1 << 20;
constexpr int kFlushRounds = 3;

uint64_t unflushed_bytes(const std::vector<std::shared_ptr<Store>>& stores) {
  uint64_t bytes = 0;
  for (const auto& store : stores) {
    const std::shared_ptr<const StoreView> view = store->view();
    if (view->active.get() != nullptr && view->active->summary().cells != 0) bytes += view->active->bytes();
    for (const MemtableRef& memtable : view->frozen) bytes += memtable->bytes();
  }
  return bytes;
}

}  // namespace

Result<IngestInfo> IngestJob::run() {
  CELLAR_ASSERT(placed_.empty() && stores_.empty());  // used once
  const int64_t begun_us = work_.world.clock.steady_us();
  info_.table = table_.name();
  CELLAR_TRY(check_request());
  Status status = take_in();
  if (status.ok() && !placed_.empty()) {
    status = flush_ahead();
    if (status.ok()) {
      status = write_path_.alone([&] {
        CELLAR_TRY(publish());
        info_.micros = work_.world.clock.steady_us() - begun_us;
        work_.world.events.on_ingested(info_);
        return Status();
      });
    }
  }
  if (!status.ok()) {
    remove_placed();
    return status;
  }
  if (request_.move) remove_sources();
  for (const auto& store : stores_) {
    background_.queue_prefetch(store);
    background_.queue_compaction(store);
  }
  info_.micros = work_.world.clock.steady_us() - begun_us;
  return std::move(info_);
}

Status IngestJob::check_request() const {
  if (work_.world.options.read_only) return Status::read_only("the store was opened read-only");
  CELLAR_TRY(work_.health.check());
  if (request_.verify < HFileCheckLevel::kCells)
    return Status::invalid_argument("a foreign file must be verified at least cell by cell")
        .hinting("set IngestRequest::verify to kCells or kDeep");
  if (!request_.servers_directory.empty())
    return Status::invalid_argument("a store adopts files at their own paths")
        .hinting("IngestRequest::servers_directory is for clusters");
  for (const IngestFile& file : request_.files)
    if (table_.families().find(file.family) == nullptr) return table_.unknown_family(file.family);
  return {};
}

// Places every file under a new name among the store's files, makes it durable, and verifies it. A crash
// before the manifest names the files leaves orphans, which the next open sweeps.
Status IngestJob::take_in() {
  const uint64_t failures = work_.disk.names.failures();  // before a name is made
  uint64_t files_done = 0;
  uint64_t bytes_done = 0;
  for (const IngestFile& file : request_.files) {
    work_.world.executor.checkpoint();
    CELLAR_TRY(table_.check());
    Store* store = table_.families().find(file.family);
    if (store == nullptr) return table_.unknown_family(file.family);
    Placed& placed = placed_.emplace_back();
    placed.store = store->shared_from_this();
    CELLAR_TRY_ASSIGN(placed.directory, store->directory());
    CELLAR_TRY(place(file, placed));
    CELLAR_TRY(examine(file, placed));
    ++files_done;
    bytes_done += placed.record.bytes;
    if (placed.record.cells == 0) {
      remove(placed);
      info_.empty.push_back(file.path);
      placed_.pop_back();
    }
    if (request_.progress && !request_.progress(files_done, bytes_done))
      return Status::aborted("the ingest was cancelled");
  }
  for (const Placed& each : placed_)
    if (std::ranges::find(stores_, each.store) == stores_.end()) stores_.push_back(each.store);
  order_by_age();
  CELLAR_TRY(sync_directories(failures));
  return find_ties();
}

Result<Directory*> IngestJob::directory_of(const std::string& path) {
  std::unique_ptr<Directory>& known = sources_[path];
  if (known == nullptr) {
    CELLAR_TRY_ASSIGN(known, work_.world.files.open_directory(path, false));
  }
  return known.get();
}

Status IngestJob::place(const IngestFile& file, Placed& placed) {
  const auto [parent, name] = split_path(file.path);
  CELLAR_ASSERT(!placed.created && placed.record.name.empty() && placed.directory != nullptr);
  uint64_t number = 0;
  if (parse_store_file_name(work_.disk.identity, name, number))
    return Status::invalid_argument("the file already belongs to this store").at(file.path);
  CELLAR_TRY_ASSIGN(Directory * from, directory_of(parent));
  placed.record.name = store_file_name(work_.disk.identity, work_.disk.manifest->next_file_number());
  placed.told = {
      .family = file.family, .path = file.path, .table = table_.name(), .name = placed.record.name};
  if (!request_.copy) CELLAR_TRY(link(*from, name, placed).at(file.path));
  if (placed.told.linked) return {};
  CELLAR_TRY(
      copy_file(work_.world.executor, *from, name, *placed.directory, placed.record.name).at(file.path));
  placed.created = true;
  return {};
}

// Not linked, and ok, where the file system has no links between the two places.
Status IngestJob::link(Directory& from, const std::string& name, Placed& placed) {
  Directory& into = *placed.directory;
  const Status linked = from.link(name, into, placed.record.name);
  if (linked.is(Code::kNotSupported)) return {};
  CELLAR_TRY(linked);
  placed.created = true;
  const Status synced = into.sync_file(placed.record.name);  // nobody knows whether its writer did
  if (synced.is(Code::kNotSupported)) {
    CELLAR_TRY(into.unlink(placed.record.name));
    placed.created = false;
    return {};
  }
  placed.told.linked = synced.ok();
  return synced;
}

// Looks at what was placed, not at the original: that one may be replaced at any time.
Status IngestJob::examine(const IngestFile& file, Placed& placed) {
  CELLAR_ASSERT(placed.created && !placed.record.name.empty());
  ForeignFileRules rules;
  rules.family = file.family;
  rules.level = request_.verify == HFileCheckLevel::kDeep ? VerifyLevel::kDeep : VerifyLevel::kCells;
  rules.cell_bytes_max = work_.world.options.cell_bytes_max;
  rules.block_payload_bytes_max = work_.files.block_payload_bytes_max();
  CELLAR_TRY_ASSIGN(ForeignFile found,
                    examine_foreign_file(*placed.directory, placed.record.name, file.path, rules));
  found.record.name = placed.record.name;
  found.record.created_ms = work_.world.clock.wall_ms();
  placed.record = std::move(found.record);
  placed.sequence = found.sequence;
  placed.bulk_load_ms = found.bulk_load_ms;
  placed.told.bytes = placed.record.bytes;
  placed.told.cells = placed.record.cells;
  return {};
}

// A directory sync that is tried again proves nothing: what the first one lost stays lost.
Status IngestJob::sync_directories(uint64_t failures) {
  CELLAR_ASSERT(stores_.size() <= placed_.size());
  for (const auto& store : stores_) {
    const auto first = std::ranges::find(placed_, store, &Placed::store);
    CELLAR_ASSERT(first != placed_.end());
    CELLAR_TRY(work_.disk.names.sync(failures, [&] {
      return first->directory->sync().with_context("syncing the directory of ingested files");
    }));
  }
  return {};
}

// Among cells of equal coordinates the newer file's wins. HBase's order of the files of a region: sequence,
// then the larger is the older one, then the one loaded earlier, then the name.
void IngestJob::order_by_age() {
  const auto age = [](const Placed& each) {
    return std::tuple(each.sequence.value_or(-1), ~each.record.bytes, each.bulk_load_ms,
                      split_path(each.told.path).second);
  };
  std::ranges::stable_sort(placed_, {}, age);
}

Status IngestJob::find_ties() {
  for (const auto& store : stores_) {
    std::vector<IngestTies::File> files;
    for (const Placed& each : placed_)
      if (each.store == store) files.push_back({each.record, each.told.path, each.sequence, each.directory});
    IngestTies ties(work_.world.executor, work_.files, *store, std::move(files));
    CELLAR_TRY(ties.find(info_.ties));
  }
  return {};
}

// Most of what the families have in memory becomes files while everybody goes on writing.
Status IngestJob::flush_ahead() {
  for (int round = 0; round < kFlushRounds && unflushed_bytes(stores_) > kUnflushedBytes; ++round)
    CELLAR_TRY(background_.flush(stores_));
  return {};
}

// Alone. Once nothing of these families is only in memory, every file is older than what comes after it:
// compactions rely on that.
Status IngestJob::publish() {
  CELLAR_TRY(work_.health.check());
  for (const auto& store : stores_) {
    if (store->dropped())
      return Status::not_found(
          fmt::format("family {} is gone: the table was dropped, emptied or altered", store->family()));
    CELLAR_TRY(table_.check_adopting());
    CELLAR_TRY(background_.flush_here(store));
  }
  CELLAR_TRY(work_.disk.sync_log());  // what was written before must not be lost if this is kept
  CELLAR_ASSERT(!stores_.empty() && !placed_.empty());
  const uint64_t sequence = work_.mvcc.take_sequence();
  CELLAR_ASSERT(std::ranges::all_of(stores_, [&](const auto& each) {
    return each->flushed_sequence() < sequence && each->oldest_unflushed() == UINT64_MAX;
  }));
  info_.sequence = sequence;
  std::map<Store*, std::vector<std::shared_ptr<StoreFile>>> opened;
  const Status status = commit(opened);
  if (!status.ok()) {
    work_.mvcc.give_back(sequence);  // nothing has it: the manifest took nothing, or takes nothing any more
    return status;
  }
  for (auto& [store, files] : opened) store->install_adopted(files);
  work_.mvcc.publish(sequence);  // from here on readers see all of it
  for (const Placed& each : placed_) {
    info_.cells += each.told.cells;
    info_.bytes += each.told.bytes;
    info_.files.push_back(each.told);
  }
  return {};
}

Status IngestJob::commit(std::map<Store*, std::vector<std::shared_ptr<StoreFile>>>& opened) {
  CELLAR_ASSERT(opened.empty() && info_.sequence > work_.mvcc.read_point());
  ManifestEdit edit;
  for (Placed& each : placed_) {
    each.record.sequence_min = each.record.sequence_max = each.record.adopted_as = info_.sequence;
    CELLAR_TRY_ASSIGN(std::shared_ptr<StoreFile> file,
                      work_.files.open(each.directory, each.store->ids().table,
                                       each.store->view()->config->options, each.record));
    opened[each.store.get()].push_back(std::move(file));
    edit.add_files.push_back({each.store->ids().family, each.record});
  }
  edit.last_sequence = info_.sequence;
  edit.log_synced = work_.disk.wal->synced();
  return work_.files.commit(edit);  // crash before: orphans; after: all of it counts
}

// A manifest may name the files if the engine has failed. They stay then until it is resumed.
void IngestJob::remove_placed() {
  const bool failed = work_.health.failed();
  for (Placed& each : placed_) {
    if (failed && each.created)
      work_.files.remove(each.directory, {each.store->ids().table, each.store->family(), each.record.name,
                                          each.record.bytes});
    else
      remove(each);
  }
}

// Nothing that this ingest did not create: a file may have had the name before.
void IngestJob::remove(Placed& placed) {
  if (!placed.created) return;
  static_cast<void>(placed.directory->unlink(placed.record.name).ok());  // else an orphan
  placed.created = false;
}

void IngestJob::remove_sources() {
  for (const Placed& each : placed_) {
    const auto [parent, name] = split_path(each.told.path);
    const auto from = directory_of(parent);
    const Status removed = from.ok() ? (*from)->unlink(name) : from.status();
    if (!removed.ok()) info_.remained.push_back(each.told.path);
  }
}

}  // namespace cellar
