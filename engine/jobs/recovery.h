// Recovery: the recipe of opening a directory.
#pragma once

#include "engine/jobs/store_work.h"
#include "engine/store/catalog.h"

namespace cellar {

class Background;

// Opens or creates the store in the world's directory: lock, manifest, files, log. On success the disk and
// the catalog are complete and ready for reads and writes. `report` says what was found and done. Writes
// nothing when read-only, and nothing before everything in the directory has been checked.
Status open_store(const StoreWork& work, Catalog& catalog, Background& background, RecoveryReport& report);

}  // namespace cellar
