// Registry: the masters, by HBase's ClientMetaService.
#include <algorithm>

#include "base/mutex.h"
#include "hbase/client/registry.h"
#include "hbase/client/rpc_client.h"
#include "hbase/client/znodes.h"
#include "hbase/wire/common.pb.h"
#include "hbase/wire/frames.h"
#include "hbase/wire/registry.pb.h"

namespace cellar::hbase {
namespace {

constexpr int64_t kMasterUs = 5'000'000;  // of one master

class MasterRegistry final : public Registry {
 public:
  MasterRegistry(const ClusterName& name, RpcClient& rpc, Clock& clock)
      : masters_(name.masters), rpc_(rpc), clock_(clock) {}

  CallOutcome ask(Sought sought, int64_t deadline_us, Whereabouts& found) override {
    switch (sought) {
      case Sought::kIdentity:
        return ask_identity(deadline_us, found);
      case Sought::kMaster:
        return ask_master(deadline_us, found);
      default:
        return ask_meta(deadline_us, found);
    }
  }
  std::string_view advice() const override {
    return "do HBase's masters run at these addresses? ?timeout_ms=120000 waits longer for a cluster that "
           "starts";
  }
  void stop() override {}  // the RPC client ends its calls by itself

 private:
  CallOutcome ask_identity(int64_t deadline_us, Whereabouts& found) {
    wire::GetClusterIdResponse response;
    CallOutcome outcome = call("GetClusterId", wire::GetClusterIdRequest(), response, deadline_us);
    if (!outcome.ok()) return outcome;
    found.identity = plain_identity(response.cluster_id());
    if (found.identity.empty())
      return failed_call(Status::busy("the cluster has no identity yet"), Remedy::kWait);
    return outcome;
  }

  CallOutcome ask_master(int64_t deadline_us, Whereabouts& found) {
    wire::GetActiveMasterResponse response;
    CallOutcome outcome = call("GetActiveMaster", wire::GetActiveMasterRequest(), response, deadline_us);
    if (!outcome.ok()) return outcome;
    if (!response.has_server_name())
      return failed_call(Status::busy("the cluster has no active master"), Remedy::kWait);
    const Result<ServerAddress> master = address_of(response.server_name());
    if (!master.ok()) return failed_call(master.status(), Remedy::kNone);
    found.master = *master;
    return outcome;
  }

  CallOutcome ask_meta(int64_t deadline_us, Whereabouts& found) {
    wire::GetMetaRegionLocationsResponse response;
    CallOutcome outcome =
        call("GetMetaRegionLocations", wire::GetMetaRegionLocationsRequest(), response, deadline_us);
    if (!outcome.ok()) return outcome;
    for (const wire::RegionLocation& each : response.meta_locations()) {
      if (each.region_info().replica_id() != 0 || !each.has_server_name()) continue;
      const Result<ServerAddress> meta = address_of(each.server_name());
      if (!meta.ok()) return failed_call(meta.status(), Remedy::kNone);
      found.meta = *meta;
      return outcome;
    }
    return failed_call(Status::busy("the region of hbase:meta has no server yet"), Remedy::kWait);
  }

  // Calls the masters in turns, beginning with the one that answered last.
  CallOutcome call(std::string_view method, const google::protobuf::MessageLite& request,
                   google::protobuf::MessageLite& response, int64_t deadline_us) {
    CallOutcome outcome;
    for (size_t i = 0; i < masters_.size(); ++i) {
      size_t at = 0;
      {
        const MutexLock lock(mutex_);
        at = next_ % masters_.size();
      }
      outcome = rpc_.call({.server = masters_[at],
                           .service = wire::kRegistryService,
                           .method = method,
                           .request = &request,
                           .response = &response},
                          std::min(deadline_us, clock_.steady_us() + kMasterUs));
      if (outcome.ok()) return outcome;
      const MutexLock lock(mutex_);
      next_ = at + 1;
    }
    return outcome;
  }

  const std::vector<ServerAddress> masters_;
  RpcClient& rpc_;
  Clock& clock_;
  Mutex mutex_;
  size_t next_ CELLAR_GUARDED_BY(mutex_) = 0;
};

}  // namespace

std::unique_ptr<Registry> make_master_registry(const ClusterName& name, RpcClient& rpc, Clock& clock) {
  return std::make_unique<MasterRegistry>(name, rpc, clock);
}

}  // namespace cellar::hbase
