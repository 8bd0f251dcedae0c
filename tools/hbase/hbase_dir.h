// What a directory of HBase's is, and which files hold the cells of its table: regions, families, halves and
// links resolved, what HBase passes over left out.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tools/hbase/hbase_places.h"
#include "tools/hbase/hbase_records.h"

namespace cellar {

enum class HBaseKind : uint8_t {
  kNone,
  kFamily,     // HFiles lie in it
  kRegion,     // families lie in it: a region, or what a bulk load takes
  kTable,      // regions lie in it
  kSnapshot,   // ROOT/.hbase-snapshot/NAME
  kNamespace,  // tables lie in it
  kSnapshots,  // ROOT/.hbase-snapshot
  kRoot,       // hbase.rootdir, or an exported one
};

// By content; kNone for files, stores of Cellar, and what does not exist.
HBaseKind hbase_kind(const std::string& path);
// "a table of HBase", …
std::string_view hbase_kind_name(HBaseKind kind);
// Whether a directory of this kind is one table's, or part of it.
inline bool is_one_table(HBaseKind kind) {
  return kind >= HBaseKind::kFamily && kind <= HBaseKind::kSnapshot;
}
// "orders", "shop:carts": the tables below a root, or below a namespace; names of snapshots.
std::vector<std::string> hbase_tables(const std::string& path, HBaseKind kind);
std::vector<std::string> hbase_snapshots(const std::string& root);

// The files of one region, by family.
struct HBaseRegionFiles {
  std::string name;  // of its directory
  std::string start;
  std::string end;
  std::map<std::string, std::vector<HBaseStoreFile>> families;
};

struct HBaseTableFiles {
  std::string name;
  std::optional<HBaseTableSchema> schema;  // when there is a descriptor
  std::vector<HBaseRegionFiles> regions;   // in order of their rows, which do not overlap
  bool all_flushed = false;                // a snapshot that was taken so: nothing was only in memory
  std::vector<std::string> notes;          // what was left out, and what is not known
};

// Of a directory that is_one_table(). Whatever would make answers wrong is an error: a half or link whose
// file is missing (kNotFound), regions that overlap or are not described (kNotSupported), records that cannot
// be read (kCorruption).
Result<HBaseTableFiles> find_hbase_table(const std::string& path, HBaseKind kind);

// The descriptor of the table to which a directory of families belongs: a region of HBase's, in its place or
// in a copy of its table. Nothing where there is none. kCorruption, kIoError.
Result<std::optional<HBaseTableSchema>> find_hbase_schema(const std::string& path);

}  // namespace cellar
