// CheckpointJob: what a file holds is linked, what is only in memory is written.
#include "engine/jobs/checkpoint_job.h"

#include <algorithm>

#include "base/assert.h"
#include "base/bytes.h"
#include "engine/store/file_copy.h"
#include "engine/store/table_state.h"
#include "engine/write/write_path.h"

namespace cellar {
namespace {

constexpr uint64_t kFirstGeneration = 1;  // of a manifest: Manifest::create()

}  // namespace

Result<CheckpointInfo> CheckpointJob::run(Directory& into) {
  CELLAR_ASSERT(parts_.empty() && state_.tables.empty());  // used once
  CELLAR_TRY(source_.write_path.alone([&] { return look(); }));
  for (const Part& part : parts_) {
    progress_.files += part.view->files.size();
    for (const auto& file : part.view->files) progress_.bytes += file->record().bytes;
  }
  for (TableRecord& table : state_.tables) {
    for (FamilyRecord& family : table.families) CELLAR_TRY(fill(into, table, family));
    CELLAR_TRY(sync_table_directory(into, table.id));
  }
  // Before this a crash leaves files that nothing names; after it, the checkpoint.
  state_.next_file_number = source_.disk.manifest->next_file_number();
  CELLAR_TRY(Manifest::create(into, source_.world.executor, state_, {.files_are_there = true}).status());
  const uint64_t shared = info_.bytes_shared;
  info_ = describe_checkpoint(state_, into.path());
  info_.bytes_shared = shared;
  return info_;
}

// Alone: nothing above the read point exists, all below it is in these views, and no table comes or goes.
Status CheckpointJob::look() {
  const ManifestState all = source_.disk.manifest->state();
  state_.identity = all.identity;
  state_.snapshot = snapshot_;
  state_.next_table_id = all.next_table_id;
  state_.next_family_id = all.next_family_id;
  state_.unique_time_us = all.unique_time_us;
  state_.last_sequence = source_.mvcc.read_point();
  CELLAR_ASSERT(state_.last_sequence >= all.last_sequence);
  // The copy doubts the clock if this store does, and its doubt begins now.
  const ExpiryClock::Memory time = source_.expiry.memory();
  state_.wall_ms = time.wall_ms;
  state_.doubted_ms = time.doubted_ms == 0 ? 0 : source_.world.clock.wall_ms();
  for (const std::string& name : wanted_) {
    CELLAR_TRY_ASSIGN(const std::shared_ptr<TableState> table, source_.catalog.find(name));
    if (state_.table_named(name) == nullptr) CELLAR_TRY(look_at(*table, all));
  }
  if (!wanted_.empty()) return {};
  for (const auto& table : source_.catalog.all()) CELLAR_TRY(look_at(*table, all));
  return {};
}

// The store lets go of its directory when its table is dropped, and the copy goes on.
Status CheckpointJob::look_at(const TableState& table, const ManifestState& all) {
  const TableRecord* const known = all.table(table.id());
  CELLAR_ASSERT(known != nullptr);  // schema changes are alone, too
  TableRecord& record = state_.tables.emplace_back(*known);
  record.families.clear();
  for (const auto& store : table.families().stores) {
    const FamilyRecord* const family = all.family(store->ids().family).second;
    CELLAR_ASSERT(family != nullptr);
    record.families.push_back({family->id, family->name, family->options, state_.last_sequence, {}});
    Part& part = parts_.emplace_back(Part{store, store->view(), nullptr});
    if (part.view->files.empty()) continue;
    CELLAR_TRY_ASSIGN(part.directory, store->directory());
  }
  return {};
}

Status CheckpointJob::fill(Directory& into, const TableRecord& table, FamilyRecord& family) {
  const auto part =
      std::ranges::find(parts_, family.id, [](const Part& each) { return each.store->ids().family; });
  CELLAR_ASSERT(part != parts_.end());
  CELLAR_TRY_ASSIGN(std::shared_ptr<Directory> directory,
                    open_family_directory(into, table.id, family.name, true));
  CELLAR_TRY(share(*directory, *part, family));
  CELLAR_TRY_ASSIGN(const NewFiles made, source_.writer.write_memtables_as_of(
                                             *part->store, *part->view, state_.last_sequence, directory));
  for (const auto& file : made.files()) {
    CELLAR_ASSERT(file->record().sequence_max <= state_.last_sequence);
    family.files.push_back(file->record());
  }
  if (!made.files().empty()) return {};  // the writer has synced the directory
  return family.files.empty() ? Status() : directory->sync();
}

Status CheckpointJob::share(Directory& into, const Part& part, FamilyRecord& family) {
  CELLAR_ASSERT(part.directory != nullptr || part.view->files.empty());
  for (const auto& [file, run, level] : placed_files(*part.view)) {
    source_.world.executor.checkpoint();
    FileRecord record = file->record();
    record.run = run;
    record.level = level;
    CELLAR_TRY_ASSIGN(const bool linked, share_file(into, part, *file));
    if (linked) info_.bytes_shared += record.bytes;
    ++progress_.files_done;
    progress_.bytes_done += record.bytes;
    family.files.push_back(std::move(record));
    source_.world.events.on_checkpoint_progress(progress_);
  }
  return {};
}

// Returns true for a second name, false for a copy. If this engine only reads, the writer of the store may
// have removed the name since the file was opened.
Result<bool> CheckpointJob::share_file(Directory& into, const Part& part, const StoreFile& file) {
  const std::string& name = file.record().name;
  const Status linked = part.directory->link(name, into, name);
  if (linked.ok()) return true;
  const bool may_be_gone = source_.world.options.read_only;
  const bool gone = linked.is(Code::kNotFound) && may_be_gone;
  if (!gone && !linked.is(Code::kNotSupported)) return linked.with_context("store file " + name);
  CELLAR_TRY_ASSIGN(const bool known, link_earlier(into, part, file));
  if (known) return true;
  Executor& executor = source_.world.executor;
  Status copied = gone ? linked : copy_file(executor, *part.directory, name, into, name);
  if (copied.is(Code::kNotFound) && may_be_gone)
    copied = copy_open_file(executor, file.reader().file(), into, name);
  CELLAR_TRY(copied.with_context("store file " + name));
  return false;
}

// Returns true if the file is there now. The records of both stores must agree, and so must the sizes. A
// store that was made of a copy may have another file of this name: its time or checksum differs.
Result<bool> CheckpointJob::link_earlier(Directory& into, const Part& part, const StoreFile& file) {
  if (earlier_.directory == nullptr) return false;
  const FamilyRecord* const family = earlier_.state.family(part.store->ids().family).second;
  if (family == nullptr) return false;
  FileRecord wanted = file.record();
  const auto found = std::ranges::find(family->files, wanted.name, &FileRecord::name);
  if (found == family->files.end()) return false;
  wanted.run = found->run;  // another compaction may have moved it
  wanted.level = found->level;
  if (wanted != *found) return false;
  const auto directory =
      open_family_directory(*earlier_.directory, part.store->ids().table, family->name, false);
  if (directory.status().is(Code::kNotFound)) return false;
  CELLAR_TRY(directory.status());
  const auto there = (*directory)->open(wanted.name);
  if (!there.ok() || (*there)->size() != wanted.bytes) return false;
  const Status linked = (*directory)->link(wanted.name, into, wanted.name);
  if (linked.ok()) return true;
  // It is on another disk, too, or was removed.
  if (linked.is(Code::kNotSupported) || linked.is(Code::kNotFound)) return false;
  return linked.with_context("store file " + wanted.name + " of the base");
}

Result<OpenCheckpoint> open_checkpoint(std::unique_ptr<Directory> directory, Executor& executor) {
  CELLAR_ASSERT(directory != nullptr);
  OpenCheckpoint opened;
  opened.directory = std::move(directory);
  auto lock = opened.directory->lock_shared(kLockName);
  if (!lock.status().is(Code::kNotFound)) {  // nobody has opened it, or it was copied without
    CELLAR_TRY(lock.status());
    opened.lock = std::move(*lock);
  }
  if (const Status current = opened.directory->open(kCurrentName).status(); !current.ok())
    return current.is(Code::kNotFound) ? Status::not_found("it is no whole store") : current;
  CELLAR_TRY_ASSIGN(const std::unique_ptr<Manifest> manifest,
                    Manifest::load(*opened.directory, executor, {.read_only = true}));
  opened.state = manifest->state();
  // Each opening for writing begins another generation.
  opened.unchanged = manifest->generation() == kFirstGeneration;
  return opened;
}

// A writer of the base gives its files the names that this store may give to its own.
Result<OpenCheckpoint> open_base(const World& world, const std::string& path, const Identity& of) {
  auto directory = world.files.open_directory(path, false);
  CELLAR_TRY(directory.status().with_context("the base of the checkpoint"));
  auto base = open_checkpoint(std::move(*directory), world.executor);
  Status status = base.status();
  if (status.ok() && base->state.identity != of)
    status = Status::invalid_argument("it is no copy of this store");
  else if (status.ok() && !base->unchanged)
    status = Status::invalid_argument("it was opened for writing since it was made");
  if (status.ok()) return base;
  return status.with_context("the base of the checkpoint")
      .at(path)
      .hinting("name a checkpoint of this store, or leave the base out");
}

CheckpointInfo describe_checkpoint(const ManifestState& state, std::string path) {
  CheckpointInfo info;
  info.path = std::move(path);
  info.sequence = state.last_sequence;
  info.created_ms = state.doubted_ms == 0 ? state.wall_ms : state.doubted_ms;  // see CheckpointJob::look()
  for (const TableRecord& table : state.tables) {
    info.tables.push_back(table.name);
    for (const FamilyRecord& family : table.families) {
      info.files += family.files.size();
      for (const FileRecord& file : family.files) info.bytes += file.bytes;
    }
  }
  std::ranges::sort(info.tables);
  return info;
}

}  // namespace cellar
