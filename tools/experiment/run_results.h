// RunResults: the results of an experiment in its directory, one line each, and the lock on the directory.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cellar/file_system.h"
#include "tools/experiment/run_record.h"

namespace cellar {

// The results that a file holds.
struct ResultLines {
  std::vector<RunRecord> records;  // in the order of the file
  uint64_t sound_bytes = 0;        // of whole lines
  uint64_t torn_bytes = 0;         // after them: a line whose writer was stopped
};

// Reads the results in the directory; none if it has no such file, or does not exist. A last line without its
// end is torn. Errors: kCorruption with the line if another line is no result; kIoError.
Result<ResultLines> read_results(const std::string& directory);

// RunResults: the only writer of a directory. One thread.
class RunResults {
 public:
  // Creates and locks the directory, cuts a torn line off, and removes the store of a run that was stopped.
  // Errors: kLocked if another process has it; kNotFound if its parent does not exist; those of
  // read_results().
  static Result<std::unique_ptr<RunResults>> open(const std::string& directory);
  ~RunResults();
  RunResults(const RunResults&) = delete;
  RunResults& operator=(const RunResults&) = delete;

  const std::vector<RunRecord>& records() const { return lines_.records; }
  // Sentences about what open() removed.
  const std::vector<std::string>& findings() const { return findings_; }
  // Appends a line and syncs it. After an error, what was written of it is cut off.
  Status append(const RunRecord& record);
  // The directory of the store of the run under way. It does not exist between runs.
  std::string store_path() const;
  Status remove_store() const;

 private:
  RunResults(std::string directory, std::unique_ptr<FileLock> lock, int file)
      : directory_(std::move(directory)), lock_(std::move(lock)), file_(file) {}
  Status clean_up();

  std::string directory_;
  std::unique_ptr<FileLock> lock_;
  int file_;
  ResultLines lines_;
  std::vector<std::string> findings_;
};

// Returns the path of the results in the directory of an experiment.
std::string results_path(const std::string& directory);

}  // namespace cellar
