// The content of a store's directory: names, the lock, the marker, the list of store files.
//
// - CURRENT                                  which manifest counts; its first line marks a store
// - LOCK                                     held by the process that has the store open
// - MANIFEST-000003                          see manifest.h
// - wal/0000000007.log                       see wal_format.h
// - tables/<table id>/<family>/<32 digits>   HFiles; a table's directory has the shape of a bulk load
// - snapshots/<name>/…                       named snapshots, each of them a store without a log
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cellar/file_system.h"
#include "cellar/status.h"
#include "engine/log/wal_format.h"

namespace cellar {

constexpr std::string_view kCurrentName = "CURRENT";
constexpr std::string_view kCurrentTempName = "CURRENT.tmp";
constexpr std::string_view kLockName = "LOCK";
constexpr std::string_view kWalDirectoryName = "wal";
constexpr std::string_view kTablesDirectoryName = "tables";
constexpr std::string_view kSnapshotsDirectoryName = "snapshots";
constexpr std::string_view kStoreMarker = "cellar store\n";

// "MANIFEST-000003", "0000000007.log". The inverses accept exactly what the functions give.
std::string manifest_name(uint64_t generation);
bool parse_manifest_name(std::string_view name, uint64_t& generation);
std::string segment_name(uint64_t id);
bool parse_segment_name(std::string_view name, uint64_t& id);
// "0000000007.log.copy": takes the place of the segment once it is whole. An open removes what is left of it.
std::string segment_copy_name(uint64_t id);
bool is_segment_copy_name(std::string_view name);

// 32 lower-case hex digits: half of the store's identity, then the file's number. Names of HBase's files look
// the same.
std::string store_file_name(const Identity& identity, uint64_t number);
// Returns true for 32 lower-case hex digits.
bool is_store_file_name(std::string_view name);
// The number, when the name was given by the store of this identity.
bool parse_store_file_name(const Identity& identity, std::string_view name, uint64_t& number);

// CURRENT: which manifest generation counts, and which edit it contains at least.
struct Current {
  Identity identity = {};
  uint64_t generation = 0;
  uint64_t edit = 0;
};
std::string to_text(const Current& current);
// kCorruption unless the text is, byte for byte, what to_text gives; kNotSupported for a newer format.
Result<Current> parse_current(std::string_view text);
// Reads CURRENT. Errors as parse_current(), and kNotFound.
Result<Current> read_current(Directory& root);

enum class StoreKind : uint8_t {
  kStore,        // has a CURRENT
  kEmpty,        // nothing of a store; `strangers` counts other entries
  kInterrupted,  // a creation that did not finish: may be created again
  kLost,         // has logs, store files or later manifests, but no CURRENT
};
struct StoreProbe {
  StoreKind kind = StoreKind::kEmpty;
  uint64_t strangers = 0;  // entries that no store has
};
// Looks at names only. Writes nothing.
Result<StoreProbe> probe_store(Directory& root);
// Ok for a store; kCorruption "lost its CURRENT", kNotFound "not a store" (an interrupted creation says so)
// otherwise.
Status require_store(Directory& root);

// Opens the sub-directory "wal". With create it is made if absent, its name durable after root.sync().
Result<std::unique_ptr<Directory>> open_wal_directory(Directory& root, bool create);

// Returns the numbers of the log's segments, ascending.
Result<std::vector<uint64_t>> list_segments(Directory& wal);

// Opens tables/<table id>/<family>. With `create` what is absent is made; its names are durable after
// sync_table_directory().
Result<std::unique_ptr<Directory>> open_family_directory(Directory& root, uint32_t table_id,
                                                         std::string_view family, bool create);
// Makes durable the names of a table's directory and of its families'. (That of "tables" is since the store
// was created.)
Status sync_table_directory(Directory& root, uint32_t table_id);
// Removes the directory of a dropped family, or those of a dropped table, as far as they are empty. Never an
// error that matters: what stays is removed at the next open. The second one returns whether nothing stays.
void remove_family_directory(Directory& root, uint32_t table_id, std::string_view family);
bool remove_table_directories(Directory& root, uint32_t table_id);

// A file below tables/.
struct StoredFile {
  uint32_t table_id = 0;
  std::string family = {};
  std::string name = {};
  uint64_t bytes = 0;

  bool operator==(const StoredFile&) const = default;
};
// "tables/3/f/0a…".
std::string to_text(const StoredFile& file);
// A directory below tables/: a family's, or a table's if `family` is empty.
struct FamilyPlace {
  uint32_t table_id = 0;
  std::string family = {};
};
// Every file below tables/ whose name is a store file's, in order of table, family, name. At most 1,000,000
// files, else kLimit. If they are not null, `directories` receives the places of tables and families, and
// `strangers` the paths of everything else there.
Result<std::vector<StoredFile>> list_store_files(Directory& root, std::vector<std::string>* strangers,
                                                 std::vector<FamilyPlace>* directories = nullptr);

}  // namespace cellar
