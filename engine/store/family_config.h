// FamilyConfig: a family's options, and what is derived from them once.
#pragma once

#include <memory>
#include <string>

#include "cell/rules.h"
#include "cellar/compaction_policy.h"
#include "cellar/options.h"
#include "hfile/write/hfile_writer.h"

namespace cellar {

// Immutable; shared by the views that were made under it.
struct FamilyConfig {
  FamilyOptions options;
  FamilyRules rules;
  std::shared_ptr<const CompactionPolicy> policy;

  // kInvalidArgument when the options do not pass validate().
  static Result<std::shared_ptr<const FamilyConfig>> create(const FamilyOptions& options);
};

// The writer of a store file. Each may have its own compression, as HBase's COMPRESSION_COMPACT_MAJOR.
enum class FileOrigin : uint8_t { kFlush, kMinorCompaction, kMajorCompaction };
const std::string& compression_of(const FamilyOptions& family, FileOrigin origin);

// Writer options of a new store file of this family.
HFileWriterOptions writer_options(const FamilyOptions& family, FileOrigin origin, bool tags, bool mvcc,
                                  int64_t now_ms, uint64_t cell_bytes_max);

}  // namespace cellar
