// Parsers of the records that HBase writes next to its HFiles: table descriptors, regions, halves of files,
// manifests of snapshots. Each parser takes the whole content of such a file. The content is untrusted:
// kCorruption if it is not a valid record.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cellar/status.h"

namespace cellar {

struct HBaseTableName {
  std::string space = "default";  // the namespace
  std::string name;

  // Returns "orders", or "shop:orders" outside the namespace "default".
  std::string text() const { return space == "default" ? name : space + ":" + name; }
  bool operator==(const HBaseTableName&) const = default;
};

using HBaseAttributes = std::vector<std::pair<std::string, std::string>>;

struct HBaseFamilySchema {
  std::string name;
  HBaseAttributes attributes;  // VERSIONS, TTL, …, as text
};

struct HBaseTableSchema {
  HBaseTableName table;
  std::vector<HBaseFamilySchema> families;
  HBaseAttributes attributes;  // attributes of the table, including its configuration

  // Returns the schema of the family; null if the table has no such family.
  const HBaseFamilySchema* find(std::string_view family) const;
};

// HBaseRegion: the rows from `start` up to but not including `end`. An empty bound is open.
struct HBaseRegion {
  uint64_t id = 0;  // later regions have greater ids
  HBaseTableName table;
  std::string start;
  std::string end;
  bool split = false;  // the region was split, and other regions hold its rows
  int32_t replica = 0;

  // Returns the name of the region's directory: the MD5 of the region's name.
  std::string encoded_name() const;
};

// HBaseHalf: the rows of an HFile from `split_row` on (`top`), or the rows before it.
struct HBaseHalf {
  std::string split_row;
  bool top = false;
  bool operator==(const HBaseHalf&) const = default;
};

struct HBaseSnapshotFile {
  std::string name;
  std::optional<HBaseHalf> half;
  std::optional<uint64_t> bytes;
};

struct HBaseSnapshotFamily {
  std::string name;
  std::vector<HBaseSnapshotFile> files;
};

struct HBaseSnapshotRegion {
  HBaseRegion region;
  std::vector<HBaseSnapshotFamily> families;
};

struct HBaseSnapshotManifest {
  HBaseTableSchema schema;
  std::vector<HBaseSnapshotRegion> regions;
};

// HBaseFileList: the list of a family's files that HBase's file-based store file tracker keeps.
struct HBaseFileList {
  uint64_t timestamp = 0;
  std::vector<std::string> names;
};

Result<HBaseTableSchema> parse_hbase_table_schema(std::string_view bytes);        // .tableinfo.*
Result<HBaseRegion> parse_hbase_region(std::string_view bytes);                   // .regioninfo
Result<HBaseHalf> parse_hbase_reference(std::string_view bytes);                  // protobuf or Writable form
Result<HBaseSnapshotManifest> parse_hbase_snapshot(std::string_view bytes);       // data.manifest
Result<bool> parse_hbase_snapshot_flushed(std::string_view bytes);                // .snapshotinfo
Result<HBaseFileList> parse_hbase_file_list(std::string_view bytes);              // .filelist/f1…
Result<std::vector<std::string>> parse_compaction_event(std::string_view bytes);  // COMPACTION_EVENT_KEY

}  // namespace cellar
