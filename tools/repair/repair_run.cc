// The steps of a repair.
#include "tools/repair/repair_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <set>
#include <utility>

#include "cellar/environment.h"
#include "engine/log/directory.h"
#include "engine/log/wal_format.h"
#include "engine/manifest/manifest.h"
#include "engine/store/file_copy.h"
#include "tools/frame/output.h"
#include "tools/frame/replace_file.h"

namespace cellar {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kQuarantineName = "quarantine";
constexpr std::string_view kCutSuffix = ".cut";

// "wal/0000000003.log" to the names of the directories on the way and the last name.
std::pair<std::vector<std::string>, std::string> parts_of(const std::string& path) {
  std::vector<std::string> parts;
  for (const fs::path& part : fs::path(path)) parts.push_back(part.string());
  std::string last = parts.back();
  parts.pop_back();
  return {std::move(parts), std::move(last)};
}

// Opens a directory below another. With `create`, what is absent is made, and its name is durable.
Result<std::unique_ptr<Directory>> open_below(Directory& root, const std::vector<std::string>& parts,
                                              bool create) {
  std::unique_ptr<Directory> opened;
  for (const std::string& part : parts) {
    Directory& above = opened != nullptr ? *opened : root;
    CELLAR_TRY_ASSIGN(std::unique_ptr<Directory> next, above.directory(part, create));
    if (create) CELLAR_TRY(above.sync());
    opened = std::move(next);
  }
  return opened;
}

class RepairRun {
 public:
  RepairRun(Directory& root, std::string path, const RepairPlan& plan)
      : root_(root), path_(std::move(path)), plan_(plan), executor_(make_thread_executor(1, 1)) {}

  Result<std::string> run() {
    CELLAR_TRY(fill_quarantine());
    CELLAR_TRY(cut_log());
    CELLAR_TRY(write_manifest());
    CELLAR_TRY(remove_files());
    return quarantine_;
  }

 private:
  Status fill_quarantine();
  Status keep(const std::string& name);
  Status move(const std::string& name);
  Status cut_log();
  Status write_cut_segment(Directory& wal);
  Status write_new_segment(Directory& wal);
  Status write_manifest();
  Status remove_files();

