// Second names for files, and copies of them, between directories.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "cellar/environment.h"
#include "cellar/file_system.h"

namespace cellar {

// "a/b" to the directory "a" and the name "b"; "b" to "." and "b".
std::pair<std::string, std::string> split_path(const std::string& path);

// A durable copy; its name becomes durable with the directory's sync(). Yields between pieces. After a
// failure it removes what it created. A file that has the target's name already stays, and the copy fails.
Status copy_file(Executor& executor, Directory& from, std::string_view name, Directory& into,
                 std::string_view target);

// The same for a file that is open. Its name may be gone.
Status copy_open_file(Executor& executor, const ReadableFile& source, Directory& into,
                      std::string_view target);

// Writes the file anew, first as `copy`. Afterwards the name leads to durable content; the name is durable
// with the directory's sync(). A copy of an earlier attempt is replaced.
Status rewrite_file(Executor& executor, Directory& directory, std::string_view name, std::string_view copy);

// A second name for the file, true; or where the file system has none between the two, a durable copy, false.
Result<bool> link_or_copy(Executor& executor, Directory& from, std::string_view name, Directory& into,
                          std::string_view target);

// Removes a directory with all that is in it, 16 levels deep at most (else kLimit). Not durable before
// parent.sync().
Status remove_tree(Directory& parent, std::string_view name);

}  // namespace cellar
