// RowSplits: reading, and finding a row's region.
#include "tools/store/row_splits.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/bytes.h"
#include "cellar/file_system.h"
#include "tools/frame/operands.h"

namespace cellar {

Result<RowSplits> RowSplits::read(const std::string& path) {
  RowSplits splits;
  if (path.empty()) return splits;
  constexpr uint64_t kBytesMax = 64u << 20;
  CELLAR_TRY_ASSIGN(const std::unique_ptr<ReadableFile> file, posix_file_system().open_file(path));
  if (file->size() > kBytesMax) return Status::limit("a splits file of more than 64 MiB").at(path);
  std::string text(file->size(), '\0');
  CELLAR_TRY(file->read(0, text.size(), text.data()));
  size_t line = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    std::string_view row_text = std::string_view(text).substr(at, end - at);
    if (row_text.ends_with('\r')) row_text.remove_suffix(1);
    at = end + 1;
    const std::string place = fmt::format("{}: line {}", path, ++line);
    if (row_text.empty()) return Status::invalid_argument("a row key is empty").at(place);
    auto row = parse_bytes(row_text);
    if (!row.ok()) return row.status().at(place);
    splits.rows_.push_back(std::move(row).value());
  }
  std::ranges::sort(splits.rows_);
  const auto twice = std::ranges::adjacent_find(splits.rows_);
  if (twice != splits.rows_.end())
    return Status::invalid_argument(fmt::format("row key \"{}\" is given twice", escaped(*twice))).at(path);
  return splits;
}

RowSplits RowSplits::of(std::vector<std::string> rows) {
  RowSplits splits;
  splits.rows_ = std::move(rows);
  std::ranges::sort(splits.rows_);
  return splits;
}

size_t RowSplits::region_of(std::string_view row) const {
  const auto after =
      std::upper_bound(rows_.begin(), rows_.end(), row,
                       [](std::string_view a, const std::string& b) { return a.compare(b) < 0; });
  return static_cast<size_t>(after - rows_.begin());
}

}  // namespace cellar
