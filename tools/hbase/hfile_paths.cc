// Finds and opens HFiles.
#include "tools/hbase/hfile_paths.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <set>

#include "cellar/file_system.h"
#include "tools/hbase/hbase_dir.h"
#include "tools/hbase/hbase_names.h"
#include "tools/hbase/hbase_places.h"
#include "tools/store/store_state.h"

namespace cellar {

namespace {

namespace fs = std::filesystem;

Status io_error(const std::string& path, const std::error_code& error) {
  return Status::with_code(error == std::errc::no_such_file_or_directory ? Code::kNotFound : Code::kIoError,
                           fmt::format("{}: {}", path, error.message()));
}

// Returns the path of the whole file of a half. The half is in a copy of a table without the root around it:
// TABLE/REGION/FAMILY/half.
std::string whole_beside(const fs::path& half) {
  const std::optional<HBaseFileName> meaning = parse_hbase_reference_name(half.filename().string());
  if (!meaning || meaning->link || meaning->parent.empty()) return {};
  const fs::path family = half.parent_path();
  return (family.parent_path().parent_path() / meaning->parent / family.filename() / meaning->hfile).string();
}

// Moves the halves and links of HBase's from `others` to `files`. A link is replaced by its target. A half is
// left out if the whole file is already in `files`. kNotFound if the file of a half or link is missing.
Status add_what_stands_for_files(std::vector<std::string>& files, std::vector<std::string>& others) {
  std::error_code error;
  std::set<std::string> whole;
  for (const std::string& file : files) whole.insert(fs::weakly_canonical(file, error).string());
  std::vector<std::string> rest;
  for (std::string& other : others) {
    if (whole.contains(whole_beside(fs::weakly_canonical(other, error)))) continue;
    CELLAR_TRY_ASSIGN(const HBaseStoreFile behind, hbase_file_behind(other));
    if (behind.path == other) {
      rest.push_back(std::move(other));
    } else if (!whole.contains(behind.path)) {
      files.push_back(behind.half ? std::move(other) : behind.path);
      if (!behind.half) whole.insert(behind.path);
    }
  }
  others = std::move(rest);
  return {};
}

Result<std::vector<std::string>> files_of_snapshot(const std::string& path) {
  CELLAR_TRY_ASSIGN(const HBaseTableFiles table, find_hbase_table(path, HBaseKind::kSnapshot));
  std::set<std::string> files;
  for (const HBaseRegionFiles& region : table.regions)
    for (const auto& [family, list] : region.families)
      for (const HBaseStoreFile& file : list) files.insert(file.path);
  return std::vector<std::string>(files.begin(), files.end());
}

// Returns the files in the store's manifest. The store's directory may also hold files that were just
// compacted away, or that are not published yet.
Result<std::vector<std::string>> files_of_store(Session& session, const std::string& path,
                                                std::vector<std::string>& others) {
  CELLAR_TRY_ASSIGN(const ManifestState state, read_store_state(session, path));
  std::vector<std::string> files;
  for (const TableRecord& table : state.tables) {
    for (const FamilyRecord& family : table.families)
      std::ranges::copy(files_of_family(path, table, family), std::back_inserter(files));
  }
  std::ranges::sort(files);
  CELLAR_TRY_ASSIGN(const std::unique_ptr<Directory> root, posix_file_system().open_directory(path, false));
  std::vector<std::string> strangers;
  const Result<std::vector<StoredFile>> stored = list_store_files(*root, &strangers);
  if (!stored.ok())
    return files;  // a table was dropped meanwhile, or the directory is damaged: only the
                   // list of other files is lost
  const std::string top = path + (path.ends_with('/') ? "" : "/");
  for (const StoredFile& file : *stored) {
    std::string each = top + to_text(file);
    if (!std::ranges::binary_search(files, each)) others.push_back(std::move(each));
  }
  for (const std::string& stranger : strangers) others.push_back(top + stranger);
  return files;
}

// Lists the files in a directory and in its sub-directories.
Status walk_directory(const std::string& path, Remains remains, std::vector<std::string>& files,
                      std::vector<std::string>& others) {
  std::error_code error;
  fs::recursive_directory_iterator walk(fs::path(path), error);
  for (; !error && walk != fs::recursive_directory_iterator(); walk.increment(error)) {
    const std::string name = walk->path().filename().string();
    const bool hidden = name.starts_with('.') || name.starts_with('_');
    if (hidden && walk->is_directory(error)) walk.disable_recursion_pending();
    if (hidden || !walk->is_regular_file(error)) continue;
    const std::string file = walk->path().string();
    const FileLook look = look_at_file(file);
    if (look == FileLook::kRemains && remains == Remains::kRefuse) return remains_refusal(file);
    (look == FileLook::kOther ? others : files).push_back(file);
  }
  return error ? io_error(path, error) : Status();
}

}  // namespace

Result<std::vector<std::string>> find_hfiles(Session& session, const std::string& path, Remains remains,
                                             std::vector<std::string>& others) {
  std::error_code error;
  const fs::file_status facts = fs::status(path, error);
  if (!fs::exists(facts)) return io_error(path, std::make_error_code(std::errc::no_such_file_or_directory));
  if (!fs::is_directory(facts)) return std::vector<std::string>{path};
  if (is_store(path)) return files_of_store(session, path, others);
  if (is_plain_file(path + "/.snapshotinfo")) return files_of_snapshot(path);
  std::vector<std::string> files;
  const Status walked = walk_directory(path, remains, files, others);
  if (walked.is(Code::kCorruption)) return name_file_failure(session, walked);
  CELLAR_TRY(walked);
  CELLAR_TRY(add_what_stands_for_files(files, others));
  std::ranges::sort(files);
  std::ranges::sort(others);
  return files;
}

namespace {

Status no_hfiles_in(const std::string& path) {
  const Status none = Status::not_found(fmt::format("no HFile in {}", path));
  if (is_store(path))
    return none.hinting(fmt::format("a store has HFiles after its first flush: cellar flush {}", path));
  return none.hinting("HFiles are recognised by their content; hidden names are left out");
}

}  // namespace

Result<std::vector<std::string>> find_all_hfiles(Session& session, const std::vector<std::string>& paths,
                                                 Remains remains) {
  std::vector<std::string> all;
  for (const std::string& path : paths) {
    std::vector<std::string> others;
    CELLAR_TRY_ASSIGN(std::vector<std::string> files, find_hfiles(session, path, remains, others));
    for (std::string& file : files) all.push_back(std::move(file));
    if (others.empty()) continue;
    const std::string more = others.size() == 1 ? "" : fmt::format(", and {} more", others.size() - 1);
    session.talk(fmt::format("note   left out, not {}: {}{}",
                             is_store(path) ? "in the store's manifest" : "an HFile", others.front(), more));
  }
  if (all.empty()) return no_hfiles_in(paths.front());
  return all;
}

namespace {

bool is_no_hfile(const Status& status) { return is_not_an_hfile(status) || is_remains_refusal(status); }

}  // namespace

Status with_hint_at_salvage(const std::string& path, const Status& status) {
  if (!is_not_an_hfile(status) || look_at_file(path) != FileLook::kRemains) return status;
  return status.hinting(fmt::format(
      "it begins like an HFile, so its end is lost: cellar salvage {} -o NEW copies the readable cells",
      path));
}

Exit exit_of_file_failure(const Status& status) {
  if (is_no_hfile(status)) return Exit::kCannot;
  if (status.is(Code::kCorruption) || status.is(Code::kLimit)) return Exit::kNegative;
  if (status.is(Code::kNotSupported)) return Exit::kNotSupported;
  return Exit::kCannot;
}

Status name_file_failure(Session& session, const Status& status) {
  const Exit exit = exit_of_file_failure(status);
  if (is_no_hfile(status)) return session.name_failure("CEL-NOT-HFILE", exit, status);
  if (status.is(Code::kLimit)) {
    return session.name_failure(
        "CEL-LIMIT", exit,
        status.hinting("cellar salvage reads the blocks in order, without index and filters"));
  }
  if (exit == Exit::kNegative) return session.name_failure("CEL-CORRUPTION", exit, status);
  return session.name_failure("", exit, status);  // keep the error's own name, not that of an earlier failure
}

Result<std::shared_ptr<HFileReader>> open_hfile(Session& session, const std::string& path) {
  CELLAR_TRY_ASSIGN(const HBaseStoreFile behind, hbase_file_behind(path));
  CELLAR_TRY_ASSIGN(std::unique_ptr<ReadableFile> file, posix_file_system().open_file(behind.path));
  HFileReaderOptions options;
  options.name = path;
  options.block_payload_bytes_max = block_bytes_max();
  if (behind.half) (behind.half->top ? options.start_row : options.stop_row) = behind.half->split_row;
  Result<std::shared_ptr<HFileReader>> reader = HFileReader::open(std::move(file), std::move(options));
  if (!reader.ok()) return name_file_failure(session, with_hint_at_salvage(behind.path, reader.status()));
  tell_if_unchecked(session, **reader);
  return reader;
}

void tell_if_unchecked(const Session& session, const HFileReader& file) {
  static std::atomic<bool> told{false};
  if (file.has_checksums() || told.exchange(true)) return;
  session.talk(fmt::format(
      "note   {} has no checksums: wrong cells in a file without checksums cannot always be detected",
      file.name()));
}

Result<std::unique_ptr<ReadableFile>> open_whole_hfile(const std::string& path) {
  CELLAR_TRY_ASSIGN(const HBaseStoreFile behind, hbase_file_behind(path));
  return posix_file_system().open_file(behind.path);
}

}  // namespace cellar
