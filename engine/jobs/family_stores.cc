// Stores of families: their directories, their files and their first memtable.
#include "engine/jobs/family_stores.h"

#include "base/assert.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace cellar {

Result<FamilyOptions> options_of(const FamilyRecord& family) {
  FamilyOptions options;
  options.name = family.name;
  for (const auto& [key, value] : family.options)
    CELLAR_TRY(set_option(options, key, value).with_context("family " + family.name));
  return options;
}

Status check_left_out(const World& world, const ManifestState& state) {
  for (const std::string& name : world.options.without_files) {
    const auto names_it = [&](const FamilyRecord& family) {
      return std::ranges::find(family.files, name, &FileRecord::name) != family.files.end();
    };
    const bool known = std::ranges::any_of(state.tables, [&](const TableRecord& table) {
      return std::ranges::any_of(table.families, names_it);
    });
    if (!known)
      return Status::invalid_argument("without_files: the manifest names no store file " + name)
          .at(world.path);
    world.log(LogLevel::kWarning, "store file " + name + " is left out");
  }
  return {};
}

Result<std::unique_ptr<Directory>> directory_of(const StoreWork& work, const TableRecord& table,
                                                const FamilyRecord& family) {
  auto opened = open_family_directory(*work.disk.root, table.id, family.name, false);
  if (!opened.status().is(Code::kNotFound)) return opened;
  const std::vector<std::string>& left_out = work.world.options.without_files;
  const auto is_left_out = [&](const FileRecord& file) {
    return std::ranges::find(left_out, file.name) != left_out.end();
  };
  if (!std::ranges::all_of(family.files, is_left_out)) {
    return Status::corruption(
               "the manifest names files in the directory of a family, and the directory is missing: " +
               std::string(opened.status().message()))
        .at(std::string(opened.status().place()));
  }
  if (work.world.options.read_only) return std::unique_ptr<Directory>();
  // The store was copied by something that leaves out empty directories.
  opened = open_family_directory(*work.disk.root, table.id, family.name, true);
  CELLAR_TRY(opened.status());
  // The name of tables/ itself: the first edit after an open begins a generation, which syncs the root.
  CELLAR_TRY(sync_table_directory(*work.disk.root, table.id));
  return opened;
}

namespace {

// Returns whether both records are of the same file. A file may move to another run.
bool is_same_file(const FileRecord& a, FileRecord b) {
  if (a.name != b.name || a.bytes != b.bytes) return false;
  b.run = a.run;
  b.level = a.level;
  return a == b;
}

}  // namespace

Result<std::vector<PlacedFile>> open_files(const StoreWork& work, const StoreIds& ids,
                                           const FamilyOptions& options, const FamilyRecord& family,
                                           const std::shared_ptr<Directory>& directory,
                                           const StoreView* known, HeldStore* held) {
  CELLAR_ASSERT(ids.family == family.id);
  std::unordered_map<std::string_view, std::shared_ptr<StoreFile>> open;
  if (known != nullptr)
    for (const auto& file : known->files) open.emplace(file->record().name, file);
  const std::vector<std::string>& left_out = work.world.options.without_files;
  std::vector<PlacedFile> files;
  for (const FileRecord& record : family.files) {
    if (std::ranges::find(left_out, record.name) != left_out.end()) continue;
    const auto found = open.find(record.name);
    if (found != open.end() && is_same_file(found->second->record(), record)) {
      files.push_back({found->second, record.run, record.level});
      continue;
    }
    CELLAR_ASSERT(directory != nullptr);
    std::unique_ptr<ReadableFile> handle;
    if (held != nullptr) handle = held->take({ids.table, family.name, record.name, record.bytes});
    CELLAR_TRY_ASSIGN(std::shared_ptr<StoreFile> file,
                      work.files.open(directory, ids.table, options, record, std::move(handle)));
    files.push_back({std::move(file), record.run, record.level});
  }
  // The age of files that no compaction has placed goes by the newest write that they hold, whenever they
  // were added. They are younger than all that compactions have placed in runs.
  const auto placed =
      std::find_if(files.rbegin(), files.rend(), [](const PlacedFile& each) { return each.run != 0; });
  std::ranges::stable_sort(placed.base(), files.end(), {},
                           [](const PlacedFile& each) { return each.file->record().sequence_max; });
  return files;
}

Result<std::shared_ptr<Store>> open_family(const StoreWork& work, const TableRecord& table,
                                           const FamilyRecord& family, HeldStore* held) {
  CELLAR_TRY_ASSIGN(const FamilyOptions options, options_of(family));
  CELLAR_TRY_ASSIGN(std::shared_ptr<const FamilyConfig> config, FamilyConfig::create(options));
  CELLAR_TRY_ASSIGN(std::shared_ptr<Directory> directory, directory_of(work, table, family));
  // A family without a directory has no files, and nobody writes to it.
  CELLAR_ASSERT(directory != nullptr || work.world.options.read_only);
  CELLAR_ASSERT(work.world.options.without_files.empty() || work.world.options.read_only);
  const StoreIds ids{table.id, family.id};
  CELLAR_TRY_ASSIGN(const std::vector<PlacedFile> placed,
                    open_files(work, ids, options, family, directory, nullptr, held));
  std::vector<std::shared_ptr<StoreFile>> files;
  for (const PlacedFile& each : placed) files.push_back(each.file);
  auto store = std::make_shared<Store>(ids, table.name, std::move(config), std::move(directory),
                                       std::move(files), 0, family.flushed_sequence, family.totals);
  const EngineOptions& engine = work.world.options;
  if (engine.compaction_for_scans && engine.automatic_compaction && !engine.read_only)
    store->count_hidden_reads(std::make_shared<HiddenReads>(work.activity.look_now));
  return store;
}

namespace {

// The names of new directories may be lost. A later attempt makes other ones, and syncs their names: it does
// not rely on what failed here. A family that the manifest names keeps its directory.
void give_up_directories(const StoreWork& work, const TableRecord& table) {
  const std::shared_ptr<const ManifestState> state = work.disk.manifest->current();
  const TableRecord* const known = state->table(table.id);
  if (known == nullptr) {
    work.disk.give_up_table_id(table.id);  // the next open removes its directory
    return;
  }
  if (!work.disk.check_lock().ok()) return;  // the directories may be another engine's
  for (const FamilyRecord& family : table.families)
    if (std::ranges::find(known->families, family.name, &FamilyRecord::name) == known->families.end())
      remove_family_directory(*work.disk.root, table.id, family.name);
}

}  // namespace

Result<std::vector<std::shared_ptr<Store>>> open_new_families(const StoreWork& work,
                                                              const TableRecord& table) {
  CELLAR_ASSERT(work.disk.root != nullptr && !work.world.options.read_only);
  const uint64_t failures = work.disk.names.failures();  // before a name is made
  for (const FamilyRecord& family : table.families)
    CELLAR_TRY(open_family_directory(*work.disk.root, table.id, family.name, true).status());
  const Status synced = work.disk.names.sync(failures, [&] {
    return sync_table_directory(*work.disk.root, table.id).with_context("syncing the directory of a table");
  });
  if (!synced.ok()) {
    give_up_directories(work, table);
    return synced;
  }
  std::vector<std::shared_ptr<Store>> stores;
  for (const FamilyRecord& family : table.families) {
    CELLAR_TRY_ASSIGN(std::shared_ptr<Store> store, open_family(work, table, family, nullptr));
    store->set_active(work.memory.create());
    stores.push_back(std::move(store));
  }
  CELLAR_ASSERT(stores.size() == table.families.size());
  return stores;
}

}  // namespace cellar
