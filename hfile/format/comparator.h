// The names of comparators in HFiles, and the order that each stands for.
#pragma once

#include <compare>
#include <string_view>

#include "cell/cell_order.h"

namespace cellar {

// Returns whether files with this comparator are sorted in the order of hbase:meta.
bool is_meta_comparator(std::string_view name);
// Returns whether this name is known to stand for the standard order. Files with an unknown comparator are
// read in the standard order, too.
bool is_standard_comparator(std::string_view name);
// Returns whether HBase 2 has a class for this comparator. HBase does not open files whose comparator has
// none.
bool is_loadable_comparator(std::string_view name);

// FileOrder: any file's order of cells: key order, or hbase:meta's, then sequence descending.
class FileOrder {
 public:
  explicit FileOrder(bool meta_order) : meta_order_(meta_order) {}
  std::strong_ordering operator()(const CellView& a, const CellView& b) const {
    const std::strong_ordering keys = meta_order_ ? compare_meta_keys(a, b) : compare_keys(a, b);
    return keys != 0 ? keys : b.sequence <=> a.sequence;
  }
  bool meta_order() const { return meta_order_; }

 private:
  bool meta_order_;
};

}  // namespace cellar
