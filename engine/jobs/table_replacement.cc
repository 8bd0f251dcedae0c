// TableReplacement: files first, then one edit of the manifest, then what is in memory.
#include "engine/jobs/table_replacement.h"

#include <map>

#include <algorithm>

#include "base/assert.h"
#include "engine/jobs/background.h"
#include "engine/jobs/family_stores.h"
#include "engine/store/file_copy.h"
#include "engine/store/table_state.h"

namespace cellar {

Status TableReplacement::run() {
  const ManifestState state = work_.disk.manifest->state();
  edit_.next_table_id = work_.disk.next_table_id();
  edit_.next_family_id = state.next_family_id;
  sequence_ = work_.mvcc.take_sequence_above(up_to_);
  CELLAR_ASSERT(sequence_ > up_to_ && coming_.empty());
  Status status;
  for (const TableRecord& content : content_)
    if (status.ok()) status = prepare(content);
  if (status.ok()) status = commit();
  if (!status.ok()) {
    work_.mvcc.give_back(sequence_);
    coming_.clear();
    remove_placed();
    return status;
  }
  install();
  return {};
}

// Its files under new names, durable; a crash before the commit leaves orphans, which the next open sweeps.
Status TableReplacement::prepare(const TableRecord& content) {
  Coming& coming = coming_.emplace_back();
  coming.known = catalog_.lookup(content.name);
  coming.record.id = coming.known != nullptr ? coming.known->id() : edit_.next_table_id++;
  coming.record.name = content.name;
  coming.record.options = content.options;
  for (const FamilyRecord& from : content.families) {
    FamilyRecord& family = coming.record.families.emplace_back();
    family.id = edit_.next_family_id++;
    family.name = from.name;
    family.options = from.options;
    family.flushed_sequence = sequence_;
    CELLAR_TRY(place(content, from, coming.record.id, family));
  }
  CELLAR_TRY_ASSIGN(coming.stores, open_new_families(work_, coming.record));
  return {};
}

Status TableReplacement::place(const TableRecord& content, const FamilyRecord& from, uint32_t table_id,
                               FamilyRecord& family) {
  if (from.files.empty()) return {};
  CELLAR_ASSERT(source_ != nullptr);
  const uint64_t failures = work_.disk.names.failures();  // before a name is made
  CELLAR_TRY_ASSIGN(const std::shared_ptr<Directory> into,
                    open_family_directory(*work_.disk.root, table_id, family.name, true));
  CELLAR_TRY_ASSIGN(const std::unique_ptr<Directory> source,
                    open_family_directory(*source_, content.id, from.name, false));
  std::map<uint64_t, uint64_t> runs;  // of the source, and the same runs here
  for (const FileRecord& file : from.files) {
    FileRecord record = file;
    const uint64_t number = work_.disk.manifest->next_file_number();
    record.name = store_file_name(work_.disk.identity, number);
    if (file.run != 0) record.run = runs.emplace(file.run, number).first->second;
    const Result<bool> linked = link_or_copy(work_.world.executor, *source, file.name, *into, record.name);
    CELLAR_TRY(linked.status().with_context(to_text(StoredFile{content.id, from.name, file.name, 0})));
    placed_.emplace_back(into, StoredFile{table_id, family.name, record.name, record.bytes});
    family.files.push_back(std::move(record));
  }
  return work_.disk.names.sync(
      failures, [&] { return into->sync().with_context("syncing the directory of copied store files"); });
}

Status TableReplacement::commit() {
  CELLAR_ASSERT(coming_.size() == content_.size());
  for (const Coming& coming : coming_) {
    if (coming.known != nullptr)
      for (const auto& store : coming.known->families().stores)
        edit_.drop_families.push_back(store->ids().family);
    edit_.set_tables.push_back(coming.record);
    for (const FamilyRecord& family : coming.record.families) {
      edit_.set_families.push_back({coming.record.id, family.id, family.name, family.options});
      edit_.flushed.push_back({family.id, sequence_});
      for (const FileRecord& file : family.files) edit_.add_files.push_back({family.id, file});
    }
  }
  edit_.last_sequence = sequence_;
  return work_.files.commit(edit_);  // crash before: orphans; after: all of it counts
}

// A snapshot that is opened from here on sees all new content; a snapshot that is already open sees no part
// of it.
void TableReplacement::install() {
  CELLAR_ASSERT(sequence_ > work_.mvcc.read_point());  // nobody has seen any of it
  std::vector<std::shared_ptr<Store>> old;
  work_.mvcc.with_snapshots([&](const std::vector<uint64_t>& snapshots) {
    for (Coming& coming : coming_) {
      CELLAR_ASSERT(coming.stores.size() == coming.record.families.size());
      for (const auto& store : coming.stores) {
        const Store* before =
            coming.known != nullptr ? coming.known->families().find(store->family()) : nullptr;
        work_.counters.views_kept += store->replace(before, sequence_, snapshots);
      }
      if (coming.known != nullptr) {
        const auto& stores = coming.known->families().stores;
        old.insert(old.end(), stores.begin(), stores.end());
        coming.known->set_options(coming.record.options);
        coming.known->set_families(coming.stores);
        continue;
      }
      catalog_.add(coming.record.id, coming.record.name, coming.record.options, coming.stores);
    }
    work_.mvcc.publish(sequence_);
  });
  for (const auto& store : old) {
    background_.note_dropped(*store, sequence_);
    work_.memory.shrink(store->drop());
  }
  work_.activity.changed.signal();  // writers may wait for that memory
  for (const Coming& coming : coming_)
    for (const auto& store : coming.stores) {
      background_.queue_prefetch(store);
      background_.queue_compaction(store);
    }
}

// A manifest may name the files if the engine has failed. They stay then until it is resumed.
void TableReplacement::remove_placed() {
  const bool failed = work_.health.failed();
  for (auto& [directory, file] : placed_) {
    if (failed)
      work_.files.remove(std::move(directory), std::move(file));
    else
      static_cast<void>(directory->unlink(file.name).ok());  // else an orphan
  }
}

}  // namespace cellar
