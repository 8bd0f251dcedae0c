// Decides which regions of a table and which files of a family are live, and in which order. HBase knows this
// from its catalogue (hbase:meta); Cellar infers it from the directory.
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
  std::string name;  // name of the region's directory
  HBaseRegion region;
  size_t number = 0;  // any number of the caller's
};

// Returns the regions that hold the table's rows, sorted by row. Leaves out a region whose rows all belong to
// later regions: it was split or merged, and HBase has not removed it yet. Error: kNotSupported if regions
// overlap in another way.
Result<std::vector<DescribedRegion>> live_regions(std::vector<DescribedRegion> regions,
                                                  std::vector<std::string>& notes);

// Returns HBase's own list of the family's files in this directory; nullopt if HBase's file-based store file
// tracker is not in use. Errors: kCorruption if the directory has lists but none can be read; kIoError.
Result<std::optional<HBaseFileList>> file_list_of(const std::string& family_directory,
                                                  const std::optional<HBaseTableSchema>& schema);

// Returns the family of the files' cells, or `otherwise` if the files have no cells. kNotSupported if the
// files have cells of several families.
Result<std::string> family_of_cells(const std::vector<HBaseStoreFile>& files, const std::string& otherwise);

// Opens the family's files. They are sorted oldest first in HBase's order: sequence, size, time of the bulk
// load, name. Leaves out files that a compaction has replaced. kNotSupported if values are in other files
// (MOB).
Result<std::vector<std::shared_ptr<HFileReader>>> open_hbase_files(const std::vector<HBaseStoreFile>& files);
// Opens one file of a family, with the sequence that HBase gives its cells.
Result<std::shared_ptr<HFileReader>> open_hbase_file(const HBaseStoreFile& file);

}  // namespace cellar
