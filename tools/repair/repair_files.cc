// Store files: each is opened, compared with its record, and read to its end.
#include "tools/repair/repair_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/bytes.h"
#include "engine/manifest/file_order.h"
#include "engine/store/recorded_file.h"
#include "engine/store/sequence_check.h"
#include "hfile/check/cell_census.h"
#include "hfile/check/verify.h"
#include "hfile/codec/codecs.h"
#include "hfile/encoding/encoding.h"
#include "hfile/format/file_info.h"
#include "tools/frame/output.h"
#include "tools/frame/session.h"

namespace cellar {

namespace fs = std::filesystem;

namespace {

Status interruption() { return interrupted_status("nothing was changed"); }

// Returns the first error of a report, or ok.
Status fault_of(const VerifyReport& report) {
  if (report.verdict == VerifyVerdict::kSound) return {};
  for (const VerifyFinding& finding : report.findings)
    if (finding.severity == VerifySeverity::kError)
      return Status::corruption(fmt::format("{}: {}", finding.code, finding.text));
  if (!report.status.ok() && report.verdict != VerifyVerdict::kNotAnHFile) return report.status;
  return Status::corruption("it is not an HFile: " + std::string(report.status.message()));
}

struct FileVerdict {
  Status fault = {};  // of the file; ok: it is whole
};

// Returns false if this build lacks the codec or the encoding with which the store wrote the file. Such a
// file may be whole. Any other file that is "not supported" has damage that looks so.
bool is_for_this_build(const FileRecord& record) {
  const bool codec = record.compression.empty() || make_compressor(record.compression).ok();
  return codec && (record.encoding.empty() || encoding_by_name(upper_ascii(record.encoding)).ok());
}

class FilePlanner {
 public:
  FilePlanner(Directory& root, std::string path, VerifyLevel level, const StoreSurvey& survey,
              RepairPlan& plan)
      : root_(root), path_(std::move(path)), level_(level), survey_(survey), plan_(plan) {}

  Result<std::vector<LostFile>> run() {
    for (TableRecord& table : plan_.state.tables)
      for (FamilyRecord& family : table.families) CELLAR_TRY(check_family(table, family));
    if (survey_.edits_lost) CELLAR_TRY(adopt_orphans());
    return std::move(lost_);
  }

 private:
  Status check_family(const TableRecord& table, FamilyRecord& family);
  Result<FileVerdict> check_file(Directory* directory, const StoredFile& stored,
                                 const FileRecord& record) const;
  VerifyOptions verify_options(const std::string& name) const;
  void leave_out(const TableRecord& table, const FamilyRecord& family, const FileRecord& record,
                 const Status& fault);
  bool is_no_file(const std::string& place) const {
    std::error_code error;
    const fs::file_status facts = fs::symlink_status(fs::path(path_) / place, error);
    return fs::exists(facts) && !fs::is_regular_file(facts);
  }

  Status adopt_orphans();
  Status adopt(const StoredFile& stored);
  Result<std::optional<FileRecord>> examine(const StoredFile& stored, std::string& fault) const;
  FamilyRecord* family_of(const StoredFile& stored);
  std::string new_table_name(uint32_t id) const;
  uint32_t number_for(const std::string& family);

