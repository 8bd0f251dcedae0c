// Gets and scans of HBase's messages as those of Cellar.
#pragma once

#include "cellar/query.h"
#include "cellar/status.h"

namespace cellar::hbase::wire {

class WireGet;
class WireScan;

// Make a read of a message of untrusted bytes. Nothing in it points into the message. kInvalidArgument for
// a message without meaning, kNotSupported for a filter that Cellar does not have. The table checks the
// families.
//
// Consistency, kinds of reads and authorizations have no effect: one process has neither replicas nor users.
Result<Get> from_wire_get(const WireGet& get);
// The scan has the bounds of the message, not those of a region. It has no limits of one call, such as
// max_result_size: the server applies them.
Result<Scan> from_wire_scan(const WireScan& scan);

}  // namespace cellar::hbase::wire
