// Levels: runs by their labels, and small sums over files.
#include "compaction/levels.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"

namespace cellar {

Rows Rows::of(const FilePointers& files) {
  CELLAR_ASSERT(!files.empty());
  Rows rows = of(*files.front());
  for (const StoreFileInfo* file : files) {
    rows.first = std::min<std::string_view>(rows.first, file->first_row);
    rows.last = std::max<std::string_view>(rows.last, file->last_row);
  }
  return rows;
}

FilePointers pointers_to(Files files) {
  FilePointers result;
  for (const StoreFileInfo& file : files) result.push_back(&file);
  return result;
}

uint64_t bytes_that_meet(const Rows& rows, Files files) {
  CELLAR_ASSERT(rows.first <= rows.last);
  uint64_t bytes = 0;
  for (const StoreFileInfo& file : files)
    if (rows.meet(file)) bytes += file.bytes;
  return bytes;
}

uint64_t bytes_of(Files files) {
  uint64_t bytes = 0;
  for (const StoreFileInfo& file : files) bytes += file.bytes;
  return bytes;
}

uint64_t file_bytes_of(uint64_t parameter, const StoreShape& shape) {
  return std::max<uint64_t>(1, parameter != 0 ? parameter : shape.flush_bytes);
}

Levels::Levels(Files files) : all(sorted_runs(files)) {
  size_t old = all.size();
  while (old > 0 && all[old - 1].level == 0) --old;
  young.assign(all.begin() + static_cast<std::ptrdiff_t>(old), all.end());
  uint32_t above = 0;
  for (size_t i = old; i-- > 0;) {
    if (all[i].level <= above || all[i].level > kLevelsMax) {
      misplaced = &all[i];
      return;
    }
    above = all[i].level;
    deep.resize(above);
    deep.back() = &all[i];
  }
  CELLAR_ASSERT(deep.empty() || deep.back() != nullptr);
}

const SortedRun* Levels::run_of(uint32_t level) const {
  CELLAR_ASSERT(level > 0);
  return level <= deep.size() ? deep[level - 1] : nullptr;
}

Files Levels::files_of(uint32_t level) const {
  const SortedRun* run = run_of(level);
  return run != nullptr ? run->files : Files();
}

}  // namespace cellar