  Directory& root_;
  const std::string path_;
  const VerifyLevel level_;
  const StoreSurvey& survey_;
  RepairPlan& plan_;
  std::vector<LostFile> lost_;
};

VerifyOptions FilePlanner::verify_options(const std::string& name) const {
  VerifyOptions options;
  options.name = name;
  options.level = level_;
  options.block_payload_bytes_max = store_block_bytes_max();
  options.progress = [](uint64_t, uint64_t) { return !interrupted(); };
  return options;
}

Status FilePlanner::check_family(const TableRecord& table, FamilyRecord& family) {
  Result<std::unique_ptr<Directory>> directory = open_family_directory(root_, table.id, family.name, false);
  if (!directory.ok() && !directory.status().is(Code::kNotFound))
    return directory.status().hinting(
        "give the directory back its place, then repair: its files may be whole");
  std::vector<FileRecord> sound;
  for (const FileRecord& record : family.files) {
    if (interrupted()) return interruption();
    const StoredFile stored = {table.id, family.name, record.name, record.bytes};
    CELLAR_TRY_ASSIGN(const FileVerdict verdict,
                      check_file(directory.ok() ? directory->get() : nullptr, stored, record));
    const Status& fault = verdict.fault;
    if (fault.is(Code::kAborted)) return interruption();
    if (fault.ok())
      sound.push_back(record);
    else
      leave_out(table, family, record, fault);
  }
  family.files = std::move(sound);
  return {};
}

// An error leaves open whether the file is whole.
Result<FileVerdict> FilePlanner::check_file(Directory* directory, const StoredFile& stored,
                                            const FileRecord& record) const {
  const std::string place = to_text(stored);
  if (is_no_file(place))
    return FileVerdict{Status::corruption("a link or directory has the place of a file")};
  if (directory == nullptr) return FileVerdict{Status::not_found("the file is missing, with its directory")};
  Result<std::unique_ptr<ReadableFile>> file = directory->open(stored.name);
  if (file.status().is(Code::kNotFound)) return FileVerdict{Status::not_found("the file is missing")};
  CELLAR_TRY(file.status());
  HFileReaderOptions reading;
  reading.name = place;
  reading.block_payload_bytes_max = store_block_bytes_max();
  const Status opened =
      open_recorded_file(std::move(file), record, survey_.identity, std::move(reading)).status();
  if (opened.is(Code::kIoError)) return opened;
  if (opened.is(Code::kNotSupported) && !is_for_this_build(record)) return opened;
  if (!opened.ok()) return FileVerdict{opened};
  VerifyOptions options = verify_options(place);
  options.sequences = sequences_of(record);
  CELLAR_TRY_ASSIGN(std::unique_ptr<ReadableFile> again, directory->open(stored.name));
  const Status fault = fault_of(verify(std::move(again), options));
  if (fault.is(Code::kIoError) || (fault.is(Code::kNotSupported) && !is_for_this_build(record))) return fault;
  return FileVerdict{fault};
}

void FilePlanner::leave_out(const TableRecord& table, const FamilyRecord& family, const FileRecord& record,
                            const Status& fault) {
  const std::string place = to_text(StoredFile{table.id, family.name, record.name, 0});
  const std::string name = table.name + "/" + family.name;
  const bool missing = fault.is(Code::kNotFound);
  plan_.damage.push_back({"file", place, std::string(fault.message())});
  if (!missing && is_no_file(place)) {
    plan_.move.push_back(place);
  } else if (!missing) {
    plan_.keep.push_back(place);
    plan_.remove_files.push_back(place);
  }
  plan_.steps.push_back({"leave out", place, fmt::format("family {} goes on without the file", name)});
  lost_.push_back({family.id, name, place, record});
}

// Takes in the files that no edit names, oldest first. It leaves out files that an edit has replaced.
Status FilePlanner::adopt_orphans() {
  std::set<std::string> known;
  for (const TableRecord& table : survey_.base.tables)
    for (const FamilyRecord& family : table.families)
      for (const FileRecord& file : family.files)
        known.insert(to_text(StoredFile{table.id, family.name, file.name, 0}));
  for (const StoredFile& file : survey_.base.obsolete) known.insert(to_text(file));
  CELLAR_TRY_ASSIGN(std::vector<StoredFile> stored, list_store_files(root_, nullptr));
  std::ranges::stable_sort(stored, {}, &StoredFile::name);
  for (const StoredFile& file : stored) {
    if (interrupted()) return interruption();
    if (!known.contains(to_text(file))) CELLAR_TRY(adopt(file));
  }
  return {};
}

Status FilePlanner::adopt(const StoredFile& stored) {
  const std::string place = to_text(stored);
  std::string fault;
  CELLAR_TRY_ASSIGN(std::optional<FileRecord> record, examine(stored, fault));
  if (!record) {
    plan_.keep.push_back(place);
    plan_.remove_files.push_back(place);
    plan_.steps.push_back({"move", place, "no edit names the file, and it is not whole: " + fault});
    return {};
  }
  FamilyRecord* const family = family_of(stored);
  // A foreign file does not know a sequence of this store: it counts as the newest write.
  if (record->adopted_as != 0) {
    record->adopted_as = ++plan_.state.last_sequence;
    record->sequence_min = record->sequence_max = record->adopted_as;
  }
  plan_.state.last_sequence = std::max(plan_.state.last_sequence, record->sequence_max);
  plan_.steps.push_back(
      {"adopt", place,
       fmt::format("an edit that is lost may have named the file: {}, sequences {} to {}",
                   counted(record->cells, "cell"), record->sequence_min, record->sequence_max)});
  family->files.push_back(std::move(*record));
  // The places of the other files in runs may be out of date.
  for (FileRecord& each : family->files) each.run = each.level = 0;
  return {};
}

// Nothing: the file is not whole, or not of this store; `fault` says why.
Result<std::optional<FileRecord>> FilePlanner::examine(const StoredFile& stored, std::string& fault) const {
  const std::string place = to_text(stored);
  const std::optional<FileRecord> none;
  uint64_t number = 0;
  fault = "a link or directory has the place of a file";
  if (is_no_file(place)) return none;
  fault = "its name is that of another store";
  if (!parse_store_file_name(survey_.identity, stored.name, number)) return none;
  CELLAR_TRY_ASSIGN(const std::unique_ptr<Directory> directory,
                    open_family_directory(root_, stored.table_id, stored.family, false));
  CELLAR_TRY_ASSIGN(std::unique_ptr<ReadableFile> file, directory->open(stored.name));
  CellCensus census;
  uint64_t sequence_min = UINT64_MAX;
  VerifyOptions options = verify_options(place);
  options.level = std::max(level_, VerifyLevel::kCells);  // the cells tell what the manifest told
  options.on_cell = [&](const CellView& cell) {
    census.add(cell);
    sequence_min = std::min(sequence_min, cell.sequence);
  };
  const VerifyReport report = verify(std::move(file), options);
  const Status status = fault_of(report);
  if (status.is(Code::kAborted)) return interruption();
  if (status.is(Code::kIoError)) return status.with_context(place);
  fault = status.message();
  if (!status.ok()) return none;
  fault = "it has no cells";
  if (census.cells == 0) return none;
  fault = "its cells are of another family";
  if (census.families.size() != 1 || !census.families.contains(stored.family)) return none;
  CELLAR_TRY_ASSIGN(std::unique_ptr<ReadableFile> again, directory->open(stored.name));
  HFileReaderOptions reading;
  reading.name = place;
  reading.block_payload_bytes_max = options.block_payload_bytes_max;
  CELLAR_TRY_ASSIGN(const std::shared_ptr<HFileReader> reader,
                    HFileReader::open(std::move(again), std::move(reading)));
  FileRecord record;
  record.name = stored.name;
  record.bytes = reader->file_bytes();
  record.take_figures(census);
  record.trailer_crc = reader->end_sum();
  record.encoding = lower_ascii(reader->encoding_name());
  record.compression = lower_ascii(report.codec);
  CELLAR_TRY_ASSIGN(const std::optional<int64_t> created, reader->info().i64(info_key::kCreateTime));
  record.created_ms = created.value_or(0);
  CELLAR_TRY_ASSIGN(const std::optional<bool> major, reader->info().boolean(info_key::kMajorCompaction));
  record.major = major.value_or(false);
  const uint64_t newest = std::max(reader->max_sequence(), census.sequence_max);
  const bool ours = reader->info().has(info_key::kCellCounts) && reader->info().has(info_key::kMaxSequence);
  record.sequence_min = std::min(sequence_min, newest);
  record.sequence_max = newest;
  if (!ours || newest >= kCountMax) record.adopted_as = 1;  // its sequence is given later
  return std::optional<FileRecord>(std::move(record));
}

std::string FilePlanner::new_table_name(uint32_t id) const {
  std::string name = fmt::format("recovered_{}", id);
  while (plan_.state.table_named(name) != nullptr) name += "_";
  return name;
}

// The number of a family that only its directory is left of. The log may still name it: that is certain if
// one number of the log alone has the family's name, and is unknown.
uint32_t FilePlanner::number_for(const std::string& family) {
  std::vector<uint32_t> fitting;
  for (const auto& [id, name] : survey_.families_in_log)
    if (name == family && plan_.state.family(id).second == nullptr && !plan_.state.is_dropped(id))
      fitting.push_back(id);
  const uint32_t id = fitting.size() == 1 ? fitting.front() : plan_.state.next_family_id;
  plan_.state.next_family_id = std::max(plan_.state.next_family_id, id + 1);
  return id;
}

FamilyRecord* FilePlanner::family_of(const StoredFile& stored) {
  auto table = std::ranges::find(plan_.state.tables, stored.table_id, &TableRecord::id);
  if (table == plan_.state.tables.end()) {
    plan_.state.tables.push_back({stored.table_id, new_table_name(stored.table_id), {}, {}});
    table = std::prev(plan_.state.tables.end());
    plan_.state.next_table_id = std::max(plan_.state.next_table_id, stored.table_id + 1);
    plan_.notes.push_back(fmt::format("table {} has lost its name and its options: it is called {}",
                                      stored.table_id, table->name));
  }
  auto family = std::ranges::find(table->families, stored.family, &FamilyRecord::name);
  if (family == table->families.end()) {
    const uint32_t id = number_for(stored.family);
    table->families.push_back({id, stored.family, {}, 0, {}, {}});
    family = std::prev(table->families.end());
    plan_.notes.push_back(fmt::format("family {} of table {} has lost its options: it has the defaults",
                                      shown_name(stored.family), shown_name(table->name)));
  }
  return &*family;
}

}  // namespace

Result<std::vector<LostFile>> plan_files(Directory& root, const std::string& path, VerifyLevel level,
                                         const StoreSurvey& survey, RepairPlan& plan) {
  for (const auto& [id, name] : survey.families_in_log)
    plan.state.next_family_id = std::max(plan.state.next_family_id, id + 1);
  return FilePlanner(root, path, level, survey, plan).run();
}

void add_families_of_log(const StoreSurvey& survey, RepairPlan& plan) {
  for (const auto& [id, name] : survey.families_in_log) {
    if (plan.state.family(id).second != nullptr || plan.state.is_dropped(id)) continue;
    std::string table = fmt::format("recovered_log_{}", id);
    while (plan.state.table_named(table) != nullptr) table += "_";
    plan.notes.push_back(
        fmt::format("the log names family {} ({}), whose table is not known: it becomes "
                    "table {}",
                    id, shown_name(name), table));
    plan.state.tables.push_back({plan.state.next_table_id++, table, {}, {{id, name, {}, 0, {}, {}}}});
  }
}

}  // namespace cellar
