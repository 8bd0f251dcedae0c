// The check of a store that may be open elsewhere.
#include "tools/files/store_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <unordered_map>

#include "base/bytes.h"
#include "cellar/environment.h"
#include "engine/jobs/family_stores.h"
#include "engine/log/record_file.h"
#include "engine/log/wal_reader.h"
#include "engine/store/family_config.h"
#include "engine/store/recorded_file.h"
#include "engine/store/sequence_check.h"
#include "hfile/read/hfile_reader.h"
#include "tools/store/store_state.h"

namespace cellar {
namespace {

constexpr int kLooks = 4;

Status interruption() { return interrupted_status("the store was not checked completely"); }

// One look at a store under one state of its manifest.
class StoreLook {
 public:
  StoreLook(std::string path, const ManifestState& state) : path_(std::move(path)), state_(state) {
    check_.path = path_;
  }

  // kAborted when interrupted, kIoError if the directory itself cannot be opened; all else is in the check.
  Result<StoreCheck> look() {
    CELLAR_TRY_ASSIGN(root_, posix_file_system().open_directory(path_, false));
    check_lock();
    add_fault("V-LOG", check_log());
    check_feeds();
    check_tables();
    add_fault("V-DIRECTORY", check_names());
    add_fault("V-DIRECTORY", list_store_files(*root_, nullptr).status());
    if (interrupted()) return interruption();
    return std::move(check_);
  }

 private:
  void add_fault(std::string code, const Status& status, const std::string& otherwise_at = {}) {
    if (status.ok()) return;
    std::string place(status.place());
    const bool said = status.message().find(otherwise_at) != std::string_view::npos;
    if (place.empty() && !said) place = otherwise_at;
    check_.faults.push_back({std::move(code), std::string(status.message()), std::move(place)});
  }

  // Read-only media hold no lock.
  void check_lock() {
    const Status lock = root_->open(kLockName).status();
    if (!lock.is(Code::kNotFound)) add_fault("V-LOCK", lock, std::string(kLockName));
  }

  Status check_names();
  Status check_log();
  Status check_record(const LogRecord& record);
  void check_feeds();
  Status check_retained(Directory& wal, const LogSegment& segment) const;
  void check_tables();
  void check_family(const TableRecord& table, const FamilyRecord& family);
  void check_files(Directory* directory, const TableRecord& table, const FamilyRecord& family);

