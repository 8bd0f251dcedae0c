// ClusterTable: several mutations of a row together, conditions, and lists of actions.
#include <algorithm>
#include <iterator>
#include <set>
#include <tuple>
#include <type_traits>
#include <variant>

#include "engine/values/check_reader.h"
#include "hbase/client/cluster_table.h"
#include "hbase/client/multi.h"
#include "hbase/client/requests.h"
#include "hbase/wire/client.pb.h"
#include "hbase/wire/frames.h"
#include "hbase/wire/from_wire_result.h"
#include "hbase/wire/to_wire.h"

namespace cellar::hbase {
namespace {

using Effect = Cluster::Effect;

template <class Change>
constexpr bool kReadsItsRow = std::is_same_v<Change, Increment> || std::is_same_v<Change, Append>;

// Cells of several increments and appends, in the order of families and qualifiers.
void sort_cells(Row& row) {
  std::ranges::stable_sort(row.cells, [](const Cell& a, const Cell& b) {
    return std::tie(a.family, a.qualifier) < std::tie(b.family, b.qualifier);
  });
}

struct AtomicRequest {
  wire::RegionAction actions;
  std::string cells;
  Effect effect = Effect::kRepeat;
  std::vector<std::string> families;
};

Result<AtomicRequest> atomic_request_of(const RowMutations& mutations, const WriteOptions& options) {
  if (mutations.mutations().empty()) return Status::invalid_argument("a list of mutations is empty");
  AtomicRequest request;
  request.actions.set_atomic(true);
  for (const RowMutations::Mutation& mutation : mutations.mutations()) {
    wire::WireAction& action = *request.actions.add_actions();
    action.set_index(static_cast<uint32_t>(request.actions.actions_size() - 1));
    const auto write = [&](const auto& change) -> Status {
      if (change.row() != mutations.row())
        return Status::invalid_argument("a mutation has another row than the list that it is in");
      if (kReadsItsRow<std::decay_t<decltype(change)>> || is_delete_of_latest(change))
        request.effect = Effect::kOnce;
      for (std::string& family : families_of(change)) request.families.push_back(std::move(family));
      return wire::to_wire_mutation(change, options, *action.mutable_mutation(), request.cells);
    };
    CELLAR_TRY(std::visit(write, mutation));
  }
  return request;
}

// Sends the mutations of a row as a single change. `processed` tells if its condition held.
Result<Row> send_atomic(Cluster& cluster, const std::string& table, const std::string& row,
                        AtomicRequest& atomic, bool* processed) {
  wire::MultiResponse response;
  const Result<CallOutcome> outcome = cluster.with_region(
      table, row, atomic.effect, cluster.deadline_us(),
      [&](const RegionPlace& place, int64_t attempt_deadline_us) {
        wire::MultiRequest request;
        request.set_nonce_group(cluster.nonce_group());
        wire::RegionAction& actions = *request.add_region_actions();
        actions = atomic.actions;
        set_region(place, *actions.mutable_region());
        response.Clear();
        CallOutcome called = cluster.rpc().call({.server = place.server,
                                                 .service = wire::kClientService,
                                                 .method = "Multi",
                                                 .request = &request,
                                                 .cell_block = atomic.cells,
                                                 .response = &response},
                                                attempt_deadline_us);
        if (!called.ok()) return called;
        // The exception of the region, or of its first action, is that of the whole change.
        if (response.region_results_size() != 1)
          return CallOutcome{.error =
                                 CallError{.status = Status::corruption("a server left a region unanswered"),
                                           .may_have_happened = true}};
        const wire::RegionActionResult& result = response.region_results(0);
        if (result.has_exception()) return CallOutcome{.error = error_of(result.exception())};
        for (const wire::ResultOrException& each : result.results())
          if (each.has_exception()) return CallOutcome{.error = error_of(each.exception())};
        return called;
      });
  if (!outcome.ok()) return outcome.status();
  if (processed != nullptr) *processed = response.region_results(0).processed();
  Row all{row, {}};
  wire::CellBlockReader block(outcome->cell_block);
  for (const wire::ResultOrException& each : response.region_results(0).results()) {
    CELLAR_TRY_ASSIGN(Row cells, row_of(row, each.result(), block));
    std::ranges::move(cells.cells, std::back_inserter(all.cells));
  }
  sort_cells(all);
  return all;
}

}  // namespace

Result<Row> ClusterTable::mutate(const RowMutations& mutations, const WriteOptions& options) {
  CELLAR_TRY_ASSIGN(AtomicRequest request, atomic_request_of(mutations, options));
  Result<Row> row = send_atomic(*cluster_, name_, mutations.row(), request, nullptr);
  if (!row.ok()) return explained(row.status(), request.families);
  return row;
}

Result<ActionResult> ClusterTable::check_and_mutate(const CheckAndMutate& check,
                                                    const WriteOptions& options) {
  const CheckReader reader(check);
  wire::Condition condition;
  CELLAR_TRY(wire::to_wire_condition(check, condition));
  if (std::holds_alternative<std::monostate>(reader.change()))
    return Status::invalid_argument("a check has no change").hinting("CheckAndMutate::then sets it");
  ActionResult result;
  result.row.row = check.row();
  if (const auto* const mutations = std::get_if<RowMutations>(&reader.change())) {
    if (mutations->row() != check.row())
      return Status::invalid_argument("the change has another row than the check");
    CELLAR_TRY_ASSIGN(AtomicRequest request, atomic_request_of(*mutations, options));
    *request.actions.mutable_condition() = condition;
    request.effect = Effect::kOnce;
    Result<Row> row = send_atomic(*cluster_, name_, check.row(), request, &result.matched);
    if (!row.ok()) return explained(row.status(), request.families);
    result.row = std::move(row).value();
    return result;
  }
  wire::MutateRequest request;
  std::string cells;
  std::vector<std::string> families = {reader.family()};
  const auto write = [&](const auto& change) -> Status {
    if constexpr (requires { wire::to_wire_mutation(change, options, *request.mutable_mutation(), cells); }) {
      if (change.row() != check.row())
        return Status::invalid_argument("the change has another row than the check");
      for (std::string& family : families_of(change)) families.push_back(std::move(family));
      return wire::to_wire_mutation(change, options, *request.mutable_mutation(), cells);
    }
    return {};
  };
  CELLAR_TRY(std::visit(write, reader.change()));
  *request.mutable_condition() = condition;
  request.set_nonce_group(cluster_->nonce_group());
  wire::MutateResponse response;
  const Result<CallOutcome> outcome =
      call_region(*cluster_, name_, check.row(), Effect::kOnce, cluster_->deadline_us(), wire::kClientService,
                  "Mutate", request, cells, response);
  if (!outcome.ok()) return explained(outcome.status(), families);
  result.matched = response.processed();
  wire::CellBlockReader block(outcome->cell_block);
  CELLAR_TRY_ASSIGN(result.row, row_of(check.row(), response.result(), block));
  return result;
}

// ---- Lists of actions

// TableBatch: runs actions in waves. Within a wave all rows differ, so that the servers' order does not
// matter.
class TableBatch {
 public:
  TableBatch(ClusterTable& table, std::span<const Action> actions, const WriteOptions& options)
      : table_(table),
        actions_(actions),
        options_(options),
        results_(actions.size(), Status::aborted("not run")) {}

