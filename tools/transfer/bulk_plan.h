// BulkPlan: the recipe by which a directory of HFiles gets into a table of HBase's, made of what the files
// hold.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "cellar/options.h"
#include "tools/hbase/hbase_records.h"
#include "tools/transfer/bulk_check.h"

namespace cellar {

// Common properties of the files of one family, for the table that takes them.
struct BulkFamily {
  BulkShape shape;        // of most files
  bool mixed = false;     // others have another one
  uint32_t versions = 1;  // most puts of one column
};

struct BulkSummary {
  std::map<std::string, BulkFamily> families;
  uint64_t files = 0;
  uint64_t bytes = 0;
  uint64_t cells = 0;
  uint64_t deletes = 0;
  uint64_t rows = 0;
};

// Walks all cells once. kNotFound without files; errors of the first file that fails.
Result<BulkSummary> summarise(Session& session, const BulkFiles& files);

// The options of a family of Cellar's that keeps all its files hold. kNotSupported for what is not built in.
Result<FamilyOptions> family_for(const std::string& name, const BulkFamily& family);

// Returns the options of the descriptor's table. Options that a store cannot have are reported and left out.
TableOptions options_of_descriptor(Session& session, const HBaseTableSchema& schema);

// The schema of the table from which the files came.
struct BulkSchema {
  enum class Source : uint8_t {
    kExport,      // the schema that `cellar export` wrote next to them
    kDescriptor,  // .tableinfo of the HBase table in whose region they lie
    kFiles,       // the files alone: nothing is known of the options that files do not have
  };
  Source source = Source::kFiles;
  TableOptions options;  // of kExport and kDescriptor
};
std::string_view bulk_schema_source_name(BulkSchema::Source source);  // "export", "tableinfo", "files"
// Finds the schema. Families that have files but are not in it are added as the files are, with a warning.
// Error: kCorruption if the schema cannot be read.
Result<BulkSchema> find_bulk_schema(Session& session, const std::string& directory,
                                    const BulkSummary& summary);

struct BulkRecipe {
  std::string directory;
  std::string table;
  std::string staging;  // on HBase's file system
  std::string splits;   // a file, or empty
};
// Commands for a POSIX shell; every name in it is quoted. kInvalidArgument for a table's name that HBase does
// not take.
Result<std::string> recipe_text(const BulkRecipe& recipe, const BulkSchema& schema,
                                const BulkSummary& summary);

}  // namespace cellar
