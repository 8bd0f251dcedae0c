// HBasePlaces: finds the file in HBase's directories that a name refers to. It opens nothing outside the
// directory that the user named and the root of HBase around it. It follows no symbolic links.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "tools/hbase/hbase_names.h"
#include "tools/hbase/hbase_records.h"

namespace cellar {

// HBaseStoreFile: a store file of a family: an HFile, or a part of an HFile in another directory.
struct HBaseStoreFile {
  std::string name;  // name in the family's directory or in the snapshot
  std::string path;  // path of the HFile
  std::optional<HBaseHalf> half;
};

// HBasePlaces: the layout below a root of HBase: ROOT/data/NAMESPACE/TABLE/REGION/FAMILY,
// ROOT/archive/data/…, ROOT/.hbase-snapshot/NAME. A value type.
class HBasePlaces {
 public:
  // Finds the root, table and region of a directory that exists. kIoError if its path cannot be resolved.
  static Result<HBasePlaces> of(const std::string& directory);

  // Returns the path of the directory, with symbolic links resolved.
  const std::string& directory() const { return directory_; }
  // Returns the path of the root; empty if the directory is not below a root.
  const std::string& root() const { return root_; }
  // Return the table and the region that the directory's path names; nullopt and empty if it names none.
  const std::optional<HBaseTableName>& table() const { return table_; }
  // Returns the path of the table's directory; empty if it is unknown or may not be read.
  std::string table_directory() const;

  // Declares that `directory` itself is a table's directory.
  void set_table_directory() { is_table_ = true; }

  // Returns the path of a store file of `table`, or of this table if `table` is null. Errors: kNotFound with
  // the places that were searched; kNotSupported if the path contains a symbolic link; kCorruption if a name
  // is invalid.
  Result<std::string> find(const HBaseTableName* table, std::string_view region, std::string_view family,
                           std::string_view hfile) const;
  // Finds the file for a name that parse_hbase_reference_name() parsed. `half` comes from a snapshot's
  // manifest; if it is not set, it is read from the file at `path`.
  Result<HBaseStoreFile> resolve(const HBaseFileName& meaning, const std::string& path,
                                 std::string_view family, std::optional<HBaseHalf> half) const;

 private:
  std::string directory_;
  std::string root_;
  std::optional<HBaseTableName> table_;
  std::string region_;  // empty if the directory is not part of a region
  bool is_table_ = false;
};

// Reads a whole small file. kLimit if it has more than `bytes_max` bytes; kNotSupported if it is a symbolic
// link.
Result<std::string> read_small_file(const std::string& path, uint64_t bytes_max);
// Return whether the path is a regular file, or a directory; false for symbolic links.
bool is_plain_file(const std::string& path);
bool is_plain_directory(const std::string& path);

// Returns the file at `path` itself, or the file that this half or link of HBase's refers to.
Result<HBaseStoreFile> hbase_file_behind(const std::string& path);

}  // namespace cellar
