// Recognises directories of HBase 0.94 and older, so that commands refuse them with a message that names
// them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cellar/status.h"

namespace cellar {

// Returns whether the content of a .regioninfo file has the form before protobuf: HRegionInfo as a Writable.
bool is_legacy_region(std::string_view bytes);
// Returns whether the directory is a root of HBase with -ROOT- or .META., or with an hbase.version before
// protobuf.
bool is_legacy_root(const std::string& path);
// Returns the names of the tables below such a root, without -ROOT- and .META.
std::vector<std::string> legacy_tables(const std::string& root);
// Returns kNotSupported: `what` ("…/orders") was written by HBase 0.92 or 0.94. The message says which parts
// can be read. `more` is appended to the hint.
Status legacy_refusal(const std::string& what, const std::string& more = {});

}  // namespace cellar
