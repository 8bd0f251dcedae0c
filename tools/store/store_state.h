// The content of a store's manifest, read without its lock and without writing. For commands that only look.
#pragma once

#include <string>
#include <vector>

#include "engine/manifest/manifest.h"
#include "tools/frame/session.h"

namespace cellar {

// The newest published state of the store at `path`. Another process may have it open and go on writing:
// files named here can be gone a moment later. CEL-NOT-STORE, CEL-CORRUPTION.
Result<ManifestState> read_store_state(Session& session, const std::string& path);

// Reads the same of the store in `root`, with the error as it is.
Result<ManifestState> load_store_state(Directory& root);

// "shop/tables/1/d/0a…" of a file of this family.
std::string store_file_path(const std::string& store, const TableRecord& table, const FamilyRecord& family,
                            const FileRecord& file);

// Paths of all files of this family, newest first.
std::vector<std::string> files_of_family(const std::string& store, const TableRecord& table,
                                         const FamilyRecord& family);

// The table of that name, or CEL-TABLE with the nearest one.
Result<const TableRecord*> table_of_state(Session& session, const ManifestState& state,
                                          const std::string& store, const std::string& name);

}  // namespace cellar
