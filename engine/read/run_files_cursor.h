// RunFilesCursor: the cursor of a sorted run of several files, which it opens one after the other.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "cell/cursor.h"
#include "engine/store/store_view.h"

namespace cellar {

// RunFiles: the files of a run as a read sees them, by their place in the run. One thread at a time.
class RunFiles {
 public:
  virtual ~RunFiles() = default;
  // Returns false only if no cell of the file can matter to the read. The cursor asks when it first needs the
  // file, and again when it comes back; the answer stays the same.
  virtual bool wants(size_t at) = 0;
  // Returns a new cursor of the file, which is wanted.
  virtual std::unique_ptr<RunCursor> open(size_t at) = 0;
};

// Returns a cursor over the cells of the wanted files, in order. `rows` has an entry for each file, ascending
// and without common rows; it must outlive the cursor. A file is opened when the cursor comes to one of its
// rows. At most two cursors are open: the current one, and the one that gave the cell before. The second one
// is closed at the second move after that cell. After a seek_before it stays open until a forward move opens
// a file, because a reversed read looks at it again. The first error of a file is the error of this cursor.
std::unique_ptr<RunCursor> make_run_files_cursor(std::span<const FileRows> rows,
                                                 std::unique_ptr<RunFiles> files);

}  // namespace cellar
