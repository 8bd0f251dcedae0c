// file_sequence: when the cells of a store file of HBase's were written, among the files of its region.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "cellar/status.h"

namespace cellar {

class FileInfo;

// The number in "…_SeqId_4_", which HBase gives a bulk-loaded file. Nothing for other names.
std::optional<uint64_t> bulk_load_sequence(std::string_view name);

// The sequence by which HBase orders the file among those of its region: that of its name, else
// MAX_SEQ_ID_KEY, which flushes and compactions write. Nothing when neither says it. kCorruption for a
// malformed MAX_SEQ_ID_KEY.
Result<std::optional<int64_t>> file_sequence(const FileInfo& info, std::string_view name);

}  // namespace cellar
