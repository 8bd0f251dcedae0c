// Rows of a file's record, and the check of a whole list.
#include "engine/manifest/file_order.h"

#include <fmt/format.h>

#include <unordered_set>

#include "base/coding.h"

namespace cellar {
namespace {

// A cell key begins with the length of its row in two bytes, and the row.
std::string_view row_of_key(std::string_view key) {
  if (key.size() < 2) return {};
  return key.substr(2, load_be16(key.data()));
}

}  // namespace

std::string_view first_row_of(const FileRecord& file) { return row_of_key(file.first_key); }
std::string_view last_row_of(const FileRecord& file) { return row_of_key(file.last_key); }

Status check_runs(const std::vector<FileRecord>& files) {
  std::unordered_set<uint64_t> ended;
  for (size_t i = 0; i < files.size(); ++i) {
    const FileRecord& file = files[i];
    if (file.run == 0) continue;
    if (ended.contains(file.run))
      return Status::invalid_argument(fmt::format("the files of run {} do not stand together", file.run));
    if (first_row_of(file).empty() || first_row_of(file) > last_row_of(file))
      return Status::invalid_argument(fmt::format("file {} of run {} has no rows", file.name, file.run));
    if (i + 1 == files.size() || files[i + 1].run != file.run) {
      ended.insert(file.run);
      continue;
    }
    if (last_row_of(file) >= first_row_of(files[i + 1]))
      return Status::invalid_argument(
          fmt::format("files {} and {} of run {} share rows", file.name, files[i + 1].name, file.run));
  }
  return {};
}

}  // namespace cellar
