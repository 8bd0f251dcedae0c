// Directories of HBase 0.92 and 0.94, and before: recognised, so that they are refused by their name.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cellar/status.h"

namespace cellar {

// Whether the content of a .regioninfo is a region in the form before protobuf: HRegionInfo as a Writable.
bool is_legacy_region(std::string_view bytes);
// Whether the directory is a root of HBase with -ROOT- or .META., or with a hbase.version before protobuf.
bool is_legacy_root(const std::string& path);
// The tables below such a root, without -ROOT- and .META.
std::vector<std::string> legacy_tables(const std::string& root);
// kNotSupported: `what` ("…/orders") is of HBase 0.92 or 0.94; says what can be read of it. `more` ends the
// hint.
Status legacy_refusal(const std::string& what, const std::string& more = {});

}  // namespace cellar
