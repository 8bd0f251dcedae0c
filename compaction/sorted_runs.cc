// Sorted runs: neighbours with the same number.
#include "compaction/sorted_runs.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"

namespace cellar {

std::vector<std::span<const StoreFileInfo>> runs_of(std::span<const StoreFileInfo> files) {
  std::vector<std::span<const StoreFileInfo>> runs;
  for (size_t begin = 0; begin < files.size();) {
    size_t end = begin + 1;
    if (files[begin].run != 0)
      while (end < files.size() && files[end].run == files[begin].run) ++end;
    CELLAR_ASSERT(end > begin && end <= files.size());
    runs.push_back(files.subspan(begin, end - begin));
    begin = end;
  }
  return runs;
}

std::vector<SortedRun> sorted_runs(std::span<const StoreFileInfo> files) {
  std::vector<SortedRun> runs;
  for (const std::span<const StoreFileInfo> part : runs_of(files)) {
    CELLAR_ASSERT(!part.empty());
    SortedRun& run = runs.emplace_back();
    run.id = part.front().run != 0 ? part.front().run : part.front().id;
    run.level = part.front().level;
    run.files = part;
    for (const StoreFileInfo& file : part) {
      run.bytes += file.bytes;
      run.busy = run.busy || file.busy;
    }
  }
  return runs;
}

bool is_free(const SortedRun& run) {
  CELLAR_ASSERT(!run.files.empty());
  return !run.busy && std::ranges::none_of(run.files, &StoreFileInfo::exclude_from_minor);
}

uint64_t bytes_of(std::span<const SortedRun> runs) {
  uint64_t bytes = 0;
  for (const SortedRun& run : runs) bytes += run.bytes;
  return bytes;
}

void say(std::vector<std::string>* trace, std::string line) {
  if (trace != nullptr) trace->push_back(std::move(line));
}

}  // namespace cellar
