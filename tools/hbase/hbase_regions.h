// Which regions of a table count, which files of a family do, and in which order: what HBase knows from its
// catalogue, concluded from what lies in the directory.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hfile/read/hfile_reader.h"
#include "tools/hbase/hbase_places.h"
#include "tools/hbase/hbase_records.h"

namespace cellar {

struct DescribedRegion {
  std::string name;  // of its directory
  HBaseRegion region;
  size_t number = 0;  // the caller's
};

// The regions that hold the table's rows, in order. One whose rows all belong to later regions was split or
// merged away, and waits to be removed. kNotSupported when regions overlap in another way.
Result<std::vector<DescribedRegion>> live_regions(std::vector<DescribedRegion> regions,
                                                  std::vector<std::string>& notes);

// HBase's own list of the files of the family in this directory, where its tracker by list is in use.
// kCorruption when no list there can be read.
Result<std::optional<HBaseFileList>> file_list_of(const std::string& family_directory,
                                                  const std::optional<HBaseTableSchema>& schema);

// The one family of which the files' cells are; `otherwise` when they have none. kNotSupported when they
// differ.
Result<std::string> family_of_cells(const std::vector<HBaseStoreFile>& files, const std::string& otherwise);

// The family's files, open, oldest first by HBase's order: sequence, size, time of the bulk load, name. Files
// that a compaction has replaced are left out. kNotSupported for files with values in other files (MOB).
Result<std::vector<std::shared_ptr<HFileReader>>> open_hbase_files(const std::vector<HBaseStoreFile>& files);
// One of them.
Result<std::shared_ptr<HFileReader>> open_hbase_file(const HBaseStoreFile& file);

}  // namespace cellar
