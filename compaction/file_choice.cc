// Which file of a level goes down: the lowest figure, or the next one in a circle.
#include "compaction/file_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/assert.h"

namespace cellar {
namespace {

double in_proportion(uint64_t amount, uint64_t to) {
  return static_cast<double>(amount) / static_cast<double>(std::max<uint64_t>(1, to));
}

// Returns the file after those that went down last. A cursor would be state, so the shape says where it is.
// Ids ascend, so the file of the next level with the greatest id was written last. A file that moved keeps
// its id, so it does not move the cursor. But it has left its level, and cannot be chosen again.
const StoreFileInfo* next_in_circle(const FilePointers& files, Files below) {
  CELLAR_ASSERT(!files.empty());
  if (below.empty()) return files.front();
  const StoreFileInfo& newest = *std::ranges::max_element(below, {}, &StoreFileInfo::id);
  const auto after = [&](const StoreFileInfo* file) { return file->first_row > newest.last_row; };
  const auto next = std::ranges::find_if(files, after);
  return next != files.end() ? *next : files.front();
}

// Returns the files that may go down now.
FilePointers free_of(Files files, Files below) {
  FilePointers result;
  for (const StoreFileInfo& file : files) {
    const Rows rows = Rows::of(file);
    const auto blocks = [&](const StoreFileInfo& each) { return each.busy && rows.meet(each); };
    if (!file.busy && std::ranges::none_of(below, blocks)) result.push_back(&file);
  }
  return result;
}

}  // namespace

FileChoice::FileChoice(const PluginParams& params)
    : name_(params.choice("pick", "least_overlap",
                          {"least_overlap", "least_overlap_grandparent", "round_robin", "oldest",
                           "oldest_write", "coldest", "tombstones", "tombstone_age", "whole"})) {}

FilePointers FileChoice::chosen(Files files, Files below, Files grandparents,
                                std::vector<std::string>* trace) const {
  CELLAR_ASSERT(!files.empty());
  const FilePointers candidates = free_of(files, below);
  if (candidates.empty() || (name_ == "whole" && candidates.size() < files.size())) return {};
  if (name_ == "whole") return candidates;
  const StoreFileInfo* best = nullptr;
  if (name_ == "round_robin") {
    best = next_in_circle(candidates, below);
    say(trace, fmt::format("file {} is the next one in the circle", best->id));
  } else {
    std::pair<double, double> least;
    for (const StoreFileInfo* file : candidates) {
      const std::pair<double, double> cost = cost_of(*file, below, grandparents);
      if (best != nullptr && cost >= least) continue;
      best = file;
      least = cost;
    }
    say(trace, fmt::format("file {} has the lowest figure of {}: {:.2f}", best->id, name_, least.first));
  }
  return {best};
}

std::pair<double, double> FileChoice::cost_of(const StoreFileInfo& file, Files below,
                                              Files grandparents) const {
  if (name_ == "oldest") return {static_cast<double>(file.sequence_max), 0};
  if (name_ == "oldest_write") return {static_cast<double>(file.sequence_min), 0};
  if (name_ == "coldest")
    return {static_cast<double>(file.last_read), static_cast<double>(file.sequence_max)};
  const double overlap = in_proportion(bytes_that_meet(Rows::of(file), below), file.bytes);
  if (name_ == "least_overlap") return {overlap, 0};
  if (name_ == "tombstones") return {-in_proportion(file.deletes, file.cells), overlap};
  if (name_ == "tombstone_age") return {static_cast<double>(file.earliest_delete), overlap};
  CELLAR_ASSERT(name_ == "least_overlap_grandparent");
  // Without a level after the next, all files would be equal. The first one would then go down each time.
  return {in_proportion(bytes_that_meet(Rows::of(file), grandparents), file.bytes), overlap};
}

}  // namespace cellar
