// A directory of HFiles as the table that a copy reads: an export, or a table, region, family or snapshot of
// HBase.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cellar/table.h"
#include "tools/frame/session.h"
#include "tools/hbase/hbase_dir.h"

namespace cellar {

struct CopiedFiles {
  std::shared_ptr<Table> table;  // its info() has the whole schema
  // Names the directory and its files. A directory whose files are others has another name.
  std::string place;
  std::vector<std::string> region_starts;  // of HBase's table, as far as its directory tells
};

// Opens the table in a directory that is_one_table(). Its schema is the one that `cellar export` wrote next
// to the files, or that of HBase's descriptor. Families that neither describes get options that keep all that
// their files hold. All cells of their files are read for that. Standard error reports what was left out.
// Errors: those of find_hbase_table() and summarise().
Result<CopiedFiles> open_copied_files(Session& session, const std::string& path, HBaseKind kind);

}  // namespace cellar
