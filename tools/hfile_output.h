// HFileOutput: a new HFile under a name that it gets when it is whole, and options that say how it is made.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "hfile/hfile_reader.h"
#include "hfile/hfile_writer.h"
#include "tools/arguments.h"
#include "tools/session.h"

namespace cellar {

using HFileReaders = std::vector<std::shared_ptr<HFileReader>>;

// What people say of the files that a command writes; what they leave unsaid is as in the inputs.
struct HFileShape {
  std::string compression;
  std::string encoding;
  std::string bloom;
  std::string block_size;

  void declare(Arguments& arguments);
  // Options for a file with the cells of `inputs` (at least one): codec, encoding and Bloom type of the first
  // unless said otherwise, tags and sequences where an input has them. kInvalidArgument.
  Result<HFileWriterOptions> options_for(const HFileReaders& inputs) const;
  // Options where these names stand for what is left unsaid.
  Result<HFileWriterOptions> options_beside(const std::string& codec, const std::string& encoding_name,
                                            const std::string& bloom_name) const;
};

// NamedFile: a file that gets its name when it is whole. One thread. Until publish() returns ok the name
// holds what it held before.
class NamedFile {
 public:
  // The directory of `path` must exist. kInvalidArgument when there is a file and `replace` is false.
  static Result<std::unique_ptr<NamedFile>> create(const std::string& path, bool replace);
  // Removes what was written, unless publish() succeeded.
  ~NamedFile();
  NamedFile(const NamedFile&) = delete;
  NamedFile& operator=(const NamedFile&) = delete;

  WritableFile& file() { return *file_; }
  // Makes what was written durable and gives it its name.
  Status publish();

 private:
  NamedFile() = default;
  std::string path_;
  std::string name_;
  std::string partial_name_;
  bool replace_ = false;
  bool finished_ = false;
  std::unique_ptr<Directory> directory_;
  std::unique_ptr<WritableFile> file_;
};

// HFileOutput: an HFile under such a name. One thread.
class HFileOutput {
 public:
  // As NamedFile::create and HFileWriter::create.
  static Result<std::unique_ptr<HFileOutput>> create(const std::string& path,
                                                     const HFileWriterOptions& options, bool replace);
  HFileWriter& writer() { return *writer_; }
  // Writes the rest and publishes the file.
  Result<HFileSummary> finish();

 private:
  std::unique_ptr<NamedFile> file_;
  std::unique_ptr<HFileWriter> writer_;  // goes before its file
};

// Gives `to` the facts of `from` that hold for any file with the same cells: sequence, bulk-load marks, the
// application's own entries and meta blocks.
Status copy_facts(const HFileReader& from, HFileWriter& to);
// The facts of a file made of many: the newest sequence.
Status merge_facts(const HFileReaders& from, HFileWriter& to);

// Opens all; the first that fails ends it.
Result<HFileReaders> open_hfiles(Session& session, const std::vector<std::string>& paths);

}  // namespace cellar
