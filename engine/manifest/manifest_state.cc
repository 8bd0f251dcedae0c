// Applies edits to the manifest's state, and answers questions about the state.
#include "engine/manifest/manifest_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/assert.h"
#include "engine/manifest/file_order.h"

namespace cellar {

namespace {

Status unfit(std::string message) { return Status::invalid_argument(std::move(message)); }

// Finds tables and families of a state while an edit changes it. Each of a few changes looks at one after the
// other. Many changes share an index: without it a manifest of many families would take the square of their
// number.
class Finder {
 public:
  Finder(ManifestState& state, size_t changes, uint64_t& steps)
      : state_(state), steps_(steps), indexed_(changes > kFewChanges) {
    if (!indexed_) return;
    for (size_t table = 0; table < state.tables.size(); ++table) {
      note_table(table);
      const size_t families = state.tables[table].families.size();
      for (size_t family = 0; family < families; ++family) note_family(table, family);
    }
    steps_ += state.dropped_families.size();
    dropped_.insert(state.dropped_families.begin(), state.dropped_families.end());
  }

  TableRecord* table(uint32_t id) {
    if (!indexed_) return first_table([&](const TableRecord& each) { return each.id == id; });
    const auto found = tables_.find(id);
    CELLAR_DCHECK(found == tables_.end() || state_.tables[found->second].id == id);
    return found == tables_.end() ? nullptr : &state_.tables[found->second];
  }

  TableRecord* table_named(const std::string& name) {
    if (!indexed_) return first_table([&](const TableRecord& each) { return each.name == name; });
    const auto found = names_.find(name);
    CELLAR_DCHECK(found == names_.end() || state_.tables[found->second].name == name);
    return found == names_.end() ? nullptr : &state_.tables[found->second];
  }

  std::pair<TableRecord*, FamilyRecord*> family(uint32_t id) {
    if (indexed_) {
      const auto found = families_.find(id);
      if (found == families_.end()) return {nullptr, nullptr};
      TableRecord& table = state_.tables[found->second.first];
      CELLAR_DCHECK(table.families[found->second.second].id == id);
      return {&table, &table.families[found->second.second]};
    }
    for (TableRecord& table : state_.tables) {
      for (FamilyRecord& each : table.families) {
        ++steps_;
        if (each.id == id) return {&table, &each};
      }
    }
    return {nullptr, nullptr};
  }

  bool has_family_named(const TableRecord& table, const std::string& name) {
    if (indexed_) return family_names_.contains({table.id, name});
    steps_ += table.families.size();
    return std::ranges::find(table.families, name, &FamilyRecord::name) != table.families.end();
  }

  bool is_dropped(uint32_t family) const {
    return indexed_ ? dropped_.contains(family) : state_.is_dropped(family);
  }

  void rename(TableRecord& table, const std::string& name) {
    if (indexed_) {
      CELLAR_ASSERT(&table >= state_.tables.data() && &table < state_.tables.data() + state_.tables.size());
      names_.erase(table.name);
      names_[name] = static_cast<size_t>(&table - state_.tables.data());
    }
    table.name = name;
  }

  void add(TableRecord table) {
    CELLAR_DCHECK(this->table(table.id) == nullptr);
    state_.tables.push_back(std::move(table));
    if (indexed_) note_table(state_.tables.size() - 1);
  }

  void add(TableRecord& table, FamilyRecord family) {
    CELLAR_DCHECK(this->family(family.id).second == nullptr);
    table.families.push_back(std::move(family));
    if (indexed_) note_family(static_cast<size_t>(&table - state_.tables.data()), table.families.size() - 1);
  }

 private:
  static constexpr size_t kFewChanges = 16;

  template <class Test>
  TableRecord* first_table(const Test& test) {
    for (TableRecord& table : state_.tables) {
      ++steps_;
      if (test(table)) return &table;
    }
    return nullptr;
  }

  void note_table(size_t at) {
    ++steps_;
    const bool new_id = tables_.emplace(state_.tables[at].id, at).second;
    const bool new_name = names_.emplace(state_.tables[at].name, at).second;
    CELLAR_ASSERT(new_id && new_name);
  }