  std::vector<Result<ActionResult>> run() {
    for (size_t i = 0; i < actions_.size(); ++i)
      std::visit([&](const auto& action) { add(i, action); }, actions_[i]);
    end_wave();
    return std::move(results_);
  }

 private:
  void begin(size_t at, std::string_view row) {
    if (!rows_.insert(std::string(row)).second) {
      end_wave();
      rows_.insert(std::string(row));
    }
    results_[at] = ActionResult{.matched = true, .row = {std::string(row), {}}};
  }

  // Adds a get or mutation. `write` sets the action.
  template <class Action, class Write>
  void add_task(size_t at, const Action& action, Write write) {
    begin(at, action.row());
    const auto read = [this, at, row = std::string(action.row())](const wire::WireResult& result,
                                                                  wire::CellBlockReader& block,
                                                                  const Pin&) -> Status {
      CELLAR_TRY_ASSIGN(results_[at]->row, row_of(row, result, block));
      return {};
    };
    tasks_.push_back({.row = std::string(action.row()),
                      .write = std::move(write),
                      .read = read,
                      .changes = !std::is_same_v<Action, Get>});
    task_of_.push_back(at);
  }

  void add(size_t at, const Get& get) {
    add_task(at, get, [&get](wire::WireAction& action, std::string&) {
      return wire::to_wire_get(get, *action.mutable_get());
    });
  }

  template <class Change>
  void add_change(size_t at, const Change& change, uint64_t nonce) {
    add_task(at, change, [this, &change, nonce](wire::WireAction& action, std::string& cells) {
      if (nonce != 0) action.mutable_mutation()->set_nonce(nonce);
      return wire::to_wire_mutation(change, options_, *action.mutable_mutation(), cells);
    });
  }
  void add(size_t at, const Put& put) { add_change(at, put, 0); }
  void add(size_t at, const Increment& change) { add_change(at, change, table_.cluster_->next_nonce()); }
  void add(size_t at, const Append& change) { add_change(at, change, table_.cluster_->next_nonce()); }
  void add(size_t at, const Delete& erase) {
    if (!is_delete_of_latest(erase)) return add_change(at, erase, 0);
    end_wave();
    const Status erased = table_.erase(erase, options_);
    results_[at] =
        erased.ok() ? Result<ActionResult>(ActionResult{.row = {std::string(erase.row()), {}}}) : erased;
  }
  void add(size_t at, const RowMutations& mutations) {
    end_wave();
    Result<Row> row = table_.mutate(mutations, options_);
    results_[at] = row.ok() ? Result<ActionResult>(ActionResult{.row = std::move(*row)}) : row.status();
  }
  void add(size_t at, const CheckAndMutate& check) {
    end_wave();
    results_[at] = table_.check_and_mutate(check, options_);
  }

  void end_wave() {
    run_multi(*table_.cluster_, table_.name_, tasks_, table_.cluster_->deadline_us());
    for (size_t i = 0; i < tasks_.size(); ++i) {
      if (tasks_[i].status.ok()) continue;
      const auto families = [](const auto& action) -> std::vector<std::string> {
        if constexpr (requires { families_of(action); }) return families_of(action);
        return {};
      };
      results_[task_of_[i]] = table_.explained(tasks_[i].status, std::visit(families, actions_[task_of_[i]]));
    }
    tasks_.clear();
    task_of_.clear();
    rows_.clear();
  }

  ClusterTable& table_;
  const std::span<const Action> actions_;
  const WriteOptions& options_;
  std::vector<Result<ActionResult>> results_;
  std::vector<MultiTask> tasks_;
  std::vector<size_t> task_of_;  // which action a task is
  std::set<std::string> rows_;   // of the wave
};

std::vector<Result<ActionResult>> ClusterTable::batch(std::span<const Action> actions,
                                                      const WriteOptions& options) {
  return TableBatch(*this, actions, options).run();
}

}  // namespace cellar::hbase
