// Registry: who tells a client where a cluster's active master and its meta region are.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "cellar/environment.h"
#include "cellar/status.h"
#include "hbase/client/call_outcome.h"
#include "hbase/client/cluster_name.h"

namespace cellar::hbase {

class RpcClient;

// Whereabouts: what a registry knows. A part that is empty was not asked for, or is not known.
struct Whereabouts {
  std::string identity;  // 32 hex digits
  std::optional<ServerAddress> master;
  std::optional<ServerAddress> meta;  // the server of the region of hbase:meta
};
enum class Sought : uint8_t { kIdentity, kMaster, kMeta };

// Any thread.
class Registry {
 public:
  virtual ~Registry() = default;
  // Looks for a part until the deadline, a time of Clock::steady_us. After success that part of `found` is
  // set. Others may be set too, if they were learnt on the way. An error with a remedy may pass.
  virtual CallOutcome ask(Sought sought, int64_t deadline_us, Whereabouts& found) = 0;
  // Returns what to look at if no answer has ever come.
  virtual std::string_view advice() const = 0;
  // Ends all calls of ask(), and those that are made later, with kAborted.
  virtual void stop() = 0;
};

// A registry of the masters of `name`, each of which knows everything. The client and the clock must outlive
// it.
std::unique_ptr<Registry> make_master_registry(const ClusterName& name, RpcClient& rpc, Clock& clock);

// Returns whether this library was built with ZooKeeper.
bool knows_zookeeper();

// A registry of the ZooKeeper of `name`. kNotSupported if this library was built without ZooKeeper. The clock
// must outlive it. A lookup opens a session, reads all znodes that tell something, and closes the session.
// Lookups are rare: one begins the work, and others follow when a server has gone. A session that stays open
// would cost ZooKeeper a connection and pings, from each client and for nothing.
Result<std::unique_ptr<Registry>> make_zookeeper_registry(const ClusterName& name, Clock& clock);

}  // namespace cellar::hbase