  Directory& root_;
  const std::string path_;
  const RepairPlan& plan_;
  const std::unique_ptr<Executor> executor_;
  std::string quarantine_;  // "quarantine/1"
};

// Each repair has a directory of its own.
Status RepairRun::fill_quarantine() {
  if (plan_.keep.empty() && plan_.move.empty()) return {};
  std::error_code error;
  uint64_t number = 1;
  while (fs::exists(fs::path(path_) / kQuarantineName / std::to_string(number), error)) ++number;
  quarantine_ = fmt::format("{}/{}", kQuarantineName, number);
  const std::set<std::string> names(plan_.keep.begin(), plan_.keep.end());
  for (const std::string& name : names) CELLAR_TRY(keep(name).with_context("quarantine: " + name));
  for (const std::string& name : plan_.move) CELLAR_TRY(move(name).with_context("quarantine: " + name));
  return {};
}

Status RepairRun::keep(const std::string& name) {
  auto [from_parts, last] = parts_of(name);
  auto [to_parts, ignored] = parts_of(quarantine_ + "/" + name);
  CELLAR_TRY_ASSIGN(const std::unique_ptr<Directory> opened, open_below(root_, from_parts, false));
  Directory& from = opened != nullptr ? *opened : root_;
  CELLAR_TRY_ASSIGN(const std::unique_ptr<Directory> to, open_below(root_, to_parts, true));
  CELLAR_TRY(link_or_copy(*executor_, from, last, *to, last).status());
  return to->sync();
}

// A link or directory that has the name of a file.
Status RepairRun::move(const std::string& name) {
  auto [from_parts, last] = parts_of(name);
  auto [to_parts, ignored] = parts_of(quarantine_ + "/" + name);
  CELLAR_TRY_ASSIGN(const std::unique_ptr<Directory> opened, open_below(root_, from_parts, false));
  CELLAR_TRY_ASSIGN(const std::unique_ptr<Directory> to, open_below(root_, to_parts, true));
  std::error_code error;
  fs::rename(fs::path(path_) / name, fs::path(path_) / quarantine_ / name, error);
  if (error) return Status::io_error("cannot move it: " + error.message());
  CELLAR_TRY(to->sync());
  return (opened != nullptr ? *opened : root_).sync();
}

// The segment is cut before later ones go: the end of the log never moves to a place with records after it.
Status RepairRun::cut_log() {
  if (plan_.cut_segment == 0 && plan_.new_segment == 0 && plan_.drop_segments.empty()) return {};
  CELLAR_TRY_ASSIGN(const std::unique_ptr<Directory> wal, open_wal_directory(root_, true));
  CELLAR_TRY(root_.sync());
  if (plan_.cut_segment != 0) CELLAR_TRY(write_cut_segment(*wal).with_context("cutting the log"));
  std::vector<uint64_t> segments = plan_.drop_segments;
  std::ranges::sort(segments, std::greater<>());
  for (const uint64_t segment : segments) {
    CELLAR_TRY(wal->unlink(segment_name(segment)));
    CELLAR_TRY(wal->sync());
  }
  return plan_.new_segment == 0 ? Status() : write_new_segment(*wal);
}

// Nothing names the segment yet: until then it is one that an interrupted opening has left.
Status RepairRun::write_new_segment(Directory& wal) {
  const std::string name = segment_name(plan_.new_segment);
  const Status gone = wal.unlink(name);
  if (!gone.ok() && !gone.is(Code::kNotFound)) return gone;
  FileHeader header;
  header.kind = FileKind::kLog;
  header.identity = plan_.state.identity;
  header.id = plan_.new_segment;
  header.first_lsn = plan_.new_segment_record;
  header.first_sequence = plan_.state.last_sequence;
  header.boot = boot_identity_of(posix_file_system().boot_identity());
  char bytes[kFileHeaderBytes];
  encode_file_header(header, bytes);
  CELLAR_TRY_ASSIGN(const std::unique_ptr<WritableFile> to, wal.create(name));
  CELLAR_TRY(to->append({bytes, sizeof bytes}));
  CELLAR_TRY(to->sync());
  CELLAR_TRY(to->close());
  return wal.sync();
}

Status RepairRun::write_cut_segment(Directory& wal) {
  const std::string name = segment_name(plan_.cut_segment);
  CELLAR_TRY_ASSIGN(const std::unique_ptr<ReadableFile> from, wal.open(name));
  return replace_file(wal, name, name + std::string(kCutSuffix), [&](WritableFile& to) -> Status {
    constexpr uint64_t kPiece = 1 << 20;
    std::string piece;
    for (uint64_t at = 0; at < plan_.cut_bytes; at += piece.size()) {
      piece.resize(std::min(kPiece, plan_.cut_bytes - at));
      CELLAR_TRY(from->read(at, piece.size(), piece.data()));
      CELLAR_TRY(to.append(piece));
    }
    return {};
  });
}

Status RepairRun::write_manifest() {
  return Manifest::create(root_, *executor_, plan_.state,
                          {.files_are_there = true, .repairs_after = plan_.newest_generation})
      .status();
}

Status RepairRun::remove_files() {
  for (const std::string& name : plan_.remove_files) {
    auto [parts, last] = parts_of(name);
    CELLAR_TRY_ASSIGN(const std::unique_ptr<Directory> directory, open_below(root_, parts, false));
    CELLAR_TRY(directory->unlink(last));
    CELLAR_TRY(directory->sync());
  }
  return {};
}

// Copies the files of a directory, and those of its sub-directories.
Status copy_directory(Executor& executor, Directory& from, const std::string& from_path, Directory& to,
                      bool top) {
  CELLAR_TRY_ASSIGN(const std::vector<DirectoryEntry> entries, from.list());
  for (const DirectoryEntry& entry : entries) {
    if (top && (entry.name == kLockName || entry.name == kSnapshotsDirectoryName ||
                entry.name == kQuarantineName || entry.name == kCurrentTempName))
      continue;
    const std::string path = from_path + "/" + entry.name;
    std::error_code error;
    if (fs::is_symlink(path, error))
      return Status::io_error("cannot copy a link").at(path).hinting("repair the store itself, without --to");
    if (!entry.is_directory) {
      CELLAR_TRY(link_or_copy(executor, from, entry.name, to, entry.name).status().with_context(path));
      continue;
    }
    CELLAR_TRY_ASSIGN(const std::unique_ptr<Directory> below, from.directory(entry.name, false));
    CELLAR_TRY_ASSIGN(const std::unique_ptr<Directory> copy, to.directory(entry.name, true));
    CELLAR_TRY(copy_directory(executor, *below, path, *copy, false));
  }
  return to.sync();
}

}  // namespace

Result<std::string> carry_out(Directory& root, const std::string& path, const RepairPlan& plan) {
  return RepairRun(root, path, plan).run();
}

Status copy_store(const std::string& from, const std::string& to) {
  std::error_code error;
  if (fs::exists(fs::symlink_status(to, error)))
    return Status::invalid_argument("--to: " + to + " exists already")
        .hinting("name a directory that does not exist yet");
  CELLAR_TRY_ASSIGN(const std::unique_ptr<Directory> source, posix_file_system().open_directory(from, false));
  CELLAR_TRY_ASSIGN(const std::unique_ptr<Directory> target, posix_file_system().open_directory(to, true));
  const std::unique_ptr<Executor> executor = make_thread_executor(1, 1);
  return copy_directory(*executor, *source, from, *target, true);
}

}  // namespace cellar
