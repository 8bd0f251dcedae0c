// ClusterTable: flushes and compactions, region by region.
#include <fmt/core.h>

#include "base/bytes.h"
#include "hbase/client/cluster_table.h"
#include "hbase/client/requests.h"
#include "hbase/wire/frames.h"
#include "hbase/wire/master.pb.h"

namespace cellar::hbase {
namespace {

using Effect = Cluster::Effect;

constexpr int64_t kLookUs = 100'000;

}  // namespace

Status ClusterTable::flush(std::string_view family) {
  CELLAR_TRY(check_family(family));
  const int64_t deadline = cluster_->deadline_us();
  CELLAR_TRY_ASSIGN(const std::vector<PlacePtr> regions, cluster_->regions(name_, deadline));
  for (const PlacePtr& each : regions) {
    wire::FlushRegionRequest request;
    if (!family.empty()) request.set_family(std::string(family));
    wire::FlushRegionResponse response;
    CELLAR_TRY(call_region(*cluster_, name_, each->start, Effect::kRead, deadline, wire::kAdminService,
                           "FlushRegion", request, {}, response));
  }
  return {};
}

// A server compacts on its own time: it is asked, and then looked at until it has nothing to do.
Status ClusterTable::compact_regions(std::string_view family, bool major) {
  CELLAR_TRY(check_family(family));
  const int64_t deadline = cluster_->deadline_us();
  CELLAR_TRY_ASSIGN(const std::vector<PlacePtr> regions, cluster_->regions(name_, deadline));
  for (const PlacePtr& each : regions) {
    wire::CompactRegionRequest request;
    request.set_major(major);
    if (!family.empty()) request.set_family(std::string(family));
    wire::CompactRegionResponse response;
    CELLAR_TRY(call_region(*cluster_, name_, each->start, Effect::kRead, deadline, wire::kAdminService,
                           "CompactRegion", request, {}, response));
  }
  for (const PlacePtr& each : regions) {
    while (true) {
      wire::GetRegionInfoRequest request;
      request.set_compaction_state(true);
      wire::GetRegionInfoResponse response;
      CELLAR_TRY(call_region(*cluster_, name_, each->start, Effect::kRead, deadline, wire::kAdminService,
                             "GetRegionInfo", request, {}, response));
      if (response.compaction_state() == wire::GetRegionInfoResponse::NONE) break;
      if (cluster_->now_us() + kLookUs > deadline)
        return Status::busy(fmt::format("table {} is still compacting the region from row \"{}\"", name_,
                                        escaped(each->start)))
            .hinting("the servers go on by themselves");
      cluster_->rpc().pause(kLookUs);
    }
  }
  return {};
}

}  // namespace cellar::hbase
