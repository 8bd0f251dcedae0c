// Names and conversions that filters and comparators share on the wire.
#pragma once

#include <string_view>

#include "cellar/status.h"

namespace cellar::hbase::wire {

class WireComparator;

// The Java package of all filters and comparators, with its last point.
constexpr std::string_view kFilterPackage = "org.apache.hadoop.hbase.filter.";

// Sets a comparator by the text that Comparator::to_text writes: "binary:abc". kNotSupported for another one.
Status to_wire_comparator(std::string_view text, WireComparator& to);

}  // namespace cellar::hbase::wire
