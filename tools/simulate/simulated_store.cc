// SimulatedStore: merges of sorted cells, and the engine's order of files.
#include "tools/simulate/simulated_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "base/assert.h"
#include "compaction/plan.h"
#include "engine/manifest/file_order.h"

namespace cellar {
namespace {

bool row_before(const SimulatedCell& a, const SimulatedCell& b) {
  return a.row != b.row ? a.row < b.row : a.stamp_us > b.stamp_us;
}

std::string_view row_of(const StoreFileInfo& file) { return file.first_row; }

bool meets(const StoreFileInfo& file, std::string_view first, std::string_view last) {
  return file.first_row <= last && file.last_row >= first;
}

}  // namespace

std::string simulated_row(uint32_t row) {
  std::string text(4, '\0');
  for (size_t i = 0; i < 4; ++i) text[i] = static_cast<char>(row >> (24 - 8 * i));
  return text;
}

// The inputs of a plan, by runs.
struct SimulatedStore::Inputs {
  std::vector<std::vector<uint64_t>> runs;  // ids of the files, the oldest run first
  std::string_view first_row;
  std::string_view last_row;
  uint64_t bytes = 0;
  int64_t whole_runs = 0;     // of which nothing is left, without the output's
  bool nothing_older = true;  // no older run than the output's has rows between first_row and last_row
  bool all_files = false;
};

uint64_t SimulatedStore::flush(Cells cells, int64_t now_us) {
  std::ranges::sort(cells, row_before);
  const Cells kept = judged(cells, false, now_us);
  if (kept.empty()) return 0;
  const StoreFileInfo info = info_of(kept, now_us);
  ++changes_;
  contents_[info.id] = kept;
  bytes_ += info.bytes;
  infos_.push_back(info);
  return info.bytes;
}

// See compaction/plan.h: the plan has been checked, so its inputs and its run exist.
SimulatedStore::Inputs SimulatedStore::inputs_of(const CompactionPlan& plan) const {
  const std::vector<uint64_t> ids = [&] {
    std::vector<uint64_t> sorted = plan.inputs;
    std::ranges::sort(sorted);
    return sorted;
  }();
  Inputs result;
  std::vector<const StoreFileInfo*> older;  // that are no inputs, in older runs than the output's
  bool output_seen = false;
  size_t files = 0;
  for (size_t begin = 0; begin < infos_.size();) {
    const FileRange run = run_around(infos_, begin);
    std::vector<uint64_t> chosen;
    std::vector<const StoreFileInfo*> others;
    for (size_t i = run.begin; i < run.end; ++i) {
      const StoreFileInfo& file = infos_[i];
      if (!std::ranges::binary_search(ids, file.id)) {
        others.push_back(&file);
        continue;
      }
      chosen.push_back(file.id);
      result.bytes += file.bytes;
      if (files++ == 0 || file.first_row < result.first_row) result.first_row = file.first_row;
      if (files == 1 || file.last_row > result.last_row) result.last_row = file.last_row;
    }
    const bool output = plan.run != 0 ? infos_[run.begin].run == plan.run : !chosen.empty();
    output_seen = output_seen || output;
    if (!output_seen) older.insert(older.end(), others.begin(), others.end());
    if (!chosen.empty()) {
      if (others.empty() && (plan.run == 0 || infos_[run.begin].run != plan.run)) ++result.whole_runs;
      result.runs.push_back(std::move(chosen));
    }
    begin = run.end;
  }
  CELLAR_ASSERT(files == plan.inputs.size() && files > 0);
  result.all_files = files == infos_.size();
  for (const StoreFileInfo* file : older)
    result.nothing_older = result.nothing_older && !meets(*file, result.first_row, result.last_row);
  return result;
}

bool SimulatedStore::is_blocked(const Inputs& inputs, const CompactionPlan& plan) const {
  return plan.run != 0 && std::ranges::any_of(running_, [&](const Running& other) {
           return other.compaction.plan.run == plan.run && other.first_row <= inputs.last_row &&
                  other.last_row >= inputs.first_row;
         });
}

Result<SimulatedStore::Compaction> SimulatedStore::begin(const CompactionPlan& plan, int64_t now_us) {
  CELLAR_TRY(check_plan(plan, shape(now_us), false));
  const Inputs inputs = inputs_of(plan);
  if (is_blocked(inputs, plan)) return Status::busy("a compaction runs that adds to the same rows");
  Running running;
  running.compaction.plan = plan;
  running.compaction.number = next_compaction_++;
  running.first_row = inputs.first_row;
  running.last_row = inputs.last_row;
  running.bytes_begun = bytes_;
  running.inputs_bytes = inputs.bytes;
  const int64_t added = plan.drop || plan.run != 0 ? 0 : 1;
  running.compaction.runs_replaced = plan.move ? 0 : inputs.whole_runs - added;
  if (!plan.move && !plan.drop) {
    const bool final = inputs.all_files || (plan.level > 0 && inputs.nothing_older);
    split(merged(inputs, final, now_us), final, now_us, running);
    running.compaction.bytes_in = inputs.bytes;
    for (const StoreFileInfo& file : running.files) running.compaction.bytes_out += file.bytes;
  }
  for (const uint64_t id : plan.inputs) std::ranges::find(infos_, id, &StoreFileInfo::id)->busy = true;
  running_.push_back(std::move(running));
  return running_.back().compaction;
}

void SimulatedStore::end(const Compaction& compaction) {
  const auto found = std::ranges::find(running_, compaction.number,
                                       [](const Running& each) { return each.compaction.number; });
  CELLAR_ASSERT(found != running_.end());
  Running running = std::move(*found);
  running_.erase(found);
  ++changes_;
  const CompactionPlan& plan = running.compaction.plan;
  size_t place = infos_.size();
  for (const uint64_t id : plan.inputs) {
    const auto file = std::ranges::find(infos_, id, &StoreFileInfo::id);
    CELLAR_ASSERT(file != infos_.end() && file->busy);
    bytes_ -= file->bytes;
    if (plan.move) {
      running.files.push_back(*file);
      running.files.back().busy = false;
      running.contents.push_back(std::move(contents_[id]));
    }
    contents_.erase(id);
    take_out(infos_, static_cast<size_t>(file - infos_.begin()), place);
  }
  // As in the engine: several files, or files with a level, are a run with a number.
  const bool numbered = running.files.size() > 1 || plan.level != 0;
  const uint64_t run = plan.run != 0 ? plan.run : numbered ? next_id_++ : 0;
  for (size_t i = 0; i < running.files.size(); ++i) {
    StoreFileInfo& file = running.files[i];
    file.run = run;
    file.level = plan.level;
    bytes_ += file.bytes;
    contents_[file.id] = std::move(running.contents[i]);
    insert_file(infos_, std::move(file), place, row_of);
  }
}

// A version limit, delete markers and the time to live, as the engine's compactions apply them without open
// snapshots. Only a compaction after which nothing older is left drops markers.
SimulatedStore::Cells SimulatedStore::judged(const Cells& cells, bool final, int64_t now_us) const {
  Cells kept;
  kept.reserve(cells.size());
  const int64_t oldest_us = rules_.ttl_ms >= INT64_MAX / 1000 ? INT64_MIN : now_us - rules_.ttl_ms * 1000;
  bool first = true;
  uint32_t row = 0;
  uint32_t versions = 0;
  bool hidden = false;
  for (const SimulatedCell& cell : cells) {
    if (first || cell.row != row) {
      first = false;
      row = cell.row;
      versions = 0;
      hidden = false;
    }
    if (cell.stamp_us < oldest_us) continue;
    if (cell.marker != 0) {
      hidden = true;
      if (!final) kept.push_back(cell);
    } else if (!hidden && versions < rules_.versions) {
      ++versions;
      kept.push_back(cell);
    }
  }
  return kept;
}

SimulatedStore::Cells SimulatedStore::merged(const Inputs& inputs, bool final, int64_t now_us) const {
  std::vector<Cells> sorted;  // a run each
  for (const std::vector<uint64_t>& run : inputs.runs) {
    Cells& cells = sorted.emplace_back();
    for (const uint64_t id : run) {
      const Cells& file = contents_.at(id);
      cells.insert(cells.end(), file.begin(), file.end());
    }
  }
  while (sorted.size() > 1) {  // neighbours in pairs
    std::vector<Cells> next;
    for (size_t i = 0; i + 1 < sorted.size(); i += 2) {
      Cells& both = next.emplace_back(sorted[i].size() + sorted[i + 1].size());
      std::ranges::merge(sorted[i], sorted[i + 1], both.begin(), row_before);
    }
    if (sorted.size() % 2 != 0) next.push_back(std::move(sorted.back()));
    sorted = std::move(next);
  }
  return judged(sorted.front(), final, now_us);
}

// A file ends between two rows, when it is full or where the plan says so.
void SimulatedStore::split(const Cells& cells, bool final, int64_t now_us, Running& running) {
  const CompactionPlan& plan = running.compaction.plan;
  size_t starts = 0;
  uint64_t bytes = 0;
  Cells file;
  const auto finish = [&] {
    if (file.empty()) return;
    running.files.push_back(info_of(file, now_us));
    running.files.back().major = final;
    running.contents.push_back(std::move(file));
    file.clear();
    bytes = 0;
  };
  for (const SimulatedCell& cell : cells) {
    if (file.empty() || file.back().row != cell.row) {
      bool ends = plan.file_bytes != 0 && bytes >= plan.file_bytes;
      while (starts < plan.file_starts.size() && plan.file_starts[starts] <= simulated_row(cell.row)) {
        ++starts;
        ends = true;
      }
      if (ends) finish();
    }
    file.push_back(cell);
    bytes += size_of(cell);
  }
  finish();
}

StoreFileInfo SimulatedStore::info_of(const Cells& cells, int64_t now_us) {
  CELLAR_ASSERT(!cells.empty());
  StoreFileInfo info;
  info.id = next_id_++;
  info.cells = cells.size();
  info.bytes = rules_.file_overhead;
  info.first_row = simulated_row(cells.front().row);
  info.last_row = simulated_row(cells.back().row);
  int64_t oldest_us = INT64_MAX;
  int64_t newest_us = INT64_MIN;
  int64_t put_us = INT64_MAX;
  for (const SimulatedCell& cell : cells) {
    oldest_us = std::min(oldest_us, cell.stamp_us);
    newest_us = std::max(newest_us, cell.stamp_us);
    info.deletes += cell.marker;
    if (cell.marker != 0) info.earliest_delete = std::min(info.earliest_delete, cell.stamp_us / 1000);
    info.bytes += size_of(cell);
    if (cell.marker == 0) put_us = std::min(put_us, cell.stamp_us);
  }
  info.sequence_min = static_cast<uint64_t>(oldest_us);
  info.sequence_max = static_cast<uint64_t>(newest_us);
  info.time_min = oldest_us / 1000;
  info.time_max = newest_us / 1000;
  info.earliest_put = put_us == INT64_MAX ? INT64_MAX : put_us / 1000;
  info.created_ms = now_us / 1000;
  info.last_read = changes_;
  return info;
}

StoreShape SimulatedStore::shape(int64_t now_us) const {
  int64_t replaced = 0;
  for (const Running& each : running_) replaced += each.compaction.runs_replaced;
  const int64_t now_ms = now_us / 1000;
  return {.files = infos_,
          .now_ms = now_ms,
          .ttl_ms = rules_.ttl_ms,
          .flush_bytes = rules_.flush_bytes,
          .files_stop = static_cast<uint32_t>(rules_.files_stop + std::max<int64_t>(0, replaced)),
          .erase_before_ms = rules_.ttl_ms == INT64_MAX ? INT64_MIN : now_ms - rules_.ttl_ms,
          .earliest_in_memory = now_ms};
}

void SimulatedStore::read(uint32_t row) {
  const std::string text = simulated_row(row);
  for (size_t i = infos_.size(); i-- > 0;) {
    StoreFileInfo& file = infos_[i];
    if (!meets(file, text, text)) continue;
    const Cells& cells = contents_.at(file.id);
    const auto found = std::ranges::lower_bound(cells, row, {}, &SimulatedCell::row);
    if (found == cells.end() || found->row != row) continue;
    file.last_read = changes_;
    return;
  }
}

uint64_t SimulatedStore::run_count() const {
  int64_t runs = 0;
  for (size_t i = 0; i < infos_.size(); ++i)
    if (i == 0 || infos_[i].run == 0 || infos_[i].run != infos_[i - 1].run) ++runs;
  for (const Running& each : running_) runs -= each.compaction.runs_replaced;
  return static_cast<uint64_t>(std::max<int64_t>(0, runs));
}

uint64_t SimulatedStore::runs_of_row(uint32_t row) const {
  const std::string text = simulated_row(row);
  return static_cast<uint64_t>(
      std::ranges::count_if(infos_, [&](const StoreFileInfo& file) { return meets(file, text, text); }));
}

void SimulatedStore::backlog(uint64_t& newer, uint64_t& inputs) const {
  newer = inputs = 0;
  if (running_.empty()) return;
  const Running& oldest = running_.front();
  newer = bytes_ - std::min(bytes_, oldest.bytes_begun);
  inputs = oldest.inputs_bytes;
}

}  // namespace cellar
