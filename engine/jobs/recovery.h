// Recovery: the recipe of opening a directory.
#pragma once

#include <memory>
#include <vector>

#include "engine/store/core.h"

namespace cellar {

class Background;

// Opens or creates the store in the core's directory: lock, manifest, files, log. On success the core is
// complete and ready for reads and writes; core->recovery says what was found and done. Writes nothing when
// read-only, and nothing before everything that is there has been checked.
Status open_store(EngineCore& core, Background& background);

// A Store for a family of the manifest, with its files open.
Result<std::shared_ptr<Store>> open_family(EngineCore& core, const TableRecord& table,
                                           const FamilyRecord& family);

// Stores for families that the manifest is about to name, in their order, ready for writes. Their directories
// are made first, durably: a crash leaves empty ones, which nobody minds.
Result<std::vector<std::shared_ptr<Store>>> open_new_families(EngineCore& core, const TableRecord& table);

// Options as the manifest keeps them.
Result<FamilyOptions> options_of(const FamilyRecord& family);

}  // namespace cellar
