// BulkFiles: a directory laid out for HBase's bulk load, DIR/<family>/<file>, and what of it HBase passes
// over.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cellar/status.h"

namespace cellar {

// HBase's classes of files by their name alone.
enum class BulkName : uint8_t {
  kFile,
  kHidden,     // begins with '_': passed over without a word
  kReference,  // hex digits, a dot and anything, as references to files of split regions are called
  kLink,       // table=region-file
};
BulkName bulk_name_of(std::string_view name);
// Returns true if HBase takes a directory of this name for a family.
bool is_family_name(std::string_view name);

struct BulkFile {
  std::string family;
  std::string path;
};

// Something in the directory that HBase would not load.
struct BulkStray {
  std::string path;
  std::string why;
  bool matters = true;  // it may hold cells; else a marker that a job left
};

struct BulkFiles {
  std::vector<BulkFile> files;  // by family, then name
  std::vector<BulkStray> strays;
};

// Returns the path without slashes at its end.
std::string without_slash(std::string path);

// kNotFound, kIoError.
Result<BulkFiles> find_bulk_files(const std::string& directory);

}  // namespace cellar
