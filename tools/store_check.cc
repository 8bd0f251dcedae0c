// The check of a store that may be open elsewhere.
#include "tools/store_check.h"

#include <fmt/format.h>

#include "cellar/environment.h"
#include "engine/record_file.h"
#include "engine/wal_reader.h"
#include "hfile/hfile_reader.h"
#include "tools/store_state.h"

namespace cellar {
namespace {

constexpr int kLooks = 4;

// The whole log, record by record and cell by cell.
Status check_log(const std::string& path, const ManifestState& state, StoreCheck& check) {
  CELLAR_TRY_ASSIGN(const std::unique_ptr<Directory> root, posix_file_system().open_directory(path, false));
  CELLAR_TRY_ASSIGN(const std::unique_ptr<Directory> wal, open_wal_directory(*root, false));
  check.log_cells = 0;
  const Result<LogSummary> summary = read_log(
      *wal, state.log_facts(posix_file_system().boot_identity()), [&](const LogRecord& record) -> Status {
        const std::string place =
            fmt::format("wal/{}: offset {}", segment_name(record.segment), record.offset);
        LogCells cells(record.payload, record.count, record.sequence);
        LogCell each;
        while (cells.next(each)) {
          check.log_cells += 1;
          if (state.family(each.family_id).second == nullptr && !state.is_dropped(each.family_id)) {
            return Status::corruption(fmt::format("the log names family {}, which the manifest does not know",
                                                  each.family_id))
                .at(place);
          }
        }
        return cells.status().at(place);
      });
  if (!summary.ok()) return summary.status();
  check.log_segments = summary->segments.size();
  check.log_records = summary->records;
  check.log_torn_bytes = summary->torn_bytes;
  check.clean_close = summary->clean;
  return {};
}

// A segment that is kept for feeds, up to the end that the manifest says.
Status check_retained(Directory& wal, const Identity& identity, const LogSegment& segment) {
  const std::string name = segment_name(segment.id);
  Result<RecordFile> opened =
      RecordFile::open(wal, name, FileKind::kLog, identity, segment.id, segment.bytes);
  if (opened.status().is(Code::kNotFound))
    return Status::corruption("a log segment that is kept for feeds is missing").at("wal/" + name);
  CELLAR_TRY(opened.status());
  RecordFile& file = *opened;
  if (!file.header_status().ok()) return file.header_status().at("wal/" + name);
  uint64_t offset = kFileHeaderBytes;
  uint64_t lsn = file.header().first_lsn;
  for (uint32_t chain = file.header_crc(); offset < segment.bytes;) {
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

void check_feeds(const std::string& path, const ManifestState& state, StoreCheck& check) {
  if (state.feeds.retained.empty()) return;
  auto root = posix_file_system().open_directory(path, false);
  auto wal = root.ok() ? open_wal_directory(**root, false) : root.status();
  for (const LogSegment& segment : state.feeds.retained) {
    const Status status = wal.ok() ? check_retained(**wal, state.identity, segment) : wal.status();
    if (status.ok()) {
      check.log_segments += 1;
    } else {
      check.faults.push_back({"V-LOG", std::string(status.message()), std::string(status.place())});
    }
  }
}

// What opening the store would ask of a file.
Status check_file(const std::string& path, const FileRecord& record) {
  Result<std::unique_ptr<ReadableFile>> file = posix_file_system().open_file(path);
  if (!file.ok()) return file.status();
  if ((*file)->size() != record.bytes) {
    return Status::corruption(
        fmt::format("the file has {} bytes, the manifest says {}", (*file)->size(), record.bytes));
  }
  HFileReaderOptions options;
  options.name = path;
  options.block_payload_bytes_max = block_bytes_max();
  const Result<std::shared_ptr<HFileReader>> reader = HFileReader::open(std::move(*file), std::move(options));
  if (!reader.ok()) return {};  // what verification of the file says
  if ((*reader)->cells() != record.cells) {
    return Status::corruption(
        fmt::format("the file holds {} cells, the manifest says {}", (*reader)->cells(), record.cells));
  }
  const std::optional<uint64_t> markers = (*reader)->family_deletes();
  if (markers && *markers != record.family_deletes) {
    return Status::corruption(fmt::format("the file says that it holds {} family markers, the manifest {}",
                                          *markers, record.family_deletes));
  }
  return {};
}

void check_files(const std::string& path, const ManifestState& state, StoreCheck& check) {
  check.tables = state.tables.size();
  for (const TableRecord& table : state.tables) {
    check.families += table.families.size();
    for (const FamilyRecord& family : table.families) {
      for (const FileRecord& record : family.files) {
        check.files += 1;
        const std::string file = store_file_path(path, table, family, record);
        const Status status = check_file(file, record);
        if (status.ok()) continue;
        const bool missing = status.is(Code::kNotFound);
        check.faults.push_back(
            {missing ? "V-FILE-MISSING" : "V-MANIFEST",
             missing ? "a store file that the manifest names is missing" : std::string(status.message()),
             file});
      }
    }
  }
}

StoreCheck look(const std::string& path, const ManifestState& state) {
  StoreCheck check;
  check.path = path;
  if (const Status log = check_log(path, state, check); !log.ok())
    check.faults.push_back({"V-LOG", std::string(log.message()), std::string(log.place())});
  check_feeds(path, state, check);
  check_files(path, state, check);
  return check;
}

bool same_faults(const StoreCheck& a, const StoreCheck& b) {
  if (a.faults.size() != b.faults.size()) return false;
  for (size_t i = 0; i < a.faults.size(); ++i) {
    if (a.faults[i].text != b.faults[i].text || a.faults[i].place != b.faults[i].place) return false;
  }
  return true;
}

}  // namespace

Result<StoreCheck> check_store(Session& session, const std::string& path) {
  CELLAR_TRY_ASSIGN(ManifestState state, read_store_state(session, path));
  StoreCheck check = look(path, state);
  // A writer may have moved on between the look at the manifest and the look at what it names, and may be
  // writing the end of the log. Damage stays where it is: it is believed when two looks agree.
  for (int looks = 1; looks < kLooks && !check.sound(); ++looks) {
    const uint64_t edit = state.edit;
    CELLAR_TRY_ASSIGN(state, read_store_state(session, path));
    StoreCheck again = look(path, state);
    const bool stands = state.edit == edit && same_faults(check, again);
    check = std::move(again);
    if (stands) break;
  }
  return check;
}

}  // namespace cellar
