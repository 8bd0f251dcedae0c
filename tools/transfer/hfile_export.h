// HFileExport: a table's cells as a directory for HBase's bulk load. DIR/<family>/<32 hex digits> holds a
// file for each family and region. The table's schema lies next to them (schema_file.h).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cellar/hfile_builder.h"
#include "cellar/table.h"
#include "tools/frame/session.h"
#include "tools/store/row_splits.h"

namespace cellar {

// One thread. Everything is written to a directory with a temporary name; finish() renames it.
class HFileExport {
 public:
  // `path` is new, or an empty directory. kInvalidArgument, kNotSupported for options that HBase cannot read.
  static Result<std::unique_ptr<HFileExport>> create(const std::string& path, const TableInfo& table,
                                                     RowSplits splits);
  // Removes what was written, unless finish() succeeded.
  ~HFileExport();

  // Cells in a scan's order: rows ascending, of each row family by family.
  Status add(const CellView& cell);
  // Finishes the files and names the directory.
  Status finish();

  struct Family {
    HFileBuilderOptions options;
    uint64_t files = 0;
    uint64_t cells = 0;
    uint64_t bytes = 0;
  };
  const std::map<std::string, Family, std::less<>>& families() const { return families_; }

 private:
  HFileExport(std::string path, std::string schema, RowSplits splits)
      : path_(std::move(path)), schema_(std::move(schema)), splits_(std::move(splits)) {}
  Status open_file(const std::string& family);
  Status close_files();
  Status write_schema() const;
  Status sync_directories() const;

  const std::string path_;
  const std::string schema_;  // the text of its file
  const RowSplits splits_;
  std::string partial_;  // the directory until finish()
  std::map<std::string, Family, std::less<>> families_;
  std::map<std::string, HFileBuilder, std::less<>> open_;  // of this region, by family
  std::string row_;
  size_t region_ = 0;
  bool begun_ = false;
  bool finished_ = false;
};

// One line for each family that has cells.
void print_families(Session& session, const std::string& path, const HFileExport& made);

}  // namespace cellar
