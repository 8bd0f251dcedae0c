// Moves: neighbours in age that lie apart.
#include "compaction/moves.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/assert.h"

namespace cellar {
namespace {

// A run of small files would grow file by file, without bound for its bytes. A memtable of small cells needs
// several times the bytes of its file.
constexpr uint64_t kSmallFiles = 16;  // to a memtable

// An open reads the end of each file, and each file takes a descriptor. Runs of so many files are merged by
// their sizes, as files are.
constexpr size_t kRunFilesMax = 32;

bool gains_by_a_rewrite(const SortedRun& run, const StoreShape& shape) {
  CELLAR_ASSERT(!run.files.empty());
  return run.bytes / run.files.size() < shape.flush_bytes / kSmallFiles ||
         std::ranges::any_of(run.files, [](const StoreFileInfo& file) { return file.deletes > 0; });
}

}  // namespace

std::optional<CompactionPlan> Moves::pick(Runs runs, const StoreShape& shape,
                                          std::vector<std::string>* trace) const {
  if (!moves_) return std::nullopt;
  for (size_t younger = 1; younger < runs.size(); ++younger) {
    const Runs pair = runs.subspan(younger - 1, 2);
    if (!std::ranges::all_of(pair, is_free) || gains_by_a_rewrite(pair.back(), shape)) continue;
    if (pair.front().files.size() + pair.back().files.size() > kRunFilesMax) continue;
    std::optional<CompactionPlan> plan = join_apart(pair, 1);
    if (!plan) continue;
    say(trace, fmt::format("run {} shares no rows with the next older one", younger));
    return plan;
  }
  return std::nullopt;
}

}  // namespace cellar
