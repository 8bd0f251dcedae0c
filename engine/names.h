// The rules for names that users give to tables, snapshots and feeds.
#pragma once

#include <string_view>

#include "cellar/status.h"

namespace cellar {

// HBase's rule: letters, digits, '_', '-', '.', not beginning with '.' or '-', at most 255 bytes. `what`
// stands in the message: "snapshot". kInvalidArgument.
Status check_name(std::string_view what, std::string_view name);
// … of a table: also one ':' after a namespace.
Status check_table_name(std::string_view name);

}  // namespace cellar
