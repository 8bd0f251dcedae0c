// The survey: each part on its own, then what they say of each other.
#include "tools/repair/store_survey.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "engine/log/directory.h"
#include "tools/frame/session.h"
#include "tools/repair/log_place.h"

namespace cellar {

namespace fs = std::filesystem;

const SegmentLook* StoreSurvey::segment(uint64_t id) const {
  const auto found = std::ranges::find(segments, id, &SegmentLook::id);
  return found == segments.end() ? nullptr : &*found;
}

namespace {

class Surveyor {
 public:
  Surveyor(Directory& root, std::string path, RepairPlan& plan)
      : root_(root), path_(std::move(path)), plan_(plan) {}

  Result<StoreSurvey> run() {
    CELLAR_TRY_ASSIGN(const StoreProbe probe, probe_store(root_));
    const bool odd_current = is_no_file(std::string(kCurrentName));
    if (probe.kind != StoreKind::kStore && probe.kind != StoreKind::kLost && !odd_current)
      CELLAR_TRY(require_store(root_));
    CELLAR_TRY(look_at_current());
    CELLAR_TRY(look_at_manifests());
    choose_identity();
    choose_base();
    CELLAR_TRY(look_at_log());
    CELLAR_TRY(compare());
    CELLAR_TRY(refuse_without_identity());
    return std::move(survey_);
  }

 private:
  // Returns true for a link, a directory, or anything else that is not a regular file.
  bool is_no_file(const std::string& name) const {
    std::error_code error;
    const fs::file_status facts = fs::symlink_status(fs::path(path_) / name, error);
    return fs::exists(facts) && !fs::is_regular_file(facts);
  }
  void add_damage(std::string part, std::string place, std::string text) {
    plan_.damage.push_back({std::move(part), std::move(place), std::move(text)});
  }
  void move_away(std::string part, const std::string& name) {
    add_damage(std::move(part), name, "a link or directory has the place of a file");
    plan_.move.push_back(name);
  }

  Status look_at_current();
  Status look_at_manifests();
  void choose_identity();
  Identity identity_of_files() const;
  void choose_base();
  Status look_at_log();
  Status look_at_one(Directory& wal, uint64_t id);
  Status compare();
  Status refuse_without_identity() const;

