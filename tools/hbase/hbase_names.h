// The names in HBase's directories: regions, store files, halves of files, links to files of other tables or
// regions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "tools/hbase/hbase_records.h"

namespace cellar {

// Returns whether the name is a region's: digits and a to f ("d41d8cd98f00b204e9800998ecf8427e").
bool is_hbase_region_name(std::string_view name);
// Returns whether the name is valid for a family, and so for a directory in a region.
bool is_hbase_family_name(std::string_view name);
// Returns whether the namespace and the name are valid for a table.
bool is_hbase_table_name(const HBaseTableName& table);
// Returns whether the name is a store file's: "0a1b…", or "0a1b…_SeqId_4_" after a bulk load.
bool is_hbase_file_name(std::string_view name);

// HBaseFileName: the parts of the name of a half or a link.
struct HBaseFileName {
  struct Link {
    HBaseTableName table;
    std::string region;
  };
  std::string hfile;         // the file that holds the cells
  std::optional<Link> link;  // set if that file is in the directory of another table or region
  std::string parent = {};   // for a half: the region that the file belonged to; empty if not a half
};
// Parses the names of halves ("hfile.region"), links ("table=region-hfile"), and halves of links. Returns
// nullopt for other names.
std::optional<HBaseFileName> parse_hbase_reference_name(std::string_view name);

}  // namespace cellar
