// NamedFile: a file that gets its name when it is whole.
#pragma once

#include <memory>
#include <string>

#include "cellar/file_system.h"

namespace cellar {

// One thread. Until publish() returns ok the name refers to the old file, if any. If only the last step
// fails, making the name durable, it may refer to the new file.
class NamedFile {
 public:
  // The directory of `path` must exist. kInvalidArgument for a name that no file can have, and when there is
  // a file and `replace` is false. `files` outlives the file.
  static Result<std::unique_ptr<NamedFile>> create(FileSystem& files, const std::string& path, bool replace);
  // Removes what was written, unless publish() got as far as giving the name.
  ~NamedFile();
  NamedFile(const NamedFile&) = delete;
  NamedFile& operator=(const NamedFile&) = delete;

  // New and empty.
  WritableFile& file() { return *file_; }
  const std::string& path() const { return path_; }
  // Opens what was written so far. Call it before publish().
  Result<std::unique_ptr<ReadableFile>> read_back() const { return directory_->open(partial_name_); }
  // Makes what was written durable and gives it its name.
  Status publish();

 private:
  NamedFile() = default;
  Status check_free() const;

  std::string path_;
  std::string name_;
  std::string partial_name_;  // HBase's bulk load passes over names that begin like this
  bool replace_ = false;
  bool finished_ = false;
  std::unique_ptr<Directory> directory_;
  std::unique_ptr<WritableFile> file_;
};

}  // namespace cellar
