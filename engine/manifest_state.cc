// What an edit does to the manifest's state, and questions to the state.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "engine/manifest.h"

namespace cellar {

namespace {

Status unfit(std::string message) { return Status::invalid_argument(std::move(message)); }

TableRecord* find_table(ManifestState& state, uint32_t id) {
  return const_cast<TableRecord*>(state.table(id));
}

std::pair<TableRecord*, FamilyRecord*> find_family(ManifestState& state, uint32_t id) {
  const auto [table, family] = state.family(id);
  return {const_cast<TableRecord*>(table), const_cast<FamilyRecord*>(family)};
}

Status set_table(ManifestState& state, const TableRecord& wanted) {
  const TableRecord* named = state.table_named(wanted.name);
  if (wanted.id == 0 || wanted.name.empty()) return unfit("a table needs an id and a name");
  if (named != nullptr && named->id != wanted.id)
    return unfit(fmt::format("two tables named '{}'", wanted.name));
  TableRecord* table = find_table(state, wanted.id);
  if (table == nullptr) {
    if (wanted.id == UINT32_MAX) return unfit("no more table ids");
    state.tables.push_back({wanted.id, wanted.name, wanted.options, {}});
    state.next_table_id = std::max(state.next_table_id, wanted.id + 1);
  } else {
    table->name = wanted.name;
    table->options = wanted.options;
  }
  return Status();
}

Status set_family(ManifestState& state, const ManifestEdit::NewFamily& wanted) {
  TableRecord* table = find_table(state, wanted.table_id);
  if (table == nullptr) return unfit(fmt::format("no table {}", wanted.table_id));
  if (wanted.id == 0 || wanted.id == UINT32_MAX || state.is_dropped(wanted.id)) {
    return unfit(fmt::format("family id {} cannot be used", wanted.id));
  }
  const auto [owner, family] = find_family(state, wanted.id);
  if (family != nullptr) {
    if (owner != table || family->name != wanted.name)
      return unfit(fmt::format("two families of id {}", wanted.id));
    family->options = wanted.options;
    return Status();
  }
  for (const FamilyRecord& other : table->families) {
    if (other.name == wanted.name) return unfit(fmt::format("two families named '{}'", wanted.name));
  }
  table->families.push_back({wanted.id, wanted.name, wanted.options, 0, {}});
  state.next_family_id = std::max(state.next_family_id, wanted.id + 1);
  return Status();
}

// Where a family's first removed file stood, by the family's id: what takes the place of files has their age.
using Places = std::map<uint32_t, size_t>;

Status remove_file(ManifestState& state, const ManifestEdit::FileName& gone, Places& places) {
  const auto [table, family] = find_family(state, gone.family_id);
  if (family == nullptr) return unfit(fmt::format("no family {}", gone.family_id));
  const auto file = std::find_if(family->files.begin(), family->files.end(),
                                 [&](const FileRecord& each) { return each.name == gone.name; });
  if (file == family->files.end())
    return unfit(fmt::format("family {} has no file {}", gone.family_id, gone.name));
  state.obsolete.push_back({table->id, family->name, file->name, file->bytes});
  const auto place = static_cast<size_t>(file - family->files.begin());
  const auto [known, first] = places.emplace(gone.family_id, place);
  if (!first) known->second = std::min(known->second, place);
  family->files.erase(file);
  return Status();
}

Status add_files(ManifestState& state, const std::vector<ManifestEdit::FileChange>& changes, Places& places) {
  std::set<uint32_t> touched;
  for (const ManifestEdit::FileChange& change : changes) {
    FamilyRecord* family = find_family(state, change.family_id).second;
    if (family == nullptr) return unfit(fmt::format("no family {}", change.family_id));
    if (!is_store_file_name(change.file.name)) return unfit("not a store file's name: " + change.file.name);
    const auto place = places.find(change.family_id);
    const size_t at = place == places.end() ? family->files.size() : place->second++;
    family->files.insert(family->files.begin() + static_cast<std::ptrdiff_t>(at), change.file);
    touched.insert(change.family_id);
    if (change.file.adopted_as != 0 && state.feeds.followed())
      state.feeds.unlogged.push_back(
          {change.file.adopted_as, change.family_id, change.file.name, change.file.bytes, change.file.cells});
    uint64_t number = 0;
    if (parse_store_file_name(state.identity, change.file.name, number) && number < UINT64_MAX) {
      state.next_file_number = std::max(state.next_file_number, number + 1);
    }
  }
  for (const uint32_t id : touched) {
    std::vector<std::string_view> names;
    for (const FileRecord& file : find_family(state, id).second->files) names.push_back(file.name);
    std::sort(names.begin(), names.end());
    const auto twice = std::adjacent_find(names.begin(), names.end());
    if (twice != names.end()) return unfit(fmt::format("family {} has file {} twice", id, *twice));
  }
  return Status();
}

// Of `edit`, which drops it.
void forget_files_of(ManifestState& state, const TableRecord& table, const FamilyRecord& family,
                     const ManifestEdit& edit) {
  for (const FileRecord& file : family.files) {
    state.obsolete.push_back({table.id, family.name, file.name, file.bytes});
  }
  state.dropped_families.push_back(family.id);
  if (state.feeds.followed())
    state.feeds.dropped.push_back(
        {family.id, table.name, family.name, std::max(state.last_sequence, edit.last_sequence)});
}

Status drop_family(ManifestState& state, uint32_t id, const ManifestEdit& edit) {
  const auto [table, family] = find_family(state, id);
  if (family == nullptr) return unfit(fmt::format("no family {}", id));
  forget_files_of(state, *table, *family, edit);
  std::erase_if(table->families, [&](const FamilyRecord& each) { return each.id == id; });
  return Status();
}

Status drop_table(ManifestState& state, uint32_t id, const ManifestEdit& edit) {
  const TableRecord* table = state.table(id);
  if (table == nullptr) return unfit(fmt::format("no table {}", id));
  for (const FamilyRecord& family : table->families) forget_files_of(state, *table, family, edit);
  std::erase_if(state.tables, [&](const TableRecord& each) { return each.id == id; });
  return Status();
}

void apply_numbers(ManifestState& state, const ManifestEdit& edit) {
  state.next_table_id = std::max(state.next_table_id, edit.next_table_id);
  state.next_family_id = std::max(state.next_family_id, edit.next_family_id);
  state.next_file_number = std::max(state.next_file_number, edit.next_file_number);
  state.last_sequence = std::max(state.last_sequence, edit.last_sequence);
  if (edit.wall_ms) state.wall_ms = *edit.wall_ms;
  // Edits of several jobs may come in another order than they were made.
  const auto place = [](const LogPosition& each) { return std::pair(each.segment, each.offset); };
  if (edit.log_synced && place(*edit.log_synced) > place(state.log_synced))
    state.log_synced = *edit.log_synced;
  if (edit.clean_close) state.clean_close = *edit.clean_close;
  state.sealed.insert(state.sealed.end(), edit.seal.begin(), edit.seal.end());
  if (edit.log_start) {
    state.log_start = std::max(state.log_start, *edit.log_start);
    std::erase_if(state.sealed, [&](const SealedEnd& each) { return each.segment < state.log_start; });
  }
}

}  // namespace

const TableRecord* ManifestState::table(uint32_t id) const {
  const auto found =
      std::find_if(tables.begin(), tables.end(), [&](const TableRecord& each) { return each.id == id; });
  return found == tables.end() ? nullptr : &*found;
}

const TableRecord* ManifestState::table_named(std::string_view name) const {
  const auto found =
      std::find_if(tables.begin(), tables.end(), [&](const TableRecord& each) { return each.name == name; });
  return found == tables.end() ? nullptr : &*found;
}

std::pair<const TableRecord*, const FamilyRecord*> ManifestState::family(uint32_t id) const {
  for (const TableRecord& table : tables) {
    for (const FamilyRecord& family : table.families) {
      if (family.id == id) return {&table, &family};
    }
  }
  return {nullptr, nullptr};
}

bool ManifestState::is_dropped(uint32_t family_id) const {
  return std::find(dropped_families.begin(), dropped_families.end(), family_id) != dropped_families.end();
}

LogFacts ManifestState::log_facts(std::string_view boot) const {
  LogFacts facts{identity, log_start, clean_close, log_synced, sealed, edit, false, boot_identity_of(boot)};
  // The log is created before the manifest's second edit: from then on its first segment must be there.
  if (facts.synced.segment == 0 && edit > 1) facts.synced = {log_start, kFileHeaderBytes, 0, 0};
  return facts;
}

Status apply(ManifestState& state, const ManifestEdit& edit) {
  for (const uint32_t id : edit.drop_families) CELLAR_TRY(drop_family(state, id, edit));
  for (const uint32_t id : edit.drop_tables) CELLAR_TRY(drop_table(state, id, edit));
  for (const TableRecord& table : edit.set_tables) CELLAR_TRY(set_table(state, table));
  for (const ManifestEdit::NewFamily& family : edit.set_families) CELLAR_TRY(set_family(state, family));
  Places places;
  for (const ManifestEdit::FileName& file : edit.remove_files) CELLAR_TRY(remove_file(state, file, places));
  CELLAR_TRY(add_files(state, edit.add_files, places));
  for (const ManifestEdit::Flushed& flushed : edit.flushed) {
    FamilyRecord* family = find_family(state, flushed.family_id).second;
    if (family == nullptr) return unfit(fmt::format("no family {}", flushed.family_id));
    family->flushed_sequence = std::max(family->flushed_sequence, flushed.sequence);
    // A family that comes with what it holds took the place of another, or of nothing.
    if (state.feeds.followed() && std::ranges::find(edit.set_families, flushed.family_id,
                                                    &ManifestEdit::NewFamily::id) != edit.set_families.end())
      state.feeds.unlogged.push_back({.sequence = flushed.sequence, .family_id = flushed.family_id});
  }
  for (const uint32_t id : edit.forget_dropped) std::erase(state.dropped_families, id);
  for (const StoredFile& file : edit.forget_obsolete) std::erase(state.obsolete, file);
  apply_numbers(state, edit);
  return apply(state.feeds, edit.feeds);
}

}  // namespace cellar