  const std::string path_;
  const ManifestState& state_;
  std::unique_ptr<Directory> root_;
  std::unordered_map<uint32_t, uint64_t> flushed_;  // by family: everything up to it is in files
  StoreCheck check_;
};

// Each opening for writing begins a generation of the manifest: it removes a file of the next one's name.
Status StoreLook::check_names() {
  CELLAR_TRY_ASSIGN(const std::vector<DirectoryEntry> entries, root_->list());
  for (const DirectoryEntry& entry : entries) {
    uint64_t generation = 0;
    const bool wanted = entry.name == kCurrentTempName || parse_manifest_name(entry.name, generation);
    if (entry.is_directory && wanted)
      return Status::corruption("a directory has the name of a file that opening the store writes")
          .at(path_ + "/" + entry.name);
  }
  return {};
}

// The whole log, record by record and cell by cell.
Status StoreLook::check_log() {
  for (const TableRecord& table : state_.tables)
    for (const FamilyRecord& family : table.families) flushed_[family.id] = family.flushed_sequence;
  auto wal = open_wal_directory(*root_, false);
  // An interrupted creation has no log yet.
  if (wal.status().is(Code::kNotFound) &&
      state_.log_facts(posix_file_system().boot_identity()).synced.segment == 0 &&
      state_.clean_close.segment == 0)
    return {};
  CELLAR_TRY(wal.status());
  const Result<LogSummary> summary =
      read_log(**wal, state_.log_facts(posix_file_system().boot_identity()),
               [&](const LogRecord& record) -> Status { return check_record(record); });
  if (!summary.ok()) return summary.status();
  check_.log_segments = summary->segments.size();
  check_.log_records = summary->records;
  check_.log_torn_bytes = summary->torn_bytes;
  check_.log_end_segment = summary->end.segment;
  check_.log_end_offset = summary->end.offset;
  check_.log_end_record = summary->end.lsn > 0 ? summary->end.lsn - 1 : 0;
  check_.clean_close = summary->clean;
  return {};
}

Status StoreLook::check_record(const LogRecord& record) {
  if (interrupted()) return interruption();
  const std::string place = fmt::format("wal/{}: offset {}", segment_name(record.segment), record.offset);
  const uint64_t before = check_.recovered_cells;
  LogCells cells(record.payload, record.count, record.sequence);
  LogCell each;
  while (cells.next(each)) {
    check_.log_cells += 1;
    const auto family = flushed_.find(each.family_id);
    if (family != flushed_.end()) {
      check_.recovered_cells += record.sequence > family->second ? 1 : 0;
    } else if (!state_.is_dropped(each.family_id)) {
      return Status::corruption(
                 fmt::format("the log names family {}, which the manifest does not know", each.family_id))
          .at(place);
    }
  }
  check_.recovered_records += check_.recovered_cells > before ? 1 : 0;
  return cells.status().at(place);
}

// A segment that is kept for feeds, up to the end that the manifest says.
Status StoreLook::check_retained(Directory& wal, const LogSegment& segment) const {
  const std::string name = segment_name(segment.id);
  Result<RecordFile> opened =
      RecordFile::open(wal, name, FileKind::kLog, state_.identity, segment.id, segment.bytes);
  if (opened.status().is(Code::kNotFound))
    return Status::corruption("a log segment that is kept for feeds is missing").at("wal/" + name);
  CELLAR_TRY(opened.status());
  RecordFile& file = *opened;
  if (!file.header_status().ok()) return file.header_status().at("wal/" + name);
  uint64_t offset = kFileHeaderBytes;
  uint64_t lsn = file.header().first_lsn;
  for (uint32_t chain = file.header_crc(); offset < segment.bytes && !interrupted();) {
    CELLAR_TRY_ASSIGN(const Found found, file.look(offset, chain, lsn));
    if (found.look != Look::kRecord)
      return Status::corruption("a log segment that is kept for feeds is damaged")
          .at(fmt::format("wal/{}: offset {}", name, offset));
    offset = found.end;
    chain = found.header.bcrc;
    lsn = found.header.lsn + 1;
  }
  return {};
}

void StoreLook::check_feeds() {
  if (state_.feeds.retained.empty()) return;
  auto wal = open_wal_directory(*root_, false);
  for (const LogSegment& segment : state_.feeds.retained) {
    const Status status = wal.ok() ? check_retained(**wal, segment) : wal.status();
    if (status.ok()) check_.log_segments += 1;
    add_fault("V-LOG", status);
  }
}

void StoreLook::check_tables() {
  check_.tables = state_.tables.size();
  for (const TableRecord& table : state_.tables) {
    for (const FamilyRecord& family : table.families) {
      if (interrupted()) return;
      check_.families += 1;
      check_family(table, family);
    }
  }
}

void StoreLook::check_family(const TableRecord& table, const FamilyRecord& family) {
  const std::string place = fmt::format("table {}, family {}", escaped(table.name), escaped(family.name));
  const Result<FamilyOptions> options = options_of(family);
  add_fault("V-MANIFEST", options.ok() ? FamilyConfig::create(*options).status() : options.status(), place);
  const auto directory = open_family_directory(*root_, table.id, family.name, false);
  if (!directory.ok() && !directory.status().is(Code::kNotFound)) {
    check_.files += family.files.size();
    add_fault("V-DIRECTORY", directory.status(), place);
    return;
  }
  check_files(directory.ok() ? directory->get() : nullptr, table, family);
}

// `directory` is null when it is missing, and with it all files.
void StoreLook::check_files(Directory* directory, const TableRecord& table, const FamilyRecord& family) {
  for (const FileRecord& record : family.files) {
    if (interrupted()) return;
    check_.files += 1;
    HFileReaderOptions options;
    options.name = store_file_path(path_, table, family, record);
    options.block_payload_bytes_max = store_block_bytes_max();
    const std::string place = options.name;
    check_.sequences[place] = sequences_of(record);
    auto file = directory != nullptr ? directory->open(record.name) : Status::not_found("");
    const bool missing = !file.ok() && file.status().is(Code::kNotFound);
    const Status status =
        open_recorded_file(std::move(file), record, state_.identity, std::move(options)).status();
    add_fault(missing ? "V-FILE-MISSING" : "V-MANIFEST", status, place);
  }
}

bool same_faults(const StoreCheck& a, const StoreCheck& b) {
  return std::ranges::equal(a.faults, b.faults, [](const StoreFault& one, const StoreFault& other) {
    return one.text == other.text && one.place == other.place;
  });
}

// A store that has lost its CURRENT, or has something else of that name, cannot be looked at any further.
Result<StoreCheck> look_at_current(const std::string& path) {
  StoreCheck check;
  check.path = path;
  CELLAR_TRY_ASSIGN(const std::unique_ptr<Directory> root, posix_file_system().open_directory(path, false));
  Status status = require_store(*root);
  if (status.ok()) status = root->open(kCurrentName).status();
  if (!status.ok())
    check.faults.push_back(
        {"V-CURRENT", std::string(status.message()), path + "/" + std::string(kCurrentName)});
  return check;
}

}  // namespace

bool is_store_to_check(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_directory(path, error)) return false;
  const auto root = posix_file_system().open_directory(path, false);
  if (!root.ok()) return false;
  const Result<StoreProbe> probe = probe_store(**root);
  return probe.ok() && (probe->kind == StoreKind::kStore || probe->kind == StoreKind::kLost);
}

Result<StoreCheck> check_store(Session& session, const std::string& path) {
  CELLAR_TRY_ASSIGN(StoreCheck current, look_at_current(path));
  if (!current.sound()) return current;
  CELLAR_TRY_ASSIGN(ManifestState state, read_store_state(session, path));
  CELLAR_TRY_ASSIGN(StoreCheck check, StoreLook(path, state).look());
  // A writer may have moved on since the manifest was read, and may be writing the end of the log. Damage
  // stays where it is: it is believed when two looks agree.
  for (int looks = 1; looks < kLooks && !check.sound(); ++looks) {
    const uint64_t edit = state.edit;
    CELLAR_TRY_ASSIGN(state, read_store_state(session, path));
    CELLAR_TRY_ASSIGN(StoreCheck again, StoreLook(path, state).look());
    const bool stands = state.edit == edit && same_faults(check, again);
    check = std::move(again);
    if (stands) break;
  }
  return check;
}

}  // namespace cellar
