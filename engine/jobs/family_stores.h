// Opens stores for families of the manifest, known ones and new ones.
#pragma once

#include <memory>
#include <vector>

#include "engine/jobs/store_work.h"

namespace cellar {

// A Store for a family of the manifest, with its files open.
Result<std::shared_ptr<Store>> open_family(const StoreWork& work, const TableRecord& table,
                                           const FamilyRecord& family);

// Stores for families that the manifest is about to name, in their order, ready for writes. Their directories
// are made first, durably: a crash leaves empty ones, which nobody minds.
Result<std::vector<std::shared_ptr<Store>>> open_new_families(const StoreWork& work,
                                                              const TableRecord& table);

// Options as the manifest keeps them.
Result<FamilyOptions> options_of(const FamilyRecord& family);

}  // namespace cellar
