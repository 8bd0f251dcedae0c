// Paths to HFiles: an operand may be a file, a directory of files, or a store; content decides which.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "hfile/read/hfile_reader.h"
#include "tools/frame/session.h"
#include "tools/hbase/file_look.h"

namespace cellar {

// What is done with the remains of HFiles in a directory.
enum class Remains : uint8_t { kRefuse, kTake };

// The files behind an operand, sorted: itself; of a directory its HFiles, hidden names ('.', '_') left out;
// of a store those that its manifest names, read without the store's lock; of a snapshot of HBase's those it
// names. Halves and links of HBase's among them count, unless the whole file does. Others in a directory, or
// below a store's tables/, are mentioned in `others`. kNotFound, also for what a half or link needs;
// kIoError; of stores CEL-CORRUPTION; of remains CEL-NOT-HFILE, unless they are taken.
Result<std::vector<std::string>> find_hfiles(Session& session, const std::string& path, Remains remains,
                                             std::vector<std::string>& others);
// … behind all operands; says on standard error what was left out. None at all is kNotFound.
Result<std::vector<std::string>> find_all_hfiles(Session& session, const std::vector<std::string>& paths,
                                                 Remains remains = Remains::kRefuse);

// Opens one file; of a half that HBase left after a split, that half; of a link, what it names. Errors get
// their name: CEL-NOT-HFILE (3), CEL-CORRUPTION (1), CEL-LIMIT (1: a cap on bytes from outside),
// CEL-NOT-SUPPORTED (4). Says once on standard error if a file has no checksums.
Result<std::shared_ptr<HFileReader>> open_hfile(Session& session, const std::string& path);
// The bytes of one file, as it is or as a half or link of HBase's stands for it: the whole of it.
Result<std::unique_ptr<ReadableFile>> open_whole_hfile(const std::string& path);
// For every command that reads cells: says on standard error, once for each run of the program, that wrong
// cells of a file without checksums cannot always be detected. Any thread.
void tell_if_unchecked(const Session& session, const HFileReader& file);
// Gives an error about a file its name and exit status.
Status name_file_failure(Session& session, const Status& status);
// The exit status of an error about a file.
Exit exit_of_file_failure(const Status& status);

}  // namespace cellar