  void note_family(size_t table, size_t at) {
    ++steps_;
    const FamilyRecord& family = state_.tables[table].families[at];
    const bool new_id = families_.emplace(family.id, std::pair(table, at)).second;
    const bool new_name = family_names_.emplace(state_.tables[table].id, family.name).second;
    CELLAR_ASSERT(new_id && new_name);
  }

  ManifestState& state_;
  uint64_t& steps_;
  const bool indexed_;
  std::unordered_map<uint32_t, size_t> tables_;
  std::unordered_map<std::string, size_t> names_;
  std::unordered_map<uint32_t, std::pair<size_t, size_t>> families_;
  std::set<std::pair<uint32_t, std::string>> family_names_;  // with their table's id
  std::unordered_set<uint32_t> dropped_;
};

Status set_table(ManifestState& state, Finder& finder, const TableRecord& wanted) {
  const TableRecord* named = finder.table_named(wanted.name);
  if (wanted.id == 0 || wanted.name.empty()) return unfit("a table needs an id and a name");
  if (named != nullptr && named->id != wanted.id)
    return unfit(fmt::format("two tables named '{}'", wanted.name));
  TableRecord* table = finder.table(wanted.id);
  if (table == nullptr) {
    if (wanted.id == UINT32_MAX) return unfit("no more table ids");
    finder.add({wanted.id, wanted.name, wanted.options, {}});
    state.next_table_id = std::max(state.next_table_id, wanted.id + 1);
  } else {
    finder.rename(*table, wanted.name);
    table->options = wanted.options;
  }
  CELLAR_ASSERT(state.next_table_id > wanted.id);
  return Status();
}

Status set_second(Finder& finder, const ManifestEdit::Second& wanted) {
  TableRecord* const table = finder.table(wanted.table_id);
  if (table == nullptr) return unfit(fmt::format("no table {}", wanted.table_id));
  if (wanted.second.of.empty() || wanted.second.of == table->name)
    return unfit(fmt::format("table '{}' cannot be a second table of '{}'", table->name, wanted.second.of));
  table->second = wanted.second;
  return {};
}

Status set_family(ManifestState& state, Finder& finder, const ManifestEdit::NewFamily& wanted) {
  TableRecord* table = finder.table(wanted.table_id);
  if (table == nullptr) return unfit(fmt::format("no table {}", wanted.table_id));
  if (wanted.id == 0 || wanted.id == UINT32_MAX || finder.is_dropped(wanted.id)) {
    return unfit(fmt::format("family id {} cannot be used", wanted.id));
  }
  const auto [owner, family] = finder.family(wanted.id);
  if (family != nullptr) {
    if (owner != table || family->name != wanted.name)
      return unfit(fmt::format("two families of id {}", wanted.id));
    family->options = wanted.options;
    return Status();
  }
  if (finder.has_family_named(*table, wanted.name))
    return unfit(fmt::format("two families named '{}'", wanted.name));
  finder.add(*table, {wanted.id, wanted.name, wanted.options, 0, {}});
  state.next_family_id = std::max(state.next_family_id, wanted.id + 1);
  CELLAR_ASSERT(state.next_family_id > wanted.id);  // an id is never given to a second family
  return Status();
}

// Where the oldest run of a family's removed files stood, by the family's id.
using Places = std::map<uint32_t, size_t>;

// Returns the index of the family's file.
Result<size_t> find_file(const FamilyRecord& family, const std::string& name) {
  const auto file = std::ranges::find(family.files, name, &FileRecord::name);
  if (file == family.files.end()) return unfit(fmt::format("family {} has no file {}", family.id, name));
  return static_cast<size_t>(file - family.files.begin());
}

Status remove_file(ManifestState& state, Finder& finder, const ManifestEdit::FileName& gone, Places& places) {
  const auto [table, family] = finder.family(gone.family_id);
  if (family == nullptr) return unfit(fmt::format("no family {}", gone.family_id));
  CELLAR_TRY_ASSIGN(const size_t index, find_file(*family, gone.name));
  const FileRecord& file = family->files[index];
  state.obsolete.push_back({table->id, family->name, file.name, file.bytes});
  size_t& place = places.emplace(gone.family_id, index).first->second;
  take_out(family->files, index, place);
  return Status();
}

Status check_order(const FamilyRecord& family) {
  return check_runs(family.files).with_context(fmt::format("family {}", family.id));
}

// The names before `added` differ. A flush adds one file, and an open may apply thousands of such edits. To
// sort all names for each of them would take most of its time.
Status check_names(const FamilyRecord& family, const std::vector<ManifestEdit::FileChange>& added) {
  constexpr size_t kFew = 4;
  const auto twice = [&](std::string_view name) {
    return unfit(fmt::format("family {} has file {} twice", family.id, name));
  };
  if (added.size() <= kFew) {
    for (const ManifestEdit::FileChange& change : added)
      if (change.family_id == family.id &&
          std::ranges::count(family.files, change.file.name, &FileRecord::name) != 1)
        return twice(change.file.name);
    return {};
  }
  std::vector<std::string_view> names;
  for (const FileRecord& file : family.files) names.push_back(file.name);
  std::ranges::sort(names);
  const auto same = std::ranges::adjacent_find(names);
  return same == names.end() ? Status() : twice(*same);
}

Status add_files(ManifestState& state, Finder& finder, const std::vector<ManifestEdit::FileChange>& changes,
                 Places& places) {
  std::set<uint32_t> touched;
  for (const ManifestEdit::FileChange& change : changes) {
    FamilyRecord* family = finder.family(change.family_id).second;
    if (family == nullptr) return unfit(fmt::format("no family {}", change.family_id));
    if (!is_store_file_name(change.file.name)) return unfit("not a store file's name: " + change.file.name);
    const auto place = places.find(change.family_id);
    const size_t at = place == places.end() ? family->files.size() : place->second;
    insert_file(family->files, change.file, at, first_row_of);
    if (place != places.end() && change.file.run == 0) ++place->second;  // the next one is younger
    touched.insert(change.family_id);
    // Files of a restored table were adopted before.
    if (change.file.adopted_as > state.last_sequence && state.feeds.followed())
      state.feeds.unlogged.push_back(
          {change.file.adopted_as, change.family_id, change.file.name, change.file.bytes, change.file.cells});
    uint64_t number = 0;
    if (parse_store_file_name(state.identity, change.file.name, number) && number < UINT64_MAX) {
      state.next_file_number = std::max(state.next_file_number, number + 1);
    }
  }
  for (const uint32_t id : touched) {
    const FamilyRecord& family = *finder.family(id).second;
    CELLAR_TRY(check_names(family, changes));
    CELLAR_TRY(check_order(family));
  }
  return Status();
}

Status move_files(Finder& finder, const std::vector<ManifestEdit::FileMove>& moves) {
  std::set<uint32_t> touched;
  for (const ManifestEdit::FileMove& move : moves) {
    FamilyRecord* family = finder.family(move.family_id).second;
    if (family == nullptr) return unfit(fmt::format("no family {}", move.family_id));
    if (move.run == 0) return unfit("a file moves to a run without a number");
    CELLAR_TRY_ASSIGN(const size_t index, find_file(*family, move.name));
    FileRecord file = family->files[index];
    file.run = move.run;
    file.level = move.level;
    size_t place = index;
    take_out(family->files, index, place);
    insert_file(family->files, std::move(file), place, first_row_of);
    touched.insert(move.family_id);
  }
  for (const uint32_t id : touched) CELLAR_TRY(check_order(*finder.family(id).second));
  return Status();
}

// Makes the files of a family, which `edit` drops, obsolete.
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

// They stay in their places until all are known.
Status drop(ManifestState& state, const ManifestEdit& edit, uint64_t& steps) {
  Finder finder(state, edit.drop_families.size() + edit.drop_tables.size(), steps);
  std::set<uint32_t> families;
  for (const uint32_t id : edit.drop_families) {
    const auto [table, family] = finder.family(id);
    if (family == nullptr || !families.insert(id).second) return unfit(fmt::format("no family {}", id));
    forget_files_of(state, *table, *family, edit);
  }
  std::set<uint32_t> tables;
  for (const uint32_t id : edit.drop_tables) {
    const TableRecord* table = finder.table(id);
    if (table == nullptr || !tables.insert(id).second) return unfit(fmt::format("no table {}", id));
    for (const FamilyRecord& family : table->families)
      if (!families.contains(family.id)) forget_files_of(state, *table, family, edit);
  }
  std::erase_if(state.tables, [&](const TableRecord& each) { return tables.contains(each.id); });
  if (families.empty()) return Status();
  for (TableRecord& table : state.tables)
    std::erase_if(table.families, [&](const FamilyRecord& each) { return families.contains(each.id); });
  return Status();
}

Status note_work(Finder& finder, const std::vector<ManifestEdit::Work>& work) {
  for (const ManifestEdit::Work& each : work) {
    FamilyRecord* family = finder.family(each.family_id).second;
    if (family == nullptr) return unfit(fmt::format("no family {}", each.family_id));
    family->totals += each.totals;
  }
  return Status();
}

Status note_flushed(ManifestState& state, Finder& finder, const ManifestEdit& edit) {
  // A family that comes with what it holds took the place of another, or of nothing.
  std::set<uint32_t> set;
  if (state.feeds.followed())
    for (const ManifestEdit::NewFamily& family : edit.set_families) set.insert(family.id);
  for (const ManifestEdit::Flushed& flushed : edit.flushed) {
    FamilyRecord* family = finder.family(flushed.family_id).second;
    if (family == nullptr) return unfit(fmt::format("no family {}", flushed.family_id));
    family->flushed_sequence = std::max(family->flushed_sequence, flushed.sequence);
    if (set.contains(flushed.family_id))
      state.feeds.unlogged.push_back({.sequence = flushed.sequence, .family_id = flushed.family_id});
  }
  return Status();
}

void forget(ManifestState& state, const ManifestEdit& edit) {
  if (!edit.forget_dropped.empty()) {
    const std::set<uint32_t> gone(edit.forget_dropped.begin(), edit.forget_dropped.end());
    std::erase_if(state.dropped_families, [&](uint32_t id) { return gone.contains(id); });
  }
  if (edit.forget_obsolete.empty()) return;
  const auto key = [](const StoredFile& file) {
    return std::tuple(file.table_id, file.family, file.name, file.bytes);
  };
  std::set<std::tuple<uint32_t, std::string, std::string, uint64_t>> gone;
  for (const StoredFile& file : edit.forget_obsolete) gone.insert(key(file));
  std::erase_if(state.obsolete, [&](const StoredFile& file) { return gone.contains(key(file)); });
}

void apply_numbers(ManifestState& state, const ManifestEdit& edit) {
  state.next_table_id = std::max(state.next_table_id, edit.next_table_id);
  state.next_family_id = std::max(state.next_family_id, edit.next_family_id);
  state.next_file_number = std::max(state.next_file_number, edit.next_file_number);
  state.last_sequence = std::max(state.last_sequence, edit.last_sequence);
  if (edit.wall_ms) {
    state.wall_ms = *edit.wall_ms;
    state.doubted_ms = edit.doubted_ms;
  }
  if (edit.unique_time_us) state.unique_time_us = std::max(state.unique_time_us, *edit.unique_time_us);
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

Status apply(ManifestState& state, const ManifestEdit& edit, uint64_t* steps) {
  uint64_t unwanted = 0;
  uint64_t& counted = steps != nullptr ? *steps : unwanted;
  CELLAR_TRY(drop(state, edit, counted));
  Finder finder(state,
                edit.set_tables.size() + edit.set_seconds.size() + edit.set_families.size() +
                    edit.remove_files.size() + edit.add_files.size() + edit.move_files.size() +
                    edit.flushed.size() + edit.work.size(),
                counted);
  for (const TableRecord& table : edit.set_tables) CELLAR_TRY(set_table(state, finder, table));
  for (const ManifestEdit::Second& second : edit.set_seconds) CELLAR_TRY(set_second(finder, second));
  for (const ManifestEdit::NewFamily& family : edit.set_families)
    CELLAR_TRY(set_family(state, finder, family));
  Places places;
  for (const ManifestEdit::FileName& file : edit.remove_files)
    CELLAR_TRY(remove_file(state, finder, file, places));
  CELLAR_TRY(add_files(state, finder, edit.add_files, places));
  CELLAR_TRY(move_files(finder, edit.move_files));
  CELLAR_TRY(note_flushed(state, finder, edit));
  CELLAR_TRY(note_work(finder, edit.work));
  forget(state, edit);
  apply_numbers(state, edit);
  CELLAR_TRY(apply(state.feeds, edit.feeds));
  CELLAR_ASSERT(state.next_table_id > 0 && state.next_family_id > 0 && state.next_file_number > 0 &&
                state.log_start > 0);
  return Status();
}

}  // namespace cellar
