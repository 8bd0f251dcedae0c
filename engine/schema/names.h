// The rules for names that users give to tables, snapshots and feeds.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cellar/status.h"

namespace cellar {

// HBase's rule: letters, digits, '_', '-', '.', not beginning with '.' or '-', at most 255 bytes. `what`
// stands in the message: "snapshot". kInvalidArgument.
Status check_name(std::string_view what, std::string_view name);
// Checks a table's name, which may also have one ':' after a namespace.
Status check_table_name(std::string_view name);
// Checks the rows at which a table is cut into regions: none is empty, too long or given twice.
// kInvalidArgument.
Status check_splits(std::vector<std::string> splits);
// kInvalidArgument naming the family and the nearest of `families`, which are the table's.
Status unknown_family(std::string_view table, std::string_view family,
                      const std::vector<std::string>& families);

}  // namespace cellar
