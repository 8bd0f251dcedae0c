// Reads a configuration from a text file, for `cellar config check`.
#pragma once

#include <string>
#include <string_view>

#include "cellar/status.h"
#include "tools/store/config_check.h"

namespace cellar {

// Reads options from lines "name = value", in sections:
//
//   # a remark
//   [engine]
//   cache_bytes = 256m
//   [table orders]
//   durability = fsync_wal
//   [family orders:d]
//   ttl_s = 30d
//
// Lines before the first section are of the engine. Names and values are those of set_option(). Errors:
// kInvalidArgument with the number of the line.
Result<Configuration> parse_configuration(std::string_view text);

}  // namespace cellar
