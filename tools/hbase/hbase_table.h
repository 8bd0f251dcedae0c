// A table in HBase's own files, read as HBase reads it: opened for commands that look.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cellar/table.h"
#include "tools/frame/session.h"
#include "tools/hbase/hbase_dir.h"

namespace cellar {

// The table in a directory that is_one_table(). What its families keep says its descriptor; without one
// HBase's defaults hold, which is said on standard error, as is what was left out and what cannot be seen.
// `assumed` are families as `create` takes them ("d:max_versions=3"), which hold instead. CEL-HBASE-DIR,
// CEL-HBASE-FILE, CEL-CORRUPTION, CEL-FAMILY.
Result<std::shared_ptr<Table>> open_hbase_table(Session& session, const std::string& path, HBaseKind kind,
                                                const std::vector<std::string>& assumed);

// Gives an error about a directory of HBase's its name and exit status.
Status name_hbase_failure(Session& session, const Status& status);

}  // namespace cellar
