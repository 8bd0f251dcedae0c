// HBasePlaces: where in HBase's directories a file lies that a name stands for. Nothing outside the directory
// that was named, or the root of HBase that holds it, is touched; symbolic links are not followed.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "tools/hbase/hbase_names.h"
#include "tools/hbase/hbase_records.h"

namespace cellar {

// A store file of a family: an HFile, or a part of one that lies elsewhere.
struct HBaseStoreFile {
  std::string name;  // as the family's directory, or a snapshot, has it
  std::string path;  // of the HFile
  std::optional<HBaseHalf> half;
};

// What lies below a root of HBase: ROOT/data/NAMESPACE/TABLE/REGION/FAMILY, ROOT/archive/data/…,
// ROOT/.hbase-snapshot/NAME. A value.
class HBasePlaces {
 public:
  // Of a directory that exists. kIoError.
  static Result<HBasePlaces> of(const std::string& directory);

  // The directory, without links in its path.
  const std::string& directory() const { return directory_; }
  // Empty when the directory is in none.
  const std::string& root() const { return root_; }
  // What the directory's place below its root says of it; nothing where it says nothing.
  const std::optional<HBaseTableName>& table() const { return table_; }
  const std::string& region() const { return region_; }  // empty: the directory is no part of one
  // The table's directory, as far as it may be looked into: it, or an empty string.
  std::string table_directory() const;

  // From here on `directory` itself is known to be a table's.
  void set_table_directory() { is_table_ = true; }

  // The path of a store file, of this table (`table` is null) or another one. kNotFound names the places
  // where it was looked for, kNotSupported a link of the file system.
  Result<std::string> find(const HBaseTableName* table, std::string_view region, std::string_view family,
                           std::string_view hfile) const;
  // What a name means that parse_hbase_reference_name() has understood. `half` is known of a snapshot's file,
  // else read from the file of that name.
  Result<HBaseStoreFile> resolve(const HBaseFileName& meaning, const std::string& path,
                                 std::string_view family, std::optional<HBaseHalf> half) const;

 private:
  std::string directory_;
  std::string root_;
  std::optional<HBaseTableName> table_;
  std::string region_;
  bool is_table_ = false;
};

// The whole of a small file: kLimit when it is longer than `bytes_max`, kNotSupported for a link of the file
// system.
Result<std::string> read_small_file(const std::string& path, uint64_t bytes_max);
// Whether the name is of a regular file or a directory, and neither a link.
bool is_plain_file(const std::string& path);
bool is_plain_directory(const std::string& path);

// A file that was named: itself, or what a half or link of HBase's stands for.
Result<HBaseStoreFile> hbase_file_behind(const std::string& path);

}  // namespace cellar
