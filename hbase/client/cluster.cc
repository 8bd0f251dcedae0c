// Cluster: the registry of masters, retries, and calls of the active master.
#include "hbase/client/cluster.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "hbase/wire/common.pb.h"
#include "hbase/wire/frames.h"
#include "hbase/wire/master.pb.h"

namespace cellar::hbase {
namespace {

// Pauses between attempts, in milliseconds. The first is short, for a region that has moved is found at once.
constexpr std::array<int64_t, 8> kPausesMs = {10, 50, 100, 200, 500, 1000, 2000, 4000};
constexpr int64_t kOverloadedTimes = 5;  // an overloaded server is left alone for so much longer
constexpr int64_t kAttemptUs = 60'000'000;

}  // namespace

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

Cluster::Cluster(const ClusterName& name, Clock* clock, std::unique_ptr<RpcClient> rpc,
                 std::unique_ptr<Registry> registry)
    : clock_(clock),
      user_(name.user),
      timeout_us_(name.timeout_ms * 1000),
      rpc_(std::move(rpc)),
      registry_(std::move(registry)),
      random_(system_random()) {
  nonce_group_ = next_nonce();
}

Result<std::shared_ptr<Cluster>> Cluster::open(const ClusterName& name, const Environment& environment) {
  Clock* const clock = environment.clock != nullptr ? environment.clock : &system_clock();
  std::shared_ptr<Tls> tls;
  if (name.tls) {
    CELLAR_TRY_ASSIGN(tls, Tls::of_client(name.tls_files, name.tls_verify_host));
  }
  CELLAR_TRY_ASSIGN(std::unique_ptr<RpcClient> rpc,
                    RpcClient::create({.user = name.user, .clock = clock, .tls = std::move(tls)}));
  std::unique_ptr<Registry> registry;
  if (name.quorum.empty()) {
    registry = make_master_registry(name, *rpc, *clock);
  } else {
    CELLAR_TRY_ASSIGN(registry, make_zookeeper_registry(name, *clock));
  }
  std::shared_ptr<Cluster> cluster(new Cluster(name, clock, std::move(rpc), std::move(registry)));
  // Where nothing has ever answered, a wrong address is more probable than a cluster that starts.
  const int64_t deadline = cluster->now_us() + std::min(name.first_answer_ms, name.timeout_ms) * 1000;
  CELLAR_TRY(cluster->look_for(Sought::kIdentity, deadline, cluster->registry_->advice()));
  return cluster;
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

CallOutcome Cluster::ask_registry(Sought sought, int64_t deadline_us) {
  Whereabouts found;
  CallOutcome outcome = registry_->ask(sought, deadline_us, found);
  if (!outcome.ok()) return outcome;
  const MutexLock lock(mutex_);
  if (identity_.empty()) identity_ = found.identity;
  if (!master_) master_ = found.master;
  if (!meta_) meta_ = found.meta;
  return outcome;
}

Status Cluster::look_for(Sought sought, int64_t deadline_us, std::string_view hint) {
  Retry retry(*this, deadline_us);
  std::optional<CallError> error;
  while (true) {
    const CallOutcome outcome = ask_registry(sought, deadline_us);
    if (outcome.ok()) return {};
    if (outcome.error->remedy == Remedy::kNone) return outcome.error->status;
    // The end of the time cuts the last answer off, and the one before says more.
    if (!error || now_us() < deadline_us) error = outcome.error;
    if (!hint.empty()) error->status = error->status.hinting(std::string(hint));
    CELLAR_TRY(retry.wait(*error));
  }
}

Result<ServerAddress> Cluster::find(Sought sought, std::optional<ServerAddress> Cluster::*place,
                                    int64_t deadline_us) {
  while (true) {
    {
      const MutexLock lock(mutex_);
      if (this->*place) return *(this->*place);
    }
    CELLAR_TRY(look_for(sought, deadline_us));
  }
}

Result<ServerAddress> Cluster::find_master(int64_t deadline_us) {
  return find(Sought::kMaster, &Cluster::master_, deadline_us);
}

Result<ServerAddress> Cluster::find_meta(int64_t deadline_us) {
  return find(Sought::kMeta, &Cluster::meta_, deadline_us);
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
