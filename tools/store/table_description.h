// TableDescription: what the HBase shell's `describe` prints of a table's families.
#pragma once

#include <map>
#include <string>

#include "cellar/status.h"

namespace cellar {

struct TableDescription {
  // Family to attributes, as they are written: BLOCKSIZE to "65536".
  std::map<std::string, std::map<std::string, std::string>> families;
};

// Returns the families in braces, {NAME => 'd', BLOCKSIZE => '65536 B (64KB)', …}, wherever they stand in the
// text. Skips everything else. Error: kInvalidArgument if the text has no family.
Result<TableDescription> parse_description(std::string_view text);
Result<TableDescription> read_description(const std::string& path);

}  // namespace cellar
