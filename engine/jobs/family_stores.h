// Opens stores for families of the manifest, known ones and new ones.
#pragma once

#include <memory>
#include <vector>

#include "engine/jobs/held_store.h"
#include "engine/jobs/store_work.h"

namespace cellar {

// A Store for a family of the manifest, with its files open. `held`, which may be null, has files that were
// opened before.
Result<std::shared_ptr<Store>> open_family(const StoreWork& work, const TableRecord& table,
                                           const FamilyRecord& family, HeldStore* held);

// Returns the directory of a family; null for a family without files in a store that is only read.
// Fails with kCorruption if the family has files and no directory.
Result<std::unique_ptr<Directory>> directory_of(const StoreWork& work, const TableRecord& table,
                                                const FamilyRecord& family);
// Returns the files of a family, open and in the order of a view. `known`, which may be null, is a view of
// the family at another time: the files that it has are taken from there. So are those of `held`, which may
// be null. `directory` may be null if no other file is needed. Errors: those of opening a file.
Result<std::vector<PlacedFile>> open_files(const StoreWork& work, const StoreIds& ids,
                                           const FamilyOptions& options, const FamilyRecord& family,
                                           const std::shared_ptr<Directory>& directory,
                                           const StoreView* known, HeldStore* held);
// kInvalidArgument if no family has a file of EngineOptions::without_files. Such a name is a mistake. Without
// an error, the user would believe that the file is left out.
Status check_left_out(const World& world, const ManifestState& state);

// Stores for families that the manifest is about to name, in their order, ready for writes. Their directories
// are made first, durably: a crash leaves empty ones, which nobody minds.
Result<std::vector<std::shared_ptr<Store>>> open_new_families(const StoreWork& work,
                                                              const TableRecord& table);

// Options as the manifest keeps them.
Result<FamilyOptions> options_of(const FamilyRecord& family);

}  // namespace cellar
