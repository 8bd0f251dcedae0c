// The directories of a load, the files in them, and the loads.
#include "tools/transfer/load_sink.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "base/bytes.h"
#include "tools/frame/progress.h"
#include "tools/hbase/hbase_dir.h"
#include "tools/query/table_rows.h"
#include "tools/transfer/bulk_files.h"
#include "tools/transfer/copy_files.h"
#include "tools/transfer/hfile_export.h"

namespace cellar {
namespace {

namespace fs = std::filesystem;

Status failed_at(std::string_view what, const std::string& path, const std::error_code& error) {
  return Status::io_error(fmt::format("{}: {}", what, error.message())).at(path);
}

// OpenFd: a descriptor, closed with the object.
class OpenFd {
 public:
  explicit OpenFd(int fd) : fd_(fd) {}
  ~OpenFd() {
    if (fd_ >= 0) ::close(fd_);
  }
  OpenFd(const OpenFd&) = delete;
  OpenFd& operator=(const OpenFd&) = delete;
  int get() const { return fd_; }

 private:
  const int fd_;
};

// Lets all users read the directory, and read and change the files in it, as HBase demands. No link is
// followed, and what another user has put there is refused.
Status open_to_all(int parent, const std::string& name, const fs::path& shown) {
  const OpenFd opened(::openat(parent, name.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
  struct stat found = {};
  if (opened.get() < 0 || ::fstat(opened.get(), &found) != 0)
    return failed_at("its rights cannot be set", shown.string(), {errno, std::generic_category()});
  const bool directory = S_ISDIR(found.st_mode);
  if (found.st_uid != ::geteuid() || !(directory || S_ISREG(found.st_mode)))
    return Status::io_error("another user has changed the directory for the files").at(shown.string());
  if (::fchmod(opened.get(), directory ? 0755 : 0666) != 0)
    return failed_at("its rights cannot be set", shown.string(), {errno, std::generic_category()});
  if (!directory) return {};
  std::error_code error;
  for (fs::directory_iterator at(shown, error), end; !error && at != end; at.increment(error))
    CELLAR_TRY(open_to_all(opened.get(), at->path().filename().string(), at->path()));
  return error ? failed_at("the files cannot be listed", shown.string(), error) : Status();
}

}  // namespace

Result<std::unique_ptr<LoadPlace>> LoadPlace::open(const Options& options) {
  std::unique_ptr<LoadPlace> place(new LoadPlace(options));
  CELLAR_TRY(place->begin());
  return place;
}

LoadPlace::~LoadPlace() {
  if (lock_ == nullptr) return;
  static_cast<void>(clear().ok());
  static_cast<void>(parent_->unlink(lock_name()).ok());
}

Status LoadPlace::begin() {
  std::error_code error;
  fs::path parent = is_in_hdfs() ? options_.scratch : without_slash(options_.staging);
  parent = fs::absolute(parent.empty() ? "." : parent, error).lexically_normal();
  if (error) return failed_at("the directory for the files cannot be found", parent.string(), error);
  const bool is_new = !fs::exists(parent, error);
  CELLAR_TRY_ASSIGN(parent_, posix_file_system().open_directory(parent.string(), /*create=*/true));
  // Its new directories are their owner's alone. The servers must be able to enter it.
  if (is_new && options_.for_cluster && !is_in_hdfs())
    fs::permissions(parent, fs::perms::owner_all | fs::perms::group_exec | fs::perms::others_exec, error);
  if (error) return failed_at("its rights cannot be set", parent.string(), error);
  path_ = parent / fmt::format("cellar-copy-{:016x}", options_.copy);
  Result<std::unique_ptr<FileLock>> lock = parent_->lock(lock_name());
  const Status held = lock.ok() ? (*lock)->check() : lock.status();
  if (held.is(Code::kLocked))
    return Status::locked("another run of this copy writes its files here").at(path_.string());
  CELLAR_TRY(held);
  lock_ = std::move(*lock);
  CELLAR_TRY(clear());
  if (!fs::create_directory(path_, error) && !error) error = std::make_error_code(std::errc::file_exists);
  if (!error) fs::permissions(path_, fs::perms::owner_all, error);
  return error ? failed_at("the directory cannot be made", path_.string(), error) : Status();
}

std::string LoadPlace::next_directory() { return (path_ / std::to_string(++directories_)).string(); }

std::string LoadPlace::servers_name_of(const std::string& directory) const {
  if (is_in_hdfs()) return options_.staging;
  if (options_.servers_staging.empty()) return {};
  const fs::path below = fs::path(directory).lexically_relative(path_.parent_path());
  return without_slash(options_.servers_staging) + "/" + below.string();
}

Status LoadPlace::open_to_servers() const {
  if (!options_.for_cluster || is_in_hdfs()) return {};
  return open_to_all(AT_FDCWD, path_.string(), path_);
}

Status LoadPlace::clear() const {
  std::error_code error;
  fs::remove_all(path_, error);
  return error ? failed_at("what an earlier run left cannot be removed", path_.string(), error) : Status();
}

namespace {

class LoadSink final : public CopySink {
 public:
  LoadSink(Session& session, Table& table, LoadPlace& place)
      : session_(session), table_(table), place_(place) {}

  // Mistakes in options show before the first cell is read: HFiles that no family can have, or a place that
  // is not HDFS.
  Status begin() {
    if (place_.is_in_hdfs()) {
      IngestRequest nothing;
      nothing.servers_directory = place_.servers_name_of({});
      CELLAR_TRY(table_.ingest(nothing).status());
    }
    return begin_portion();
  }

  bool takes_markers_in_order() const override { return true; }

  Status add(const CellView& cell) override {
    if (files_ == nullptr) CELLAR_TRY(begin_portion());
    ++cells_;
    return files_->add(cell);
  }

  Status finish() override {
    if (cells_ == 0) return {};
    CELLAR_TRY(files_->finish());
    files_.reset();
    CELLAR_TRY(load());
    std::error_code ignored;  // the place removes what is left
    fs::remove_all(directory_, ignored);
    cells_ = 0;
    return {};
  }

  uint64_t tags_left_out() const override { return 0; }  // files keep all tags

 private:
  Status begin_portion() {
    CELLAR_TRY_ASSIGN(starts_, table_.region_starts());
    return begin_files();
  }
  Status begin_files() {
    directory_ = place_.next_directory();
    std::vector<std::string> splits(starts_.begin() + (starts_.empty() ? 0 : 1), starts_.end());
    CELLAR_TRY_ASSIGN(files_,
                      HFileExport::create(directory_, table_.info(), RowSplits::of(std::move(splits))));
    return {};
  }

  // A region that is split, or a lost answer, is no reason to give a long copy up.
  Status load() {
    constexpr int kAttempts = 5;
    for (int attempt = 1;; ++attempt) {
      const Status status = ingest();
      if (status.ok() || interrupted() || attempt == kAttempts) return status;
      if (status.is(Code::kDurabilityUnknown)) continue;
      if (!status.is(Code::kInvalidArgument)) return status;
      CELLAR_TRY_ASSIGN(std::vector<std::string> starts, table_.region_starts());
      if (starts == starts_) return status;
      starts_ = std::move(starts);
      CELLAR_TRY(write_again());
    }
  }

  Status ingest() {
    CELLAR_TRY(place_.open_to_servers());
    CELLAR_TRY_ASSIGN(const BulkFiles found, find_bulk_files(directory_));
    CELLAR_ASSERT(!found.files.empty());
    IngestRequest request;
    uint64_t bytes = 0;
    for (const BulkFile& file : found.files) {
      request.files.push_back({file.family, file.path});
      std::error_code unknown;
      const uintmax_t size = fs::file_size(file.path, unknown);
      bytes += unknown ? 0 : size;
    }
    request.servers_directory = place_.servers_name_of(directory_);
    request.verify = HFileCheckLevel::kCells;
    Progress progress(session_, "load " + table_.name(), bytes);
    request.progress = [&](uint64_t, uint64_t bytes_done) {
      progress.show(bytes_done, 0);
      return !interrupted();
    };
    const Status done = table_.ingest(request).status();
    return done.is(Code::kAborted) ? interrupted_status("the last files were not loaded") : done;
  }

  // Writes the cells of the files into others, for the regions that the table has now.
  Status write_again() {
    const std::string before = std::exchange(directory_, {});
    CELLAR_TRY_ASSIGN(const CopiedFiles copied, open_copied_files(session_, before, hbase_kind(before)));
    CELLAR_TRY(begin_files());
    Scan scan;
    constexpr uint32_t kCellsAtOnce = 1000;
    scan.raw(true).versions(UINT32_MAX).fill_cache(false).batch(kCellsAtOnce);
    CELLAR_TRY_ASSIGN(const std::unique_ptr<Scanner> scanner, copied.table->scan(scan));
    while (!interrupted() && scanner->next())
      for (const CellView& cell : scanner->row()) CELLAR_TRY(files_->add(cell));
    CELLAR_TRY(scanner->status());
    if (interrupted()) return interrupted_status("the last files were not loaded");
    CELLAR_TRY(files_->finish());
    files_.reset();
    std::error_code ignored;
    fs::remove_all(before, ignored);
    return {};
  }

  Session& session_;
  Table& table_;
  LoadPlace& place_;
  std::vector<std::string> starts_;  // of the table's regions
  std::string directory_;            // of the files
  std::unique_ptr<HFileExport> files_;
  uint64_t cells_ = 0;  // in the files
};

}  // namespace

Result<std::unique_ptr<CopySink>> make_load_sink(Session& session, Table& table, LoadPlace& place) {
  auto sink = std::make_unique<LoadSink>(session, table, place);
  CELLAR_TRY(sink->begin());
  return std::unique_ptr<CopySink>(std::move(sink));
}

}  // namespace cellar