  Directory& root_;
  const std::string path_;
  RepairPlan& plan_;
  StoreSurvey survey_;
  bool current_counts_ = false;  // CURRENT and the generation that it names are whole
};

Status Surveyor::look_at_current() {
  const std::string name(kCurrentName);
  if (is_no_file(name)) {
    move_away("current", name);
    survey_.current_status = Status::corruption("CURRENT is not a file");
    return {};
  }
  Result<Current> current = read_current_file(root_);
  survey_.current_status = current.status();
  if (current.ok()) {
    survey_.current = *current;
    survey_.newest_edit_seen = current->edit;
    return {};
  }
  if (current.status().is(Code::kNotFound)) {
    add_damage("current", name, "the file is missing");
    return {};
  }
  if (!current.status().is(Code::kCorruption)) return current.status();
  add_damage("current", name, std::string(current.status().message()));
  return {};
}

Status Surveyor::look_at_manifests() {
  CELLAR_TRY_ASSIGN(const std::vector<DirectoryEntry> entries, root_.list());
  for (const DirectoryEntry& entry : entries) {
    uint64_t generation = 0;
    if (entry.name == kCurrentTempName && is_no_file(entry.name)) move_away("current", entry.name);
    if (!parse_manifest_name(entry.name, generation)) continue;
    plan_.newest_generation = std::max(plan_.newest_generation, generation);
    if (is_no_file(entry.name)) {
      move_away("manifest", entry.name);
      continue;
    }
    const Identity identity = survey_.current ? survey_.current->identity : Identity();
    CELLAR_TRY_ASSIGN(GenerationLook look, look_at_generation(root_, generation, identity, nullptr));
    for (const Status* status : {&look.header, &look.damage})
      if (status->is(Code::kNotSupported)) return status->with_context(entry.name);
    survey_.generations.push_back(std::move(look));
  }
  if (survey_.current)
    plan_.newest_generation = std::max(plan_.newest_generation, survey_.current->generation);
  return {};
}

// The identity of CURRENT, else of the newest manifest. Else the log tells it, and at last the names of the
// store files tell half of it.
void Surveyor::choose_identity() {
  if (survey_.current) {
    survey_.identity = survey_.current->identity;
    return;
  }
  for (const GenerationLook& look : survey_.generations)
    if (look.state) survey_.identity = look.state->identity;
  if (survey_.identity.is_set()) return;
  if (const auto wal = open_wal_directory(root_, false); wal.ok()) {
    const Result<std::vector<uint64_t>> ids = list_segments(**wal);
    for (size_t i = ids.ok() ? ids->size() : 0; i > 0 && !survey_.identity.is_set(); --i) {
      const Result<FileHeader> header = read_file_header(**wal, segment_name((*ids)[i - 1]), FileKind::kLog);
      if (header.ok()) survey_.identity = header->identity;
    }
  }
  if (!survey_.identity.is_set()) survey_.identity = identity_of_files();
}

Identity Surveyor::identity_of_files() const {
  const Result<std::vector<StoredFile>> stored = list_store_files(root_, nullptr);
  Identity identity;
  if (!stored.ok() || stored->empty() || !parse_identity(stored->back().name, identity)) return {};
  // No manifest and no log is left that the other half could contradict.
  return {identity.high, identity.high};
}

void Surveyor::choose_base() {
  const GenerationLook* best = nullptr;
  for (const GenerationLook& look : survey_.generations) {
    survey_.newest_edit_seen = std::max(survey_.newest_edit_seen, look.state ? look.state->edit : 0);
    if (!look.state || look.state->identity != survey_.identity) continue;
    if (best == nullptr || look.state->edit >= best->state->edit) best = &look;
  }
  const GenerationLook* named = nullptr;
  if (survey_.current)
    for (const GenerationLook& look : survey_.generations)
      if (look.generation == survey_.current->generation) named = &look;
  current_counts_ = named != nullptr && named->sound() && named->state->edit >= survey_.current->edit;
  if (current_counts_) best = named;
  for (const GenerationLook& look : survey_.generations) {
    // An older generation matters only if it is needed.
    if (look.sound() || current_counts_) continue;
    const std::string at = look.end == 0 ? "" : fmt::format("offset {}: ", look.end);
    add_damage("manifest", manifest_name(look.generation), at + std::string(look.damage.message()));
  }
  if (survey_.current && named == nullptr)
    add_damage("manifest", manifest_name(survey_.current->generation),
               "CURRENT names this manifest, and it is missing");
  if (named != nullptr && named->sound() && !current_counts_)
    add_damage("manifest", manifest_name(named->generation),
               fmt::format("it ends with edit {}, and CURRENT says that edit {} was durable",
                           named->state->edit, survey_.current->edit));
  survey_.edits_lost = !current_counts_;
  if (best == nullptr) {
    survey_.base.identity = survey_.identity;
    return;
  }
  survey_.base = *best->state;
  survey_.base_generation = best->generation;
}

Status Surveyor::look_at_log() {
  const std::string wal_name(kWalDirectoryName);
  Result<std::unique_ptr<Directory>> wal = open_wal_directory(root_, false);
  if (wal.status().is(Code::kNotFound)) return {};
  CELLAR_TRY(wal.status().hinting("give the directory of the log back its place, then repair"));
  survey_.has_wal = true;
  CELLAR_TRY_ASSIGN(const std::vector<uint64_t> ids, list_segments(**wal));
  for (const uint64_t id : ids) {
    if (interrupted()) return interrupted_status("nothing was changed");
    CELLAR_TRY(look_at_one(**wal, id));
  }
  return {};
}

Status Surveyor::look_at_one(Directory& wal, uint64_t id) {
  const std::string place = std::string(kWalDirectoryName) + "/" + segment_name(id);
  if (is_no_file(place)) {
    move_away("log", place);
    return {};
  }
  const auto visit = [&](const SeenRecord& record) {
    if (id < survey_.base.log_start) return true;  // its families may be forgotten
    if (!record.readable || record.header.type != RecordType::kData) return true;
    LogCells cells(record.payload, record.header.count, record.header.sequence);
    LogCell each;
    while (cells.next(each))
      survey_.families_in_log.try_emplace(each.family_id, std::string(each.cell.family()));
    return true;
  };
  CELLAR_TRY_ASSIGN(SegmentLook look, look_at_segment(wal, segment_name(id), survey_.identity, id, visit));
  if (look.header.is(Code::kNotSupported)) return look.header.with_context(place);
  survey_.newest_edit_seen = std::max(survey_.newest_edit_seen, look.newest_edit);
  for (const RecordRange* range : {&look.sound, &look.later}) {
    survey_.newest_sequence_seen = std::max(survey_.newest_sequence_seen, range->last_sequence);
    survey_.newest_record_seen = std::max(survey_.newest_record_seen, range->last_number);
  }
  if (look.before) survey_.newest_sequence_seen = std::max(survey_.newest_sequence_seen, *look.before);
  survey_.segments.push_back(std::move(look));
  return {};
}

// The log knows how far the manifest came.
Status Surveyor::compare() {
  const uint64_t edit = survey_.base.edit;
  if (survey_.newest_edit_seen > edit && edit < UINT32_MAX && current_counts_) {
    add_damage("manifest", manifest_name(survey_.base_generation),
               fmt::format("it ends with edit {}, and the log says that edit {} was durable", edit,
                           survey_.newest_edit_seen));
    survey_.edits_lost = true;
  }
  for (const auto& [id, name] : survey_.families_in_log) {
    if (survey_.edits_lost || survey_.base.family(id).second != nullptr || survey_.base.is_dropped(id))
      continue;
    add_damage("manifest", manifest_name(survey_.base_generation),
               fmt::format("the log names family {} ({}), which the manifest does not know", id, name));
    survey_.edits_lost = true;
  }
  if (!survey_.base.snapshot.empty())
    return Status::not_supported("this is snapshot " + survey_.base.snapshot +
                                 " of a store: it is not repaired")
        .hinting("repair the store; a damaged snapshot is dropped and made again");
  return {};
}

// Without any trace of an identity, nothing tells a store from a directory of other files.
Status Surveyor::refuse_without_identity() const {
  if (survey_.identity.is_set()) return {};
  return Status::corruption("no manifest, no segment of the log and no store file can be read")
      .hinting("nothing is left that a repair could use: restore the store from a backup");
}

}  // namespace

Result<StoreSurvey> survey_store(Directory& root, const std::string& path, RepairPlan& plan) {
  return Surveyor(root, path, plan).run();
}

}  // namespace cellar
