// verify: is this HFile what its writer meant: block by block, cell by cell, key by key.
#pragma once

#include <memory>

#include "cellar/file_system.h"
#include "hfile/check/verify_report.h"

namespace cellar {

// Continues after damaged blocks where it can. Never fails: the report says what happened. Holds index and
// filters of the file, and some 32 MiB of blocks at a time, or one block.
VerifyReport verify(std::unique_ptr<ReadableFile> file, const VerifyOptions& options);

}  // namespace cellar
