// Cluster: where a cluster's servers and regions are, and calls that are tried until they succeed.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/mutex.h"
#include "base/random.h"
#include "cellar/environment.h"
#include "cellar/status.h"
#include "hbase/client/call_outcome.h"
#include "hbase/client/cluster_name.h"
#include "hbase/client/registry.h"
#include "hbase/client/rpc_client.h"

namespace cellar::hbase {

namespace wire {
class RegionSpecifier;
}  // namespace wire

// RegionPlace: a region, and the server that had it when it was looked up. Rows from `start` up to but not
// including `end`; an empty bound is open.
struct RegionPlace {
  std::string table;
  std::string name;  // "orders,row,1700000000000.0123456789abcdef0123456789abcdef."
  std::string start;
  std::string end;
  ServerAddress server;  // without a port: no server has it now

  bool holds(std::string_view row) const { return row >= start && (end.empty() || row < end); }
};
using PlacePtr = std::shared_ptr<const RegionPlace>;

// Which region is meant by a row: the one that holds it, or the one that ends where the row begins. For the
// latter an empty row is the end of the table.
enum class Side : uint8_t { kHolds, kEndsAt };

// Says of a change of a table, which failed, that it may have been made all the same.
Status change_unknown(std::string_view table, const Status& failure);

void set_region(const RegionPlace& place, wire::RegionSpecifier& to);

// Any thread.
class Cluster {
 public:
  // Reads the cluster's identity from a master or from ZooKeeper. Fails with kBusy or kIoError if none
  // answers in time. Fails with kNotFound if ZooKeeper does not have the path.
  static Result<std::shared_ptr<Cluster>> open(const ClusterName& name, const Environment& environment);
  // Ends all calls, those of other threads too.
  void close() {
    registry_->stop();
    rpc_->stop();
  }

  const std::string& identity() const { return identity_; }  // 32 hex digits
  const std::string& user() const { return user_; }          // by which the servers know this client
  int64_t timeout_us() const { return timeout_us_; }         // of an operation, with all its attempts
  RpcClient& rpc() { return *rpc_; }
  int64_t now_us() const { return clock_->steady_us(); }
  int64_t deadline_us() const { return now_us() + timeout_us_; }
  uint64_t nonce_group() const { return nonce_group_; }
  uint64_t next_nonce();

  // Returns the region of the table. kNotFound if the table does not exist. Asks meta unless the region is
  // known.
  Result<PlacePtr> locate(const std::string& table, std::string_view row, Side side, int64_t deadline_us);
  // Returns the region if it is known, or null.
  PlacePtr known(const std::string& table, std::string_view row, Side side);
  // Sets `place` to the region, after one look into meta at most. An error with a remedy may pass. If `place`
  // is set all the same, no server has its rows now; else nothing is known of the row.
  CallOutcome try_locate(const std::string& table, std::string_view row, Side side, int64_t deadline_us,
                         PlacePtr& place);
  // The region is not there any longer. `moved_to`: the place that its server named.
  void forget(const RegionPlace& place, const std::optional<ServerAddress>& moved_to = {});
  // The first rows of the regions that meta tells now, ascending, whether or not a server has them.
  Result<std::vector<std::string>> region_starts(const std::string& table, int64_t deadline_us);
  // All regions of a table, in the order of their rows.
  Result<std::vector<PlacePtr>> regions(const std::string& table, int64_t deadline_us);

  // Attempt: one call of the region's server, given the deadline of this attempt.
  using Attempt = std::function<CallOutcome(const RegionPlace& place, int64_t attempt_deadline_us)>;
  // kRead: the call changes nothing. kRepeat: a change that may be made again although it may have happened.
  // kOnce: one that may not.
  enum class Effect : uint8_t { kRead, kRepeat, kOnce };
  // Locates the region and makes attempts until one succeeds, fails for good, or the time is up. A change
  // that fails after an attempt that may have made it fails with kDurabilityUnknown.
  Result<CallOutcome> with_region(const std::string& table, std::string_view row, Effect effect,
                                  int64_t deadline_us, const Attempt& attempt);

  // Calls the active master, until the time is up. kDurabilityUnknown as above.
  Status call_master(std::string_view method, const google::protobuf::MessageLite& request,
                     google::protobuf::MessageLite& response, Effect effect, int64_t deadline_us);

  // Retry: the pauses between attempts, and what is left to say when the time is up. One thread at a time.
  class Retry {
   public:
    Retry(Cluster& cluster, int64_t deadline_us) : cluster_(cluster), deadline_us_(deadline_us) {}
    // Waits before the next attempt. Fails with the error if there is no time for it, or if the error is
    // doubtful and was seen often enough.
    Status wait(const CallError& error);
    // The time of the next attempt, which leaves time for another one.
    int64_t attempt_deadline_us() const;

   private:
    Cluster& cluster_;
    const int64_t deadline_us_;
    uint32_t attempts_ = 0;
    uint32_t doubtful_ = 0;
  };

 private:
  Result<CallOutcome> try_region(const std::string& table, std::string_view row, Effect effect,
                                 int64_t deadline_us, const Attempt& attempt, bool& unknown);
  Status try_master(std::string_view method, const google::protobuf::MessageLite& request,
                    google::protobuf::MessageLite& response, Effect effect, int64_t deadline_us,
                    bool& unknown);
  Cluster(const ClusterName& name, Clock* clock, std::unique_ptr<RpcClient> rpc,
          std::unique_ptr<Registry> registry);
  // Asks the registry, and keeps what it tells unless something is known already.
  CallOutcome ask_registry(Sought sought, int64_t deadline_us);
  // Asks it until it tells the part, or the time is up. An error then has the hint, unless that is empty.
  Status look_for(Sought sought, int64_t deadline_us, std::string_view hint = {});
  Result<ServerAddress> find(Sought sought, std::optional<ServerAddress> Cluster::*place,
                             int64_t deadline_us);
  Result<ServerAddress> find_meta(int64_t deadline_us);
  Result<ServerAddress> find_master(int64_t deadline_us);
  void learn(const PlacePtr& place);
  // Scans meta from a row for regions of the table. An error that a retry may mend is in `error`.
  CallOutcome scan_meta(const std::string& table, std::string_view from, bool inclusive, bool reversed,
                        uint32_t rows, int64_t deadline_us, std::vector<PlacePtr>& found);

  Clock* const clock_;
  const std::string user_;
  const int64_t timeout_us_;
  const std::unique_ptr<RpcClient> rpc_;
  const std::unique_ptr<Registry> registry_;
  std::string identity_;
  uint64_t nonce_group_ = 0;

  Mutex mutex_;
  Random random_ CELLAR_GUARDED_BY(mutex_);
  std::optional<ServerAddress> meta_ CELLAR_GUARDED_BY(mutex_);
  std::optional<ServerAddress> master_ CELLAR_GUARDED_BY(mutex_);
  // By table and first row.
  std::map<std::string, std::map<std::string, PlacePtr, std::less<>>> places_ CELLAR_GUARDED_BY(mutex_);
};

}  // namespace cellar::hbase
