// Cellar's reads and writes as messages of HBase. Errors: kNotSupported for what HBase's servers do
// not have, with what to use instead; kInvalidArgument and kLimit as of Table.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "cellar/check_and_mutate.h"
#include "cellar/filter.h"
#include "cellar/mutation.h"
#include "cellar/options.h"
#include "cellar/query.h"
#include "cellar/status.h"

namespace cellar::hbase::wire {

class Condition;
class TimeRange;
class WireComparator;
class WireFilter;
class WireGet;
class WireMutation;
class WireScan;

// A filter by the text that it writes of itself: a filter of the caller's own is refused, since no server
// knows it. A RandomRowFilter loses its seed: the server draws its own numbers.
Status to_wire_filter(const Filter& filter, WireFilter& to);

// kInvalidArgument for a negative time, or for an end before the beginning.
Status to_wire_times(int64_t from, int64_t until, TimeRange& to);
Status to_wire_get(const Get& get, WireGet& to);
// Everything except the ends of the scan, its limit and its ranges of rows, which concern several regions.
Status to_wire_scan(const Scan& scan, WireScan& to);

// Sets `to`, and appends its cells to the block that travels with it. A nonce protects an increment or append
// from being done twice.
Status to_wire_mutation(const Put& put, const WriteOptions& options, WireMutation& to, std::string& cells);
Status to_wire_mutation(const Delete& erase, const WriteOptions& options, WireMutation& to,
                        std::string& cells);
Status to_wire_mutation(const Increment& increment, const WriteOptions& options, WireMutation& to,
                        std::string& cells);
Status to_wire_mutation(const Append& append, const WriteOptions& options, WireMutation& to,
                        std::string& cells);
Status to_wire_condition(const CheckAndMutate& check, Condition& to);

}  // namespace cellar::hbase::wire
