// HFileOutput: new HFiles of commands: how they are made, and what they take over from the old ones.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "hfile/read/hfile_reader.h"
#include "hfile/write/hfile_writer.h"
#include "hfile/write/named_file.h"
#include "tools/frame/arguments.h"
#include "tools/frame/session.h"

namespace cellar {

using HFileReaders = std::vector<std::shared_ptr<HFileReader>>;

// The user's choices for the files that a command writes. Empty: as in the inputs.
struct HFileShape {
  std::string compression;
  std::string encoding;
  std::string bloom;
  std::string block_size;

  void declare(Arguments& arguments);
  // Overwrites `options` with the choices. Error: kInvalidArgument.
  Status apply(HFileWriterOptions& options) const;
  // Returns the options for a file with the cells of `inputs`, at least one. They are the choices, else those
  // of the first input. The file has tags and sequences if any input has them. Errors: kInvalidArgument,
  // kIoError.
  Result<HFileWriterOptions> options_for(const HFileReaders& inputs) const;
};

// Creates the file of `-o PATH`. kInvalidArgument if it exists and `replace` is false; the hint names
// --replace.
Result<std::unique_ptr<NamedFile>> create_output(const std::string& path, bool replace);

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

// The facts of a file made of many: the newest sequence.
Status merge_facts(const HFileReaders& from, HFileWriter& to);

// Opens all; the first that fails ends it.
Result<HFileReaders> open_hfiles(Session& session, const std::vector<std::string>& paths);

}  // namespace cellar
