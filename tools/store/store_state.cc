// Reading a manifest for looking.
#include "tools/store/store_state.h"

#include <fmt/format.h>

#include "base/bytes.h"
#include "cellar/environment.h"
#include "tools/store/store.h"

namespace cellar {

Result<ManifestState> read_store_state(Session& session, const std::string& path) {
  CELLAR_TRY_ASSIGN(const std::unique_ptr<Directory> root, posix_file_system().open_directory(path, false));
  if (const Status store = require_store(*root); !store.ok())
    return session.name_failure("CEL-NOT-STORE", Exit::kCannot,
                                store.is(Code::kNotFound)
                                    ? no_store_at(path)
                                    : with_hint_at_repair(path, store.with_context("store " + path)));
  Result<ManifestState> state = load_store_state(*root);
  if (state.ok()) return state;
  const Status failure = state.status().with_context("store " + path);
  if (failure.is(Code::kCorruption))
    return session.name_failure("CEL-CORRUPTION", Exit::kNegative, with_hint_at_repair(path, failure));
  return failure;
}

Result<ManifestState> load_store_state(Directory& root) {
  const std::unique_ptr<Executor> executor = make_thread_executor(1, 1);
  Status failure;
  // A writer may replace the manifest between the look at CURRENT and the look at what it names.
  for (int attempt = 0; attempt < 3; ++attempt) {
    Result<std::unique_ptr<Manifest>> manifest = Manifest::load(root, *executor, {.read_only = true});
    if (manifest.ok()) return (*manifest)->state();
    failure = manifest.status();
  }
  return failure;
}

std::string store_file_path(const std::string& store, const TableRecord& table, const FamilyRecord& family,
                            const FileRecord& file) {
  const std::string below = to_text(StoredFile{table.id, family.name, file.name, file.bytes});
  return store + (store.ends_with('/') ? "" : "/") + below;
}

Result<const TableRecord*> table_of_state(Session& session, const ManifestState& state,
                                          const std::string& store, const std::string& name) {
  if (const TableRecord* table = state.table_named(name); table != nullptr) return table;
  std::vector<std::string> names;
  for (const TableRecord& each : state.tables) names.push_back(each.name);
  return no_such_table(session, store, name, names);
}

std::vector<std::string> files_of_family(const std::string& store, const TableRecord& table,
                                         const FamilyRecord& family) {
  std::vector<std::string> paths;
  for (auto file = family.files.rbegin(); file != family.files.rend(); ++file)
    paths.push_back(store_file_path(store, table, family, *file));
  return paths;
}

}  // namespace cellar
