// The parts of a description that need more than the end of a file; for describe*.cc.
#pragma once

#include "hfile/block/file_parts.h"
#include "hfile/check/hfile_description.h"

namespace cellar {

std::string_view checksum_name(std::optional<ChecksumType> type);

// describe_index.cc: the tree, and the chunks of a filter (null: nothing). Nodes that cannot be read are
// passed over; the status is the first one's.
Status describe_index(const FileParts& parts, uint64_t list_max, HFileDescription& out);
void describe_chunks(const BloomReader* bloom, uint64_t list_max, HFileBloomLine& out);

// Describes the block of `options` (describe_block.cc). Null `parts`: the file did not open, but its trailer
// could be read. Errors: kInvalidArgument if the file has no such block. After kCorruption and kNotSupported,
// all that could be read of it is described.
Status describe_block(const ReadableFile& file, const Trailer& trailer, const FileParts* parts,
                      const DescribeOptions& options, HFileDescription& out);

}  // namespace cellar
