// Mirror: what the engine tells of its flushes and compactions, done to the model as well.
#include "tests/metamorphic/mirror.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "engine/manifest/file_order.h"

namespace cellar::testing {
namespace {

Cells of_row(const Cells& cells, const std::string& row) {
  Cells result;
  for (const Cell& cell : cells)
    if (cell.row == row) result.push_back(cell);
  return result;
}

// Memory first, then runs, youngest first.
std::vector<Cells> sources_of_row(const MirrorFamily& family, const std::string& row) {
  std::vector<Cells> sources = {of_row(family.memory, row)};
  for (size_t i = family.runs.size(); i-- > 0;) sources.push_back(of_row(family.runs[i].cells, row));
  return sources;
}

void add_rows(const Cells& cells, std::set<std::string>& rows) {
  for (const Cell& cell : cells) rows.insert(cell.row);
}

// Returns the cells that a rewrite of these sources (youngest first) keeps. The oldest put of all rows
// matters to each row. It therefore takes part in a row of its own, which cannot exist otherwise.
Cells rewritten(const std::vector<Cells>& sources, bool all_files, const Rewrite& rewrite) {
  std::set<std::string> rows;
  std::optional<Cell> oldest_put;
  for (const Cells& source : sources) {
    add_rows(source, rows);
    for (const Cell& cell : source)
      if (cell.type == CellType::kPut && (!oldest_put || cell.timestamp < oldest_put->timestamp))
        oldest_put = cell;
  }
  if (oldest_put) oldest_put->row.clear();
  Cells result;
  for (const std::string& row : rows) {
    std::vector<Cells> inputs;
    for (const Cells& source : sources) inputs.push_back(of_row(source, row));
    if (oldest_put) inputs.back().push_back(*oldest_put);
    for (Cell& cell : ModelStore::rewritten(inputs, rewrite.rules, all_files, rewrite.how))
      if (!cell.row.empty()) result.push_back(std::move(cell));
  }
  return result;
}

bool in_bounds(const std::string& row, const ModelScan& scan, const std::string& prefix) {
  if (!prefix.empty()) return row.starts_with(prefix);
  const int sign = scan.reversed ? -1 : 1;
  const int from_start = row.compare(scan.start) * sign;
  const int from_stop = row.compare(scan.stop) * sign;
  if (!scan.start.empty() && (scan.start_inclusive ? from_start < 0 : from_start <= 0)) return false;
  return scan.stop.empty() || (scan.stop_inclusive ? from_stop <= 0 : from_stop < 0);
}

void add_parts(const Cells& cells, const ModelScan& scan, std::vector<Part>& parts) {
  for (Cells& part : parts_of(cells, scan)) parts.push_back({std::move(part), true});
  if (!cells.empty()) parts.back().more = false;
}

}  // namespace

std::string to_text(const std::vector<Part>& parts) {
  std::string text;
  for (const Part& part : parts)
    text += print_cells(part.cells) + (part.more ? "  … row goes on\n" : "  .\n");
  return parts.empty() ? "nothing\n" : text;
}

Mirror::Mirror(const TableOptions& table) {
  for (const FamilyOptions& family : table.families) {
    families_[family.name].rules = rules_of(family);
    families_[family.name].rises = family.stamps == Stamps::kRising;
  }
}

// Returns the time of an unstamped cell. It is after all stored cells of its column. The time of a marker is
// not before the cells that it covers, hidden or not.
int64_t Mirror::risen(const Cell& cell, int64_t now_ms, const Cells& written) const {
  if (cell.type == CellType::kDelete || cell.type == CellType::kDeleteFamilyVersion) return cell.timestamp;
  int64_t time = now_ms;
  const auto rise = [&](const Cell& other) {
    const bool bears = cell.type == CellType::kDeleteFamily || covers_family(other.type) ||
                       other.qualifier == cell.qualifier;
    if (bears && other.family == cell.family && other.row == cell.row)
      time = std::max(time, other.timestamp + (cell.type == CellType::kPut ? 1 : 0));
  };
  for (const Cells& source : sources_of_row(families_.at(cell.family), cell.row))
    for (const Cell& other : source) rise(other);
  for (const Cell& other : written) rise(other);
  return time;
}

Result<std::map<std::string, Cells>> Mirror::cells_of(const RowChange& change, int64_t now_ms,
                                                      Written& written) const {
  std::vector<ModelChange> changes = change.changes;
  if (change.is_delete && changes.empty()) {
    ModelChange& row = changes.emplace_back();
    row.kind = ModelChange::Kind::kDeleteRow;
    row.row = change.row;
    row.timestamp = change.timestamp;
  }
  std::map<std::string, FamilyRules> rules;
  for (const auto& [name, family] : families_) rules[name] = family.rules;
  ModelTable table(rules);
  const bool reads = std::ranges::any_of(changes, [](const ModelChange& each) {
    return each.kind == ModelChange::Kind::kIncrement || each.kind == ModelChange::Kind::kAppend ||
           each.kind == ModelChange::Kind::kDeleteLatest;
  });
  for (const auto& [name, family] : families_) {
    if (!reads) break;
    // Oldest first: of equal cells, such as two files of one ingest may hold, the last stays.
    const std::vector<Cells> sources = sources_of_row(family, change.row);
    for (size_t i = sources.size(); i-- > 0;)
      for (const Cell& cell : sources[i]) table.family(name).write({cell}, cell.sequence);
  }
  return table.cells_of(changes, now_ms, [&](Cell& cell, bool unstamped) {
    Cells& before = written[this];
    if (unstamped && families_.at(cell.family).rises) cell.timestamp = risen(cell, now_ms, before);
    before.push_back(cell);
  });
}

void Mirror::write(const std::map<std::string, Cells>& cells, uint64_t sequence, bool unlogged) {
  if (unlogged) unlogged_.insert(sequence);
  for (const auto& [name, written] : cells) {
    Cells& memory = families_.at(name).memory;
    for (Cell cell : written) {
      cell.sequence = sequence;
      std::erase_if(memory,
                    [&](const Cell& each) { return each.sequence == sequence && compare(each, cell) == 0; });
      memory.push_back(std::move(cell));
    }
  }
}

Rewrite Mirror::with_outside(const MirrorFamily& family, size_t memory_inside,
                             const std::vector<std::string>& inside, Rewrite rewrite) {
  const bool keeps_deleted = rewrite.rules.keep_deleted_cells != KeepDeleted::kFalse;
  const auto add = [&](const Cell& cell, bool in_memory, bool takes_part) {
    if (!takes_part && (in_memory || cell.type == CellType::kPut))
      rewrite.how.earliest_outside = std::min(rewrite.how.earliest_outside, cell.timestamp);
    if ((!takes_part || keeps_deleted) &&
        (cell.type == CellType::kDelete || cell.type == CellType::kDeleteFamilyVersion))
      rewrite.how.keep_versions = rewrite.any_snapshot;
  };
  for (size_t i = 0; i < family.memory.size(); ++i) add(family.memory[i], true, i < memory_inside);
  std::optional<std::pair<std::string, std::string>> hull;  // of a compaction's inputs
  for (const MirrorFamily::Run& run : family.runs) {
    if (std::ranges::count(inside, run.name) == 0) continue;
    const std::string& first = run.cells.front().row;
    const std::string& last = run.cells.back().row;
    hull =
        hull ? std::pair(std::min(hull->first, first), std::max(hull->second, last)) : std::pair(first, last);
  }
  for (const MirrorFamily::Run& run : family.runs) {
    const bool takes_part = std::ranges::count(inside, run.name) != 0;
    if (!takes_part && hull && (run.cells.back().row < hull->first || run.cells.front().row > hull->second))
      continue;  // it shares no rows with them
    for (const Cell& cell : run.cells) add(cell, false, takes_part);
  }
  return rewrite;
}

std::optional<std::string> Mirror::flush(const std::string& name, const std::string& file, uint64_t cells_in,
                                         uint64_t cells_out, const Rewrite& rewrite) {
  MirrorFamily& family = families_.at(name);
  Cells& memory = family.memory;
  if (cells_in > memory.size())
    return fmt::format("flush of {} cells of {}, memory has {}", cells_in, name, memory.size());
  if (cells_in > 0 && cells_in < memory.size() && memory[cells_in - 1].sequence == memory[cells_in].sequence)
    return fmt::format("flush of {} cells of {} splits write {}", cells_in, name, memory[cells_in].sequence);
  const auto end = memory.begin() + static_cast<ptrdiff_t>(cells_in);
  MirrorFamily::Run run{file, rewritten({sorted(Cells(memory.begin(), end))}, false,
                                        with_outside(family, cells_in, {}, rewrite))};
  memory.erase(memory.begin(), end);
  if (run.cells.size() != cells_out || run.cells.empty() != file.empty())
    return fmt::format("flush of {} wrote {} cells, the model keeps {}:\n{}", name, cells_out,
                       run.cells.size(), print_cells(run.cells));
  if (!run.cells.empty()) family.runs.push_back(std::move(run));
  return std::nullopt;
}

void Mirror::ingest(const std::string& name, const std::string& file, Cells cells) {
  families_.at(name).runs.push_back({file, sorted(std::move(cells))});
}

void Mirror::lose_unlogged() {
  for (auto& [name, family] : families_)
    std::erase_if(family.memory, [&](const Cell& each) { return unlogged_.contains(each.sequence); });
  unlogged_.clear();  // the numbers of those that were last are given anew
}

std::optional<std::string> Mirror::recover(const FamilyInfo& found, const Rewrite& rewrite) {
  const std::string& name = found.options.name;
  MirrorFamily& family = families_.at(name);
  for (size_t i = family.runs.size(); i < found.files.size(); ++i) {
    const StoreFileInfo& file = found.files[i];
    const auto end = std::ranges::find_if(
        family.memory, [&](const Cell& cell) { return cell.sequence > file.sequence_max; });
    const auto cells = static_cast<uint64_t>(end - family.memory.begin());
    if (auto wrong = flush(name, file.name, cells, file.cells, rewrite)) return "recovered: " + *wrong;
  }
  if (family.memory.empty()) return std::nullopt;
  return flush(name, "", family.memory.size(), 0, rewrite);  // nothing was left to write
}

// Takes the inputs of a compaction out of the runs, the oldest first. `place` is where new runs belong.
std::optional<std::vector<MirrorFamily::Run>> Mirror::take_inputs(MirrorFamily& family,
                                                                  const CompactionInfo& info, size_t& place) {
  std::vector<MirrorFamily::Run> inputs;
  size_t least = 0;
  place = family.runs.size();
  for (const std::string& name : info.inputs) {
    const auto found = std::ranges::find(family.runs, name, &MirrorFamily::Run::name);
    const auto index = static_cast<size_t>(found - family.runs.begin());
    if (found == family.runs.end() || index < least) return std::nullopt;
    least = index;  // where the next one is, at the earliest, after this one is gone
    inputs.push_back(*found);
    take_out(family.runs, index, place);
  }
  return inputs;
}

Rewrite Mirror::compaction_begins(const CompactionInfo& info, const Rewrite& rewrite) const {
  return with_outside(families_.at(info.family), 0, info.inputs, rewrite);
}

std::optional<std::string> Mirror::compact(const CompactionInfo& info, const Rewrite& with) {
  MirrorFamily& family = families_.at(info.family);
  size_t place = 0;
  const auto inputs = take_inputs(family, info, place);
  if (!inputs) return "inputs of a compaction are unknown, or not in their order";
  const auto row_of = [](const MirrorFamily::Run& run) -> std::string_view { return run.cells.front().row; };
  if (info.moved) {
    for (size_t i = 0; i < inputs->size(); ++i) {
      MirrorFamily::Run moved = (*inputs)[i];
      moved.run = info.outputs.at(i).run;
      insert_file(family.runs, std::move(moved), place, row_of);
    }
    return std::nullopt;
  }
  std::vector<Cells> sources;
  uint64_t cells_in = 0;
  for (size_t i = inputs->size(); i-- > 0;) {
    cells_in += (*inputs)[i].cells.size();
    sources.push_back((*inputs)[i].cells);
  }
  const Cells kept = rewritten(sources, info.major, with);
  uint64_t cells_out = 0;
  for (const StoreFileInfo& file : info.outputs) cells_out += file.cells;
  if (kept.size() != info.cells_out || cells_in != info.cells_in || cells_out != info.cells_out)
    return fmt::format("compaction of {} made {} cells of {}, the model {} of {}:\n{}", info.family,
                       info.cells_out, info.cells_in, kept.size(), cells_in, print_cells(kept));
  auto cell = kept.begin();
  for (const StoreFileInfo& file : info.outputs) {
    const auto end = cell + static_cast<ptrdiff_t>(file.cells);
    if (file.cells == 0 || cell->row != file.first_row || std::prev(end)->row != file.last_row ||
        (end != kept.end() && end->row == file.last_row))
      return fmt::format("file {} of a compaction of {} has other rows than the model, or a part of one",
                         file.name, info.family);
    insert_file(family.runs, MirrorFamily::Run{file.name, Cells(cell, end), file.run}, place, row_of);
    cell = end;
  }
  return std::nullopt;
}

void Mirror::keep(const std::string& name, uint64_t snapshot, const MirrorFamily& before) {
  kept_[snapshot].emplace(name, before);  // what was kept first stays
}

const MirrorFamily& Mirror::seen(const std::string& name, const ModelScan& scan) const {
  const auto snapshot = scan.at_snapshot ? kept_.find(scan.read_point) : kept_.end();
  if (snapshot == kept_.end() || !snapshot->second.contains(name)) return families_.at(name);
  return snapshot->second.at(name);
}

Cells Mirror::read_row(const std::string& row, const ModelScan& scan, int64_t now_ms) const {
  Cells result;
  for (const auto& [name, family] : families_) {
    if (!scan.columns.empty() && !scan.columns.contains(name)) continue;
    Cells cells = ModelStore::visible(sources_of_row(seen(name, scan), row), family.rules,
                                      query_of(scan, name, now_ms));
    if (scan.passes) cells = filtered(cells, scan);
    for (Cell& cell : cells) {
      cell.sequence = 0;
      result.push_back(std::move(cell));
    }
  }
  const Cells page = page_of(result, scan);
  return scan.row_passes && !scan.row_passes(page) ? Cells() : page;
}

std::vector<Part> Mirror::get(const std::string& row, const ModelScan& scan, int64_t now_ms) const {
  std::vector<Part> parts;
  add_parts(read_row(row, scan, now_ms), {}, parts);
  return parts;
}

std::vector<Part> Mirror::scan(const ModelScan& scan, const std::string& prefix, int64_t now_ms) const {
  std::set<std::string> found;
  for (const auto& [name, current] : families_) {
    const MirrorFamily& family = seen(name, scan);
    add_rows(family.memory, found);
    for (const MirrorFamily::Run& run : family.runs) add_rows(run.cells, found);
  }
  std::vector<std::string> rows(found.begin(), found.end());
  if (scan.reversed) std::ranges::reverse(rows);
  std::vector<Part> parts;
  uint64_t count = 0;
  for (const std::string& row : rows) {
    if (!in_bounds(row, scan, prefix)) continue;
    const Cells cells = read_row(row, scan, now_ms);
    if (cells.empty()) continue;
    if (scan.rows_max != 0 && count++ == scan.rows_max) break;
    add_parts(cells, scan, parts);
  }
  return parts;
}

}  // namespace cellar::testing
