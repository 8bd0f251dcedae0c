// Cluster: the registry of masters, retries, and calls of the active master.
#include "hbase/client/cluster.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "hbase/wire/common.pb.h"
#include "hbase/wire/frames.h"
#include "hbase/wire/master.pb.h"
#include "hbase/wire/registry.pb.h"

namespace cellar::hbase {
namespace {

// Pauses between attempts, in milliseconds. The first is short, for a region that has moved is found at once.
constexpr std::array<int64_t, 8> kPausesMs = {10, 50, 100, 200, 500, 1000, 2000, 4000};
constexpr int64_t kOverloadedTimes = 5;  // an overloaded server is left alone for so much longer
constexpr int64_t kRegistryUs = 5'000'000;
constexpr int64_t kAttemptUs = 60'000'000;

}  // namespace

Result<ServerAddress> address_of(const wire::ServerName& name) {
  if (name.host_name().empty() || name.port() == 0 || name.port() > UINT16_MAX)
    return Status::corruption("the cluster names a server without host and port");
  return ServerAddress{name.host_name(), static_cast<uint16_t>(name.port())};
}

Status change_unknown(std::string_view table, const Status& failure) {
  return Status::durability_unknown(
             fmt::format("table {}: the change was sent, and may have been made or not: {}", table,
                         failure.message()))
      .hinting("read the row before you repeat the change");
}

void set_region(const RegionPlace& place, wire::RegionSpecifier& to) {
  to.set_type(wire::RegionSpecifier::NAME);
  to.set_value(place.name);
}

Cluster::Cluster(const ClusterName& name, Clock* clock, std::unique_ptr<RpcClient> rpc)
    : name_(name),
      clock_(clock),
      timeout_us_(name.timeout_ms * 1000),
      rpc_(std::move(rpc)),
      random_(system_random()) {
  nonce_group_ = next_nonce();
}

Result<std::shared_ptr<Cluster>> Cluster::open(const ClusterName& name, const Environment& environment) {
  Clock* const clock = environment.clock != nullptr ? environment.clock : &system_clock();
  CELLAR_TRY_ASSIGN(std::unique_ptr<RpcClient> rpc, RpcClient::create({.user = name.user, .clock = clock}));
  std::shared_ptr<Cluster> cluster(new Cluster(name, clock, std::move(rpc)));
  // Where no master has ever answered, a wrong address is more probable than a cluster that starts.
  const int64_t deadline = cluster->now_us() + std::min(name.first_answer_ms, name.timeout_ms) * 1000;
  Retry retry(*cluster, deadline);
  while (true) {
    wire::GetClusterIdResponse response;
    CallOutcome outcome =
        cluster->ask_registry("GetClusterId", wire::GetClusterIdRequest(), response, deadline);
    if (outcome.ok() && !response.cluster_id().empty()) {
      for (const char c : response.cluster_id())
        if (c != '-') cluster->identity_ += c;
      return cluster;
    }
    if (outcome.ok())
      outcome.error = CallError{Status::busy("the cluster has no identity yet"), Remedy::kWait};
    if (outcome.error->remedy == Remedy::kNone) return outcome.error->status;
    outcome.error->status = outcome.error->status.hinting(
        "do HBase's masters run at these addresses? ?timeout_ms=120000 waits longer for a cluster that "
        "starts");
    CELLAR_TRY(retry.wait(*outcome.error));
  }
}

uint64_t Cluster::next_nonce() {
  const MutexLock lock(mutex_);
  return std::max<uint64_t>(random_.next() >> 1, 1);  // to HBase, 0 is no nonce
}

// ---- Retries

Status Cluster::Retry::wait(const CallError& error) {
  if (error.doubtful && ++doubtful_ == kDoubtfulAttempts)
    return error.status.with_context(fmt::format("failed in {} attempts", attempts_ + 1));
  const size_t at = std::min<size_t>(attempts_++, kPausesMs.size() - 1);
  int64_t pause_us = kPausesMs[at] * 1000 * (error.overloaded ? kOverloadedTimes : 1);
  {
    const MutexLock lock(cluster_.mutex_);  // callers that failed together do not come back together
    pause_us += static_cast<int64_t>(cluster_.random_.below(static_cast<uint64_t>(pause_us / 4 + 1)));
  }
  if (error.moved_to.has_value() && attempts_ == 1) pause_us = 0;
  const int64_t left = deadline_us_ - cluster_.now_us();
  if (left <= pause_us)
    return error.status.with_context(fmt::format("not done in time, after {} attempts", attempts_))
        .hinting("a longer time is in the name of the cluster: ?timeout_ms=600000");
  if (pause_us > 0) cluster_.rpc_->pause(pause_us);
  return {};
}

// An attempt has all the time that is left, but not so much that a server that is gone is never left.
int64_t Cluster::Retry::attempt_deadline_us() const {
  const int64_t now = cluster_.now_us();
  const int64_t left = deadline_us_ - now;
  return now + std::min(kAttemptUs, std::max<int64_t>(left / 2, std::min<int64_t>(left, 1'000'000)));
}

Result<CallOutcome> Cluster::with_region(const std::string& table, std::string_view row, Effect effect,
                                         int64_t deadline_us, const Attempt& attempt) {
  bool unknown = false;
  Result<CallOutcome> outcome = try_region(table, row, effect, deadline_us, attempt, unknown);
  if (outcome.ok() || !unknown || effect == Effect::kRead) return outcome;
  return change_unknown(table, outcome.status());
}

// `unknown`: one of the attempts may have done what was asked.
Result<CallOutcome> Cluster::try_region(const std::string& table, std::string_view row, Effect effect,
                                        int64_t deadline_us, const Attempt& attempt, bool& unknown) {
  Retry retry(*this, deadline_us);
  while (true) {
    CELLAR_TRY_ASSIGN(const PlacePtr place, locate(table, row, Side::kHolds, deadline_us));
    CallOutcome outcome = attempt(*place, retry.attempt_deadline_us());
    if (outcome.ok()) return outcome;
    CallError& error = *outcome.error;
    unknown |= error.may_have_happened;
    if (effect == Effect::kOnce && unknown) return error.status;
    if (error.remedy == Remedy::kNone) return error.status.with_context("table " + table);
    if (error.remedy == Remedy::kRelocate) forget(*place, error.moved_to);
    const Status waited = retry.wait(error);
    if (!waited.ok()) return waited.with_context("table " + table);
  }
}

// ---- Registry and master

CallOutcome Cluster::ask_registry(std::string_view method, const google::protobuf::MessageLite& request,
                                  google::protobuf::MessageLite& response, int64_t deadline_us) {
  CallOutcome outcome;
  for (size_t i = 0; i < name_.masters.size(); ++i) {
    size_t at = 0;
    {
      const MutexLock lock(mutex_);
      at = next_master_ % name_.masters.size();
    }
    const int64_t attempt_deadline = std::min(deadline_us, now_us() + kRegistryUs);
    outcome = rpc_->call({.server = name_.masters[at],
                          .service = wire::kRegistryService,
                          .method = method,
                          .request = &request,
                          .response = &response},
                         attempt_deadline);
    if (outcome.ok()) return outcome;
    const MutexLock lock(mutex_);
    next_master_ = at + 1;
  }
  return outcome;
}

Result<ServerAddress> Cluster::find_master(int64_t deadline_us) {
  {
    const MutexLock lock(mutex_);
    if (master_) return *master_;
  }
  Retry retry(*this, deadline_us);
  while (true) {
    wire::GetActiveMasterResponse response;
    CallOutcome outcome =
        ask_registry("GetActiveMaster", wire::GetActiveMasterRequest(), response, deadline_us);
    if (outcome.ok() && response.has_server_name()) {
      CELLAR_TRY_ASSIGN(const ServerAddress master, address_of(response.server_name()));
      const MutexLock lock(mutex_);
      master_ = master;
      return master;
    }
    if (outcome.ok())
      outcome.error = CallError{Status::busy("the cluster has no active master"), Remedy::kWait};
    if (outcome.error->remedy == Remedy::kNone) return outcome.error->status;
    CELLAR_TRY(retry.wait(*outcome.error));
  }
}

Status Cluster::call_master(std::string_view method, const google::protobuf::MessageLite& request,
                            google::protobuf::MessageLite& response, Effect effect, int64_t deadline_us) {
  bool unknown = false;
  Status done = try_master(method, request, response, effect, deadline_us, unknown);
  if (done.ok() || !unknown || effect == Effect::kRead) return done;
  return Status::durability_unknown(
             fmt::format("{} was asked for, and may have been done or not: {}", method, done.message()))
      .hinting("look at the table before you repeat it");
}

Status Cluster::try_master(std::string_view method, const google::protobuf::MessageLite& request,
                           google::protobuf::MessageLite& response, Effect effect, int64_t deadline_us,
                           bool& unknown) {
  Retry retry(*this, deadline_us);
  while (true) {
    CELLAR_TRY_ASSIGN(const ServerAddress master, find_master(deadline_us));
    const CallOutcome outcome = rpc_->call({.server = master,
                                            .service = wire::kMasterService,
                                            .method = method,
                                            .request = &request,
                                            .response = &response},
                                           retry.attempt_deadline_us());
    if (outcome.ok()) return {};
    const CallError& error = *outcome.error;
    unknown |= error.may_have_happened;
    if (effect == Effect::kOnce && unknown) return error.status;
    if (error.remedy == Remedy::kNone) return error.status;
    if (error.remedy == Remedy::kRelocate) {
      const MutexLock lock(mutex_);
      master_.reset();
    }
    CELLAR_TRY(retry.wait(error));
  }
}

}  // namespace cellar::hbase
