// Finds the HFiles of an operand: a file, a directory of files, or a store. The content decides which of
// these it is.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "hfile/read/hfile_reader.h"
#include "tools/frame/session.h"
#include "tools/hbase/file_look.h"

namespace cellar {

// How to treat the remains of HFiles in a directory.
enum class Remains : uint8_t { kRefuse, kTake };

// Returns the paths of the HFiles that an operand names, sorted. By kind of operand:
// - a file: the file itself;
// - a directory: its HFiles and those below it, except in hidden names ('.', '_');
// - a store: the files in its manifest, read without the store's lock;
// - a snapshot of HBase: the files in its manifest.
// Halves and links of HBase's in a directory count, unless the whole file is there, too. `others` receives
// the other files of a directory, or of a store's tables/. Errors: kNotFound if the path, or the file of a
// half or link, is missing; kIoError; CEL-CORRUPTION for stores; CEL-NOT-HFILE for remains, unless
// Remains::kTake.
Result<std::vector<std::string>> find_hfiles(Session& session, const std::string& path, Remains remains,
                                             std::vector<std::string>& others);
// Returns the HFiles of all operands; reports the files that were left out on standard error. kNotFound if
// there is no HFile at all.
Result<std::vector<std::string>> find_all_hfiles(Session& session, const std::vector<std::string>& paths,
                                                 Remains remains = Remains::kRefuse);

// Opens one file. For a half that HBase left after a split, opens that half; for a link, opens its target.
// Names of errors, with exit status: CEL-NOT-HFILE (3), CEL-CORRUPTION (1), CEL-LIMIT (1: a cap on bytes from
// outside), CEL-NOT-SUPPORTED (4). Warns once on standard error if a file has no checksums.
Result<std::shared_ptr<HFileReader>> open_hfile(Session& session, const std::string& path);
// Opens one file for reading its bytes. For a half or link of HBase's, opens the whole file that it refers
// to.
Result<std::unique_ptr<ReadableFile>> open_whole_hfile(const std::string& path);
// Warns on standard error that wrong cells in a file without checksums cannot always be detected. Every
// command that reads cells calls it. It warns once for each run of the program. Any thread.
void tell_if_unchecked(const Session& session, const HFileReader& file);
// Gives an error about a file its name and exit status.
Status name_file_failure(Session& session, const Status& status);
// Returns the error of a file with a hint at salvage if the file is an HFile that lost its end.
Status with_hint_at_salvage(const std::string& path, const Status& status);
// Returns the exit status for an error about a file.
Exit exit_of_file_failure(const Status& status);

}  // namespace cellar
