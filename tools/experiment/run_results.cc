// Lines of JSON, appended and synced one by one.
#include "tools/experiment/run_results.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tools/frame/output.h"

namespace cellar {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

Status failed(const std::string& path, const char* what) {
  const int error = errno;
  const std::string text = fmt::format("{} cannot be {}: {}", path, what, std::strerror(error));
  return error == ENOSPC || error == EDQUOT ? Status::no_space(text) : Status::io_error(text);
}

Status write_all(int file, std::string_view bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return failed(path, "written");
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return {};
}

}  // namespace

std::string results_path(const std::string& directory) { return directory + "/results.jsonl"; }

Result<ResultLines> read_results(const std::string& directory) {
  const std::string path = results_path(directory);
  std::error_code error;
  if (!fs::exists(path, error)) return ResultLines();
  std::ifstream in(path, std::ios::binary);
  std::ostringstream bytes;
  if (in) bytes << in.rdbuf();
  if (!in) return Status::io_error(path + " cannot be read");
  const std::string text = bytes.str();
  ResultLines lines;
  uint64_t number = 0;
  for (size_t end; (end = text.find('\n', lines.sound_bytes)) != std::string::npos;) {
    ++number;
    const std::string line = text.substr(lines.sound_bytes, end - lines.sound_bytes);
    const Json json = Json::parse(line, nullptr, false);
    Result<RunRecord> record =
        json.is_discarded() ? Status::invalid_argument("it is not JSON") : record_of(json);
    if (!record.ok()) {
      return Status::corruption("the line is no result of a run: " + std::string(record.status().message()))
          .at(fmt::format("{}:{}", path, number))
          .hinting("remove this line; its run will happen again");
    }
    lines.records.push_back(std::move(*record));
    lines.sound_bytes = end + 1;
  }
  lines.torn_bytes = text.size() - lines.sound_bytes;
  return lines;
}

Result<std::unique_ptr<RunResults>> RunResults::open(const std::string& directory) {
  CELLAR_TRY_ASSIGN(const std::unique_ptr<Directory> made,
                    posix_file_system().open_directory(directory, true));
  Result<std::unique_ptr<FileLock>> lock = made->lock("lock");
  if (!lock.ok()) {
    return lock.status().is(Code::kLocked)
               ? lock.status()
                     .with_context("the experiment runs already")
                     .hinting("wait for it; meanwhile --page draws what it has measured")
               : lock.status();
  }
  CELLAR_TRY_ASSIGN(ResultLines lines, read_results(directory));
  const std::string path = results_path(directory);
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (file < 0) return failed(path, "opened");
  std::unique_ptr<RunResults> results(new RunResults(directory, std::move(*lock), file));
  results->lines_ = std::move(lines);
  CELLAR_TRY(results->clean_up());
  CELLAR_TRY(made->sync());
  return results;
}

RunResults::~RunResults() { ::close(file_); }

Status RunResults::clean_up() {
  if (lines_.torn_bytes > 0) {
    const std::string path = results_path(directory_);
    if (::ftruncate(file_, static_cast<off_t>(lines_.sound_bytes)) != 0 || ::fsync(file_) != 0)
      return failed(path, "cut");
    findings_.push_back(fmt::format("dropped the last line of {}, which was not written to its end", path));
    lines_.torn_bytes = 0;
  }
  std::error_code error;
  if (!fs::exists(store_path(), error)) return {};
  findings_.push_back(fmt::format("removed {}, the store of a run that was stopped", store_path()));
  return remove_store();
}

Status RunResults::append(const RunRecord& record) {
  const std::string path = results_path(directory_);
  const std::string line = to_json(record).dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  Status status = write_all(file_, line, path);
  if (status.ok() && ::fsync(file_) != 0) status = failed(path, "synced");
  if (!status.ok()) {
    if (::ftruncate(file_, static_cast<off_t>(lines_.sound_bytes)) != 0)
      return status;  // torn, and found later
    return status;
  }
  lines_.sound_bytes += line.size();
  // The line rounds its numbers. Now and after a new start, the same numbers are shown.
  CELLAR_TRY_ASSIGN(RunRecord kept, record_of(Json::parse(line, nullptr, false)));
  lines_.records.push_back(std::move(kept));
  return {};
}

std::string RunResults::store_path() const { return directory_ + "/run-under-way"; }

Status RunResults::remove_store() const {
  std::error_code error;
  fs::remove_all(store_path(), error);
  if (error) return Status::io_error(fmt::format("{} cannot be removed: {}", store_path(), error.message()));
  return {};
}

}  // namespace cellar
