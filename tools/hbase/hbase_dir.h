// Recognises the directories of HBase and finds the files that hold a table's cells. Regions, families,
// halves and links are resolved; files that HBase ignores are left out.
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
  kFamily,     // holds HFiles
  kRegion,     // holds families: a region, or the input directory of a bulk load
  kTable,      // holds regions
  kSnapshot,   // ROOT/.hbase-snapshot/NAME
  kNamespace,  // holds tables
  kSnapshots,  // ROOT/.hbase-snapshot
  kRoot,       // the hbase.rootdir directory, or an exported copy of one
};

// Returns the kind of the directory, judged by its content. Returns kNone for files, Cellar stores, and paths
// that do not exist.
HBaseKind hbase_kind(const std::string& path);
// Returns the kind in words for messages, e.g. "a table of HBase".
std::string_view hbase_kind_name(HBaseKind kind);
// Returns whether a directory of this kind holds one table or a part of one.
inline bool is_one_table(HBaseKind kind) {
  return kind >= HBaseKind::kFamily && kind <= HBaseKind::kSnapshot;
}
// Return the names of the tables below a root or a namespace ("orders", "shop:carts"), and the names of the
// snapshots below a root.
std::vector<std::string> hbase_tables(const std::string& path, HBaseKind kind);
std::vector<std::string> hbase_snapshots(const std::string& root);

// The files of one region, by family.
struct HBaseRegionFiles {
  std::string name;  // name of the region's directory
  std::string start;
  std::string end;
  std::map<std::string, std::vector<HBaseStoreFile>> families;
};

struct HBaseTableFiles {
  std::string name;
  std::optional<HBaseTableSchema> schema;  // set if the directory has a table descriptor
  std::vector<HBaseRegionFiles> regions;   // sorted by row; they do not overlap
  bool all_flushed = false;                // true for a snapshot taken with a flush: no cell was only in
                                           // memory
  std::vector<std::string> notes;          // messages: files that were left out, and facts that are unknown
};

// Finds the files of the table in a directory that is_one_table(). Errors: kNotFound if the file of a half or
// link is missing; kCorruption if a record cannot be read. Also kNotSupported if regions overlap or are not
// described.
Result<HBaseTableFiles> find_hbase_table(const std::string& path, HBaseKind kind);

// Returns the descriptor of the table to which a directory of families belongs. The directory is a region, in
// its place in HBase or in a copy of its table. Returns nullopt if there is no descriptor. kCorruption;
// kIoError.
Result<std::optional<HBaseTableSchema>> find_hbase_schema(const std::string& path);

}  // namespace cellar
