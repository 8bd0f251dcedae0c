// ForeignFile: an HFile that somebody else wrote, looked at from its first to its last byte before it may
// count.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "cellar/file_system.h"
#include "engine/manifest/manifest.h"
#include "hfile/check/verify.h"

namespace cellar {

struct ForeignFile {
  FileRecord record;  // all but name, sequences and times of the engine
  // By which HBase orders files of one region (file_sequence.h); nothing when the file does not say it.
  std::optional<int64_t> sequence = std::nullopt;
  int64_t bulk_load_ms = 0;  // BULKLOAD_TIMESTAMP, else the latest there is, as HBase takes it
};

struct ForeignFileRules {
  std::string_view family;
  VerifyLevel level = VerifyLevel::kDeep;
  uint64_t cell_bytes_max = 0;
  uint64_t block_payload_bytes_max = 0;
};

// Examines `name` in `directory` as a file of that family. Messages call the file `source`. A file without
// cells is accepted; its record has 0 cells. Returns kCorruption with the first fault. Returns kNotSupported
// if this build cannot read the file, or the engine must not take it over. Returns kInvalidArgument if a cell
// does not belong there, and kLimit if one is too large.
Result<ForeignFile> examine_foreign_file(Directory& directory, std::string_view name,
                                         const std::string& source, const ForeignFileRules& rules);

}  // namespace cellar
