// Filters and comparators of HBase's messages as those of Cellar.
#pragma once

#include "cellar/filter.h"
#include "cellar/status.h"

namespace cellar::hbase::wire {

class WireComparator;
class WireFilter;

// Makes the filter that a message names by its Java class. The message is untrusted. Returns kInvalidArgument
// for a message without meaning, and for filters that are nested deeper than kFilterDepthMax. Returns
// kNotSupported for a class or an option that Cellar does not have. The error names the class.
Result<FilterPtr> from_wire_filter(const WireFilter& filter);
// The same for a comparator.
Result<ComparatorPtr> from_wire_comparator(const WireComparator& comparator);
// Returns the operator of HBase's CompareType. kInvalidArgument for an unknown number.
Result<CompareOp> from_wire_compare(int compare);

}  // namespace cellar::hbase::wire
