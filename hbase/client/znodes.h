// Contents of the znodes in which a cluster tells ZooKeeper where it is, byte for byte as HBase 2.4 and 2.6
// write them.
#pragma once

#include <string>
#include <string_view>

#include "cellar/status.h"
#include "hbase/client/server_address.h"

namespace cellar::hbase {

namespace wire {
class ServerName;
}  // namespace wire

// kCorruption for a server without a host or a port.
Result<ServerAddress> address_of(const wire::ServerName& name);

// Returns the 32 hex digits of a cluster's identity without hyphens. Empty if there are none.
std::string plain_identity(std::string_view identity);

// These parse the whole content of a znode, which is untrusted. A header of HBase may stand before it: the
// byte 0xFF, and a name with its length. All fail with kCorruption for bytes of another form.
//
// Parses "hbaseid": the identity, as plain_identity() returns it.
Result<std::string> parse_identity_znode(std::string_view content);
// Parses "master": the active master.
Result<ServerAddress> parse_master_znode(std::string_view content);
// Parses "meta-region-server": the server of the region of hbase:meta. kBusy with the state of the region if
// that is not open.
Result<ServerAddress> parse_meta_znode(std::string_view content);

}  // namespace cellar::hbase
