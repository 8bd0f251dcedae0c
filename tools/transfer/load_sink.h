// LoadSink: a CopySink that writes HFiles, and lets the table adopt them (Table::ingest). A cluster takes
// them as a bulk load.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "cellar/file_system.h"
#include "cellar/table.h"
#include "tools/frame/session.h"
#include "tools/transfer/copy_sink.h"

namespace cellar {

// LoadPlace: a directory of this machine for the HFiles of one copy, and how the table finds them. It is
// locked while the object lives, and removed with it. One thread.
class LoadPlace {
 public:
  struct Options {
    std::string staging = {};          // a directory, or "webhdfs://HOST:PORT/DIRECTORY" for a cluster
    std::string servers_staging = {};  // a cluster's name of the directory `staging`; empty: its path
    std::string scratch = {};          // where files lie before WebHDFS has them; empty: here
    uint64_t copy = 0;                 // tells copies apart: what an earlier run of this one left is removed
    bool for_cluster = false;          // the servers read the files, perhaps as other users
  };
  // kLocked while the same copy runs; kNotFound, kIoError.
  static Result<std::unique_ptr<LoadPlace>> open(const Options& options);
  ~LoadPlace();
  LoadPlace(const LoadPlace&) = delete;
  LoadPlace& operator=(const LoadPlace&) = delete;

  // Returns a path for the next directory of HFiles, which does not exist.
  std::string next_directory();
  // Returns what IngestRequest::servers_directory is for such a directory.
  std::string servers_name_of(const std::string& directory) const;
  // Lets other users read and change the files, if servers of a cluster open them here. kIoError.
  Status open_to_servers() const;
  // Returns whether `staging` is in HDFS.
  static bool is_in_hdfs(const std::string& staging) { return staging.starts_with("webhdfs://"); }
  bool is_in_hdfs() const { return is_in_hdfs(options_.staging); }

 private:
  explicit LoadPlace(const Options& options) : options_(options) {}
  Status begin();
  std::string lock_name() const { return path_.filename().string() + ".lock"; }
  Status clear() const;

  const Options options_;
  std::filesystem::path path_;
  std::unique_ptr<Directory> parent_;
  std::unique_ptr<FileLock> lock_;
  uint64_t directories_ = 0;
};

// Each finish() loads what was added since the one before it. The table must have all families. If regions of
// the table were split or merged meanwhile, the files are written again for the new ones. A load may be
// repeated: equal cells count once. `session`, `table` and `place` are borrowed. Errors: those of HFileExport
// and Table::ingest; kAborted after Ctrl-C.
Result<std::unique_ptr<CopySink>> make_load_sink(Session& session, Table& table, LoadPlace& place);

}  // namespace cellar
