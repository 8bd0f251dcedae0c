// describe: what an HFile is, as values; the tools render it.
#pragma once

#include <memory>

#include "cellar/file_system.h"
#include "hfile/check/hfile_description.h"

namespace cellar {

// As much as can be known. Fails only when the bytes are no HFile at all (is_not_an_hfile), cannot be read
// (kIoError), or have no such block (kInvalidArgument).
Result<HFileDescription> describe(std::unique_ptr<ReadableFile> file, const DescribeOptions& options);

}  // namespace cellar
