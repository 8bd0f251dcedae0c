// The sequences of a store file's cells, held against the file's record in the manifest.
//
// A block of another file or another time may be sound in itself. Files of older versions of Cellar have no
// block sums that would reveal it. But its cells were written at other sequences than those of the file.
// Reads do not compare the sequences; a rewrite does before it makes cells permanent.
#pragma once

#include <memory>

#include "cell/cursor.h"
#include "engine/store/store_file.h"
#include "hfile/check/verify.h"

namespace cellar {

// The sequences that the cells of a file may have. A foreign file's are not its own: everything is allowed.
SequenceRange sequences_of(const FileRecord& record);

// Ok if `cell`, which was read from `file`, may have its sequence. kCorruption.
Status check_sequence(const StoreFile& file, const CellView& cell);

// Returns a cursor over `file` that fails at the first cell that may not have its sequence. Borrows `file`.
std::unique_ptr<RunCursor> make_sequence_checking_cursor(const StoreFile& file,
                                                         const FileCursorOptions& options);

}  // namespace cellar
