// Multi: rounds of requests, one for each server, until every action is done or has failed for good.
#include "hbase/client/multi.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "hbase/wire/client.pb.h"
#include "hbase/wire/frames.h"

namespace cellar::hbase {
namespace {

constexpr size_t kActionsOfRequest = 5000;
constexpr size_t kBytesOfRequest = 4u << 20;
constexpr int64_t kRoundUs = 10'000'000;  // for one look into meta

// One request to one server, and the tasks in it, region by region.
struct Request {
  ServerAddress server;
  wire::MultiRequest message;
  wire::MultiResponse response;
  std::string cells;
  size_t bytes = 0;
  size_t actions = 0;
  std::vector<std::pair<PlacePtr, std::vector<size_t>>> regions;
  std::shared_ptr<PendingCall> call;
};

class Rounds {
 public:
  Rounds(Cluster& cluster, const std::string& table, std::vector<MultiTask>& tasks, int64_t deadline_us)
      : cluster_(cluster), table_(table), tasks_(tasks), deadline_us_(deadline_us) {}

  void run() {
    std::vector<size_t> pending(tasks_.size());
    for (size_t i = 0; i < pending.size(); ++i) pending[i] = i;
    Cluster::Retry retry(cluster_, deadline_us_);
    while (!pending.empty()) {
      again_.clear();
      error_.reset();
      std::vector<std::unique_ptr<Request>> requests = requests_of(pending);
      const int64_t until = retry.attempt_deadline_us();
      if (until <= cluster_.now_us()) {  // a request that is sent now would be made, and not waited for
        for (auto& request : requests) postpone(*request);
        requests.clear();
      }
      for (auto& request : requests)
        request->call = cluster_.rpc().start({.server = request->server,
                                              .service = wire::kClientService,
                                              .method = "Multi",
                                              .request = &request->message,
                                              .cell_block = request->cells,
                                              .response = &request->response},
                                             until);
      for (auto& request : requests) finish(*request, until);
      pending = std::exchange(again_, {});
      if (pending.empty()) return;
      if (const Status waited = retry.wait(*error_); !waited.ok()) {
        for (const size_t each : pending) tasks_[each].status = waited.with_context("table " + table_);
        return;
      }
    }
  }

 private:
  using Regions = std::map<const RegionPlace*, std::pair<PlacePtr, std::vector<size_t>>>;

  // Tasks whose region has no server are for the next round; those of other regions do not wait for them.
  Regions regions_of(const std::vector<size_t>& pending) {
    Regions by_region;
    std::vector<PlacePtr> unserved;
    std::optional<CallError> no_meta;
    for (const size_t each : pending) {
      const std::string& row = tasks_[each].row;
      PlacePtr place = cluster_.known(table_, row, Side::kHolds);
      const auto holds = [&row](const PlacePtr& region) { return region->holds(row); };
      if (place == nullptr && (no_meta || std::ranges::any_of(unserved, holds))) {
        again(each, no_meta ? *no_meta : *error_);
        continue;
      }
      const int64_t until = std::min(deadline_us_, cluster_.now_us() + kRoundUs);
      const CallOutcome found =
          place != nullptr ? CallOutcome() : cluster_.try_locate(table_, row, Side::kHolds, until, place);
      if (found.ok()) {
        auto& region = by_region[place.get()];
        region.first = place;
        region.second.push_back(each);
        continue;
      }
      const bool passes = found.error->remedy != Remedy::kNone || found.error->status.is(Code::kBusy) ||
                          found.error->status.is(Code::kIoError);
      if (!passes) {
        tasks_[each].status = found.error->status;
        continue;
      }
      again(each, *found.error);
      if (place != nullptr)
        unserved.push_back(place);
      else
        no_meta = found.error;  // each further look would take as long
    }
    return by_region;
  }

