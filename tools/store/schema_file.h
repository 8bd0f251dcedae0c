// The schema of a table next to its exported HFiles, which do not hold it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "cellar/options.h"
#include "cellar/status.h"

namespace cellar {

// Lies next to the families' directories. HBase's bulk load looks for directories there and passes over
// files.
inline constexpr std::string_view kSchemaFileName = "_schema.json";

struct ExportedSchema {
  std::string table;     // its name where it came from
  TableOptions options;  // families included
};

// The content of the file: every option of the table and of each family, as set_option takes it.
std::string schema_file_text(const ExportedSchema& schema);
// The schema in `directory`; nothing when it has no such file. kCorruption when it cannot be understood,
// kNotSupported for another version of it, kLimit.
Result<std::optional<ExportedSchema>> read_schema_file(const std::string& directory);

}  // namespace cellar
