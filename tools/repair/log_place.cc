// Finds segments, their identity and the names of families.
#include "tools/repair/log_place.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/bytes.h"
#include "cellar/environment.h"
#include "engine/log/directory.h"
#include "engine/manifest/manifest.h"
#include "tools/repair/log_look.h"
#include "tools/store/store.h"
#include "tools/store/store_state.h"

namespace cellar {

namespace fs = std::filesystem;

FamilyNames::FamilyNames(const ManifestState& state) : dropped_(state.dropped_families) {
  for (const TableRecord& table : state.tables)
    for (const FamilyRecord& family : table.families) names_[family.id] = {table.name, family.name};
}

std::string FamilyNames::text(uint32_t family) const {
  if (const auto found = names_.find(family); found != names_.end())
    return found->second.first + "/" + found->second.second;
  const bool dropped = std::ranges::find(dropped_, family) != dropped_.end();
  return fmt::format("family {}{}", family, dropped ? " (dropped)" : "");
}

std::string FamilyNames::table(uint32_t family) const {
  const auto found = names_.find(family);
  return found == names_.end() ? std::string() : found->second.first;
}

std::vector<std::string> FamilyNames::tables() const {
  std::vector<std::string> tables;
  for (const auto& [id, name] : names_)
    if (std::ranges::find(tables, name.first) == tables.end()) tables.push_back(name.first);
  return tables;
}

namespace {

// Takes names and identity from the store in this directory. Returns false if that cannot be read, or is
// another store.
bool take_names(const std::string& store, LogPlace& place) {
  const auto root = posix_file_system().open_directory(store, false);
  if (!root.ok() || !require_store(**root).ok()) return false;
  const Result<ManifestState> state = load_store_state(**root);
  if (!state.ok() || (place.identity.is_set() && state->identity != place.identity)) return false;
  place.identity = state->identity;
  place.names = FamilyNames(*state);
  place.log_start = state->log_start;
  return true;
}

// The segments themselves say whose they are.
void take_identity_from_headers(LogPlace& place) {
  for (const LogPlace::Segment& segment : place.segments) {
    if (place.identity.is_set()) return;
    const Result<FileHeader> header = read_file_header(*place.wal, segment.name, FileKind::kLog);
    if (header.ok()) place.identity = header->identity;
  }
}

Status no_identity(const std::string& path) {
  return Status::corruption(fmt::format("{}: no header tells to which store the log belongs", path))
      .hinting("the manifest is not readable either: cellar repair STORE --dry-run");
}

Result<LogPlace> log_of_store(Session& session, const std::string& path) {
  CELLAR_TRY_ASSIGN(const std::unique_ptr<Directory> root, posix_file_system().open_directory(path, false));
  CELLAR_TRY_ASSIGN(const StoreProbe probe, probe_store(*root));
  if (probe.kind == StoreKind::kEmpty || probe.kind == StoreKind::kInterrupted)
    return session.name_failure("CEL-NOT-STORE", Exit::kCannot, no_store_at(path));
  LogPlace place;
  place.path = path + (path.ends_with('/') ? "" : "/") + std::string(kWalDirectoryName);
  const bool named = take_names(path, place);
  Result<std::unique_ptr<Directory>> wal = open_wal_directory(*root, false);
  if (wal.status().is(Code::kNotFound)) return place;  // a snapshot or a new checkpoint has no log
  CELLAR_TRY_ASSIGN(place.wal, std::move(wal));
  CELLAR_TRY_ASSIGN(const std::vector<uint64_t> ids, list_segments(*place.wal));
  for (const uint64_t id : ids) place.segments.push_back({segment_name(id), id});
  if (!named) session.talk("note   the manifest cannot be read: tables have no names here");
  take_identity_from_headers(place);
  if (!place.identity.is_set() && !place.segments.empty())
    return session.name_failure("CEL-CORRUPTION", Exit::kNegative, no_identity(path));
  return place;
}

// A segment may lie in the directory of its store, in the quarantine of a repair, or anywhere.
Result<LogPlace> log_of_segment(Session& session, const std::string& path) {
  const fs::path file(path);
  LogPlace place;
  place.path = file.has_parent_path() ? file.parent_path().string() : ".";
  CELLAR_TRY_ASSIGN(place.wal, posix_file_system().open_directory(place.path, false));
  LogPlace::Segment segment = {file.filename().string(), 0};
  const Result<FileHeader> header = read_file_header(*place.wal, segment.name, FileKind::kLog);
  if (header.ok()) {
    place.identity = header->identity;
    segment.id = header->id;
  } else if (!header.status().is(Code::kCorruption)) {
    return header.status();
  }
  constexpr int kLevels = 4;
  std::error_code error;
  fs::path above = fs::absolute(place.path, error).lexically_normal();
  for (int level = 0; level < kLevels && !error && above.has_relative_path(); ++level) {
    above = above.parent_path();
    if (take_names(above.string(), place)) break;
  }
  if (segment.id == 0 && !(place.identity.is_set() && parse_segment_name(segment.name, segment.id)))
    return session.name_failure("CEL-CORRUPTION", Exit::kNegative,
                                header.status().hinting("cellar wal takes a store, or segments of its log"));
  place.segments.push_back(segment);
  place.log_start = 0;
  return place;
}

}  // namespace

Result<LogPlace> find_log(Session& session, const std::string& path) {
  std::error_code error;
  if (fs::is_directory(path, error)) return log_of_store(session, path);
  if (!fs::exists(path, error))
    return session.name_failure("CEL-NOT-STORE", Exit::kCannot, no_store_at(path));
  return log_of_segment(session, path);
}

}  // namespace cellar