  std::vector<std::unique_ptr<Request>> requests_of(const std::vector<size_t>& pending) {
    const Regions by_region = regions_of(pending);
    std::vector<std::unique_ptr<Request>> requests;
    std::map<ServerAddress, Request*> open;  // that have room
    for (const auto& [unused, region] : by_region) {
      wire::RegionAction* actions = nullptr;
      for (const size_t each : region.second) {
        Request*& request = open[region.first->server];
        const bool full = request != nullptr && (request->bytes + request->cells.size() > kBytesOfRequest ||
                                                 request->actions >= kActionsOfRequest);
        if (request == nullptr || full) {
          requests.push_back(std::make_unique<Request>());
          request = requests.back().get();
          request->server = region.first->server;
          request->message.set_nonce_group(cluster_.nonce_group());
          actions = nullptr;
        }
        if (actions == nullptr) {
          actions = request->message.add_region_actions();
          set_region(*region.first, *actions->mutable_region());
          request->regions.emplace_back(region.first, std::vector<size_t>());
        }
        wire::WireAction& action = *actions->add_actions();
        const size_t cells_before = request->cells.size();
        if (Status written = tasks_[each].write(action, request->cells); !written.ok()) {
          request->cells.resize(cells_before);
          actions->mutable_actions()->RemoveLast();
          tasks_[each].status = std::move(written);
          continue;
        }
        action.set_index(static_cast<uint32_t>(each));
        request->bytes += action.ByteSizeLong();
        ++request->actions;
        request->regions.back().second.push_back(each);
      }
    }
    // A region all of whose actions were refused has nothing to do.
    std::erase_if(requests, [](const auto& request) { return request->actions == 0; });
    return requests;
  }

  void fail(size_t task, const RegionPlace& place, const CallError& error) {
    tasks_[task].unknown |= error.may_have_happened;
    const bool stays = error.doubtful && ++tasks_[task].doubtful == kDoubtfulAttempts;
    if (stays || error.remedy == Remedy::kNone || error.remedy == Remedy::kReopen) {
      tasks_[task].status = error.status.with_context("table " + table_);
      return;
    }
    if (error.remedy == Remedy::kRelocate) cluster_.forget(place, error.moved_to);
    again(task, error);
  }

  void again(size_t task, const CallError& error) {
    again_.push_back(task);
    if (!error_ || error.overloaded) error_ = error;
    error_->doubtful = false;  // each task has a count of its own
  }

  void postpone(const Request& request) {
    const CallError late = {Status::busy("no time was left to send an action"), Remedy::kWait};
    for (const auto& [place, tasks] : request.regions)
      for (const size_t each : tasks) again(each, late);
  }

  void finish(Request& request, int64_t until) {
    const CallOutcome outcome = cluster_.rpc().wait(*request.call, request.response, until);
    if (!outcome.ok()) {
      for (const auto& [place, tasks] : request.regions)
        for (const size_t each : tasks) fail(each, *place, *outcome.error);
      return;
    }
    wire::CellBlockReader block(outcome.cell_block);
    for (size_t i = 0; i < request.regions.size(); ++i) {
      if (static_cast<int>(i) < request.response.region_results_size()) {
        take(request.regions[i], request.response.region_results(static_cast<int>(i)), block, outcome.frame);
        continue;
      }
      leave(request.regions[i].second, "a server answered for fewer regions than it was asked about");
    }
  }

  void take(const std::pair<PlacePtr, std::vector<size_t>>& region, const wire::RegionActionResult& results,
            wire::CellBlockReader& block, const Pin& frame) {
    if (results.has_exception()) {
      const CallError error = error_of(results.exception());
      for (const size_t each : region.second) fail(each, *region.first, error);
      return;
    }
    std::vector<size_t> left = region.second;
    for (const wire::ResultOrException& each : results.results()) {
      const auto at = std::ranges::find(left, size_t{each.index()});
      if (at == left.end()) continue;
      left.erase(at);
      if (each.has_exception())
        fail(each.index(), *region.first, error_of(each.exception()));
      else
        tasks_[each.index()].status = tasks_[each.index()].read(each.result(), block, frame);
    }
    leave(left, "a server left an action unanswered");
  }

  void leave(const std::vector<size_t>& tasks, const std::string& why) {
    for (const size_t each : tasks) {
      tasks_[each].status = Status::corruption(why);
      tasks_[each].unknown = true;
    }
  }

  Cluster& cluster_;
  const std::string& table_;
  std::vector<MultiTask>& tasks_;
  const int64_t deadline_us_;
  std::vector<size_t> again_;
  std::optional<CallError> error_;
};

}  // namespace

void run_multi(Cluster& cluster, const std::string& table, std::vector<MultiTask>& tasks,
               int64_t deadline_us) {
  Rounds(cluster, table, tasks, deadline_us).run();
  for (MultiTask& task : tasks)
    if (!task.status.ok() && task.changes && task.unknown) task.status = change_unknown(table, task.status);
}

}  // namespace cellar::hbase
