// How HBase names what lies in its directories: regions, store files, halves of files, links to files of
// others.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "tools/hbase/hbase_records.h"

namespace cellar {

// Digits and a to f: "d41d8cd98f00b204e9800998ecf8427e".
bool is_hbase_region_name(std::string_view name);
// What can be a family, and so a directory in a region.
bool is_hbase_family_name(std::string_view name);
// What can be a namespace and a table.
bool is_hbase_table_name(const HBaseTableName& table);
// "0a1b…", "0a1b…_SeqId_4_" after a bulk load.
bool is_hbase_file_name(std::string_view name);

// What a store file's name says.
struct HBaseFileName {
  struct Link {
    HBaseTableName table;
    std::string region;
  };
  std::string hfile;         // the file that holds the cells
  std::optional<Link> link;  // … is in another table's or region's directory
  std::string parent = {};   // not empty: half of it; the file was of this region
};
// Names of halves ("hfile.region"), of links ("table=region-hfile"), and of halves of links; nothing for
// others.
std::optional<HBaseFileName> parse_hbase_reference_name(std::string_view name);

}  // namespace cellar
