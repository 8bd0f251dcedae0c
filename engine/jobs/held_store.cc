// HeldStore: the log first, because a writer removes its segments more often than store files.
#include "engine/jobs/held_store.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "engine/log/directory.h"

namespace cellar {

Status HeldStore::hold(const StoreWork& work, const ManifestState& state, const ManifestState* known) {
  CELLAR_ASSERT(!log_ && files_.empty());
  auto wal = open_wal_directory(*work.disk.root, false);
  if (!wal.status().is(Code::kNotFound)) {
    CELLAR_TRY(wal.status());
    wal_ = std::move(wal).value();
    CELLAR_TRY(log_.emplace(*wal_).hold(state.log_start));
  }
  for (const TableRecord& table : state.tables)
    for (const FamilyRecord& family : table.families)
      hold_family(work, table, family, known != nullptr ? known->family(family.id).second : nullptr);
  return {};
}

void HeldStore::hold_family(const StoreWork& work, const TableRecord& table, const FamilyRecord& family,
                            const FamilyRecord* known) {
  CELLAR_ASSERT(known == nullptr || known->id == family.id);
  std::shared_ptr<Directory> directory;
  for (const FileRecord& file : family.files) {
    const auto is_it = [&](const FileRecord& other) { return other.name == file.name; };
    if (known != nullptr && std::ranges::any_of(known->files, is_it)) continue;
    if (directory == nullptr) {
      auto opened = open_family_directory(*work.disk.root, table.id, family.name, false);
      if (!opened.ok()) return;
      directory = std::move(opened).value();
    }
    auto handle = work.files.open_handle(directory, file.name);
    if (!handle.ok()) continue;
    const StoredFile place{table.id, family.name, file.name, file.bytes};
    files_.insert_or_assign(to_text(place), std::move(handle).value());
  }
}

std::unique_ptr<ReadableFile> HeldStore::take(const StoredFile& file) {
  const auto found = files_.find(to_text(file));
  if (found == files_.end()) return nullptr;
  CELLAR_ASSERT(found->second != nullptr);
  std::unique_ptr<ReadableFile> taken = std::move(found->second);
  files_.erase(found);
  return taken;
}

}  // namespace cellar
