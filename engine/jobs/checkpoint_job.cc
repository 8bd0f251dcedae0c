// CheckpointJob: what a file holds is linked, what is only in memory is written.
#include "engine/jobs/checkpoint_job.h"

#include <algorithm>

#include "base/assert.h"
#include "base/bytes.h"
#include "engine/store/file_copy.h"
#include "engine/store/table_state.h"
#include "engine/write/write_path.h"

namespace cellar {

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
  Result<bool> linked = link_or_copy(source_.world.executor, *part.directory, name, into, name);
  if (linked.status().is(Code::kNotFound) && source_.world.options.read_only) {
    const Status copied = copy_open_file(source_.world.executor, file.reader().file(), into, name);
    linked = copied.ok() ? Result<bool>(false) : Result<bool>(copied);
  }
  if (!linked.ok()) return linked.status().with_context("store file " + name);
  return linked;
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
