// The names of comparators in HFiles, and the order that each stands for.
#pragma once

#include <string_view>

namespace cellar {

// Returns whether files with this comparator are sorted in the order of hbase:meta.
bool is_meta_comparator(std::string_view name);
// Returns whether this name is known to stand for the standard order. Files with an unknown comparator are
// read in the standard order, too.
bool is_standard_comparator(std::string_view name);
// Returns whether HBase 2 has a class for this comparator. HBase does not open files whose comparator has
// none.
bool is_loadable_comparator(std::string_view name);

}  // namespace cellar
