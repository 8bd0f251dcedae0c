// Opens a table in HBase's own files for commands that only read. Reads have HBase's semantics.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cellar/table.h"
#include "tools/frame/session.h"
#include "tools/hbase/hbase_dir.h"

namespace cellar {

// Opens the table in a directory that is_one_table(). The table's descriptor sets the options of its
// families; without a descriptor they have HBase's defaults. Standard error reports missing descriptors,
// files that were left out, and cells that cannot be seen. `assumed` are families in the syntax of `create`
// ("d:max_versions=3"); they override the descriptor. CEL-HBASE-DIR, CEL-HBASE-FILE, CEL-CORRUPTION,
// CEL-FAMILY.
Result<std::shared_ptr<Table>> open_hbase_table(Session& session, const std::string& path, HBaseKind kind,
                                                const std::vector<std::string>& assumed);

// Opens the table of files that find_hbase_table() found, with these options. CEL-HBASE-FILE, CEL-CORRUPTION
// of files come with the first read that needs them.
Result<std::shared_ptr<Table>> table_of_files(Session& session, HBaseTableFiles files, TableOptions table);
// Reports on standard error which files were left out, and which cells cannot be seen.
void say_what_is_read(Session& session, const HBaseTableFiles& files);

// Gives an error about one of HBase's directories its name and exit status.
Status name_hbase_failure(Session& session, const Status& status);

}  // namespace cellar
