// Answers Multi: many actions on many regions, one by one or all of a row at once.
#include <fmt/format.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>

#include <optional>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "base/assert.h"
#include "hbase/serve/apply.h"
#include "hbase/serve/region_service.h"
#include "hbase/wire/cell_blocks.h"
#include "hbase/wire/client.pb.h"
#include "hbase/wire/from_wire_read.h"
#include "hbase/wire/to_wire_result.h"

namespace cellar::hbase::serve {

// One action of a list, and what came of it.
struct OneAction {
  uint32_t index = 0;
  bool existence_only = false;
  bool too_large = false;  // not made: the answer has no room left
  std::optional<Result<ActionResult>> done;
};

namespace {

constexpr uint32_t kRegionActionTag = 1 << 3 | 2;  // of MultiRequest
constexpr uint32_t kActionTag = 3 << 3 | 2;        // of RegionAction

void write_exception(const JavaFailure& failure, wire::NameBytesPair& to) {
  to.set_name(failure.class_name);
  to.set_value(failure.stack_trace());
}

uint64_t bytes_of(const Row& row) {
  uint64_t bytes = 0;
  for (const Cell& cell : row.cells)
    bytes += cell.row.size() + cell.family.size() + cell.qualifier.size() + cell.value.size();
  return bytes;
}

// Actions that are applied together: they follow each other and have the same durability. The bytes of what
// they return are counted in `bytes`.
class ActionGroup {
 public:
  ActionGroup(Table& table, uint64_t& bytes) : table_(table), bytes_(bytes) {}

  void add(OneAction& one, Action action, const WriteOptions& options, bool returns_row) {
    if (!actions_.empty() && options.durability != options_.durability) apply();
    options_ = options;
    actions_.push_back(std::move(action));
    of_.push_back(&one);
    if (returns_row && ++rows_ >= kRowsOfAGroup) apply();
  }
  void apply() {
    if (actions_.empty()) return;
    std::vector<Result<ActionResult>> done = table_.batch(actions_, options_);
    CELLAR_ASSERT(done.size() == of_.size());
    for (size_t at = 0; at < done.size(); ++at) {
      if (done[at].ok()) bytes_ += bytes_of(done[at].value().row);
      of_[at]->done = std::move(done[at]);
    }
    actions_.clear();
    of_.clear();
    rows_ = 0;
  }

 private:
  // So few that the bytes of an answer are looked at before they are many more than its limit.
  static constexpr size_t kRowsOfAGroup = 32;

  Table& table_;
  uint64_t& bytes_;
  WriteOptions options_;
  std::vector<Action> actions_;
  std::vector<OneAction*> of_;
  size_t rows_ = 0;
};

// Counts the actions of a request before memory is taken for them: two bytes on the wire are an action.
bool has_more_actions(std::string_view message, size_t most) {
  using google::protobuf::internal::WireFormatLite;
  google::protobuf::io::CodedInputStream input(reinterpret_cast<const uint8_t*>(message.data()),
                                               static_cast<int>(message.size()));
  size_t actions = 0;
  while (const uint32_t tag = input.ReadTag()) {
    if (tag != kRegionActionTag) {
      if (!WireFormatLite::SkipField(&input, tag)) return false;  // the parser says what is wrong
      continue;
    }
    if (++actions > most) return true;
    uint32_t bytes = 0;
    if (!input.ReadVarint32(&bytes) || bytes > message.size()) return false;
    const auto limit = input.PushLimit(static_cast<int>(bytes));
    while (const uint32_t inner = input.ReadTag()) {
      if (inner == kActionTag && ++actions > most) return true;
      if (!WireFormatLite::SkipField(&input, inner)) return false;
    }
    input.PopLimit(limit);
  }
  return false;
}

Action action_of(RowMutations::Mutation mutation) {
  return std::visit([](auto& each) { return Action(std::move(each)); }, mutation);
}

}  // namespace

Status RegionService::single_actions(Call& call, const ServedRegion& region,
                                     const wire::RegionAction& actions, uint64_t nonce_group,
                                     wire::CellBlockReader& cells, wire::RegionActionResult& result) {
  std::vector<OneAction> all(static_cast<size_t>(actions.actions_size()));
  ActionGroup group(*region.table, call.row_bytes());
  const auto read = [&](const wire::WireAction& from, OneAction& one) -> Status {
    if (from.has_get()) {
      CELLAR_TRY_ASSIGN(Get get, wire::from_wire_get(from.get()));
      one.existence_only = from.get().existence_only();
      group.add(one, std::move(get), {}, true);
      return {};
    }
    if (!from.has_mutation()) return Status::not_supported("an action is neither a get nor a change");
    CELLAR_TRY_ASSIGN(wire::ReadMutation mutation, wire::from_wire_mutation(from.mutation(), cells));
    if (region.meta) return Status::read_only("hbase:meta cannot be written");
    const bool returns_row =
        !std::holds_alternative<Put>(mutation.mutation) && !std::holds_alternative<Delete>(mutation.mutation);
    if (mutation.nonce == 0) {
      group.add(one, action_of(std::move(mutation.mutation)), mutation.options, returns_row);
    } else {
      group.apply();
      one.done = apply(*region.table, mutation, nonce_group);
      if (one.done->ok()) call.row_bytes() += bytes_of((*one.done)->row);
    }
    return {};
  };
  for (size_t at = 0; at < all.size(); ++at) {
    const wire::WireAction& from = actions.actions(static_cast<int>(at));
    all[at].index = from.index();
    all[at].too_large = call.row_bytes() > limits_.answer_bytes;
    const wire::CellBlockReader before = cells;
    const Status taken = all[at].too_large ? Status::limit("the answer is full") : read(from, all[at]);
    if (taken.ok()) continue;
    if (from.has_mutation()) {
      cells = before;
      CELLAR_TRY(
          wire::skip_cells(from.mutation(), cells));  // fails if the cells of the next one cannot be found
    }
    all[at].done = taken;
  }
  group.apply();
  for (OneAction& one : all) write_action(call, *region.table, one, *result.add_results());
  return {};
}

// Adds what came of an action to the answer, and forgets it.
void RegionService::write_action(Call& call, const Table& table, OneAction& one,
                                 wire::ResultOrException& to) {
  CELLAR_ASSERT(one.done.has_value());
  to.set_index(one.index);
  if (one.too_large) {
    // As in HBase: the client sends the rest again at once.
    const Status full = call.refuse(
        java::kMultiTooLarge,
        fmt::format("the rows of the answer have {} bytes: the rest is not made", call.row_bytes()));
    write_exception(call.take_failure(full), *to.mutable_exception());
  } else if (!one.done->ok()) {
    const Status named = name_failure(call, table, one.done->status());
    write_exception(call.take_failure(named), *to.mutable_exception());
  } else if (one.existence_only) {
    to.mutable_result()->set_exists(!(*one.done)->row.empty());
  } else {
    add_result(call, (*one.done)->row, *to.mutable_result());
  }
  one.done.reset();
}

// Changes of one row, under a condition or without one. Results stand in the message, as HBase has it.
Status RegionService::atomic_actions(const ServedRegion& region, const wire::RegionAction& actions,
                                     const wire::Condition* condition, uint64_t nonce_group,
                                     wire::CellBlockReader& cells, wire::RegionActionResult& result) {
  if (region.meta) return Status::read_only("hbase:meta cannot be written");
  if (actions.actions().empty()) return result.set_processed(true), Status();
  std::vector<wire::ReadMutation> read;
  uint64_t nonce = 0;
  for (const wire::WireAction& each : actions.actions()) {
    if (!each.has_mutation()) return Status::invalid_argument("an atomic list of actions has changes only");
    CELLAR_TRY_ASSIGN(wire::ReadMutation mutation, wire::from_wire_mutation(each.mutation(), cells));
    if (mutation.nonce != 0) nonce = mutation.nonce;
    read.push_back(std::move(mutation));
  }
  const WriteOptions options = read.front().options;
  RowMutations changes(condition != nullptr ? condition->row()
                                            : std::string(wire::row_of(read.front().mutation)));
  for (wire::ReadMutation& each : read) changes.add(std::move(each.mutation));
  const auto change = [&]() -> Result<ActionResult> {
    ActionResult done;
    if (condition == nullptr) {
      CELLAR_TRY_ASSIGN(done.row, region.table->mutate(changes, options));
      return done;
    }
    CELLAR_TRY_ASSIGN(CheckAndMutate check, wire::from_wire_condition(*condition));
    if (changes.mutations().size() == 1) {
      std::visit([&](const auto& each) { check.then(each); }, changes.mutations().front());
    } else {
      check.then(changes);
    }
    return region.table->check_and_mutate(check, options);
  };
  CELLAR_TRY_ASSIGN(const ActionResult done, apply_once({nonce_group, nonce}, change));
  result.set_processed(done.matched);
  for (int at = 0; at < actions.actions_size(); ++at) {
    wire::ResultOrException& to = *result.add_results();
    to.set_index(static_cast<uint32_t>(at));
    wire::WireResult& cells_of = *to.mutable_result();
    if (at == 0) wire::to_wire_result(done.row, cells_of);
  }
  return {};
}

Status RegionService::region_actions(Call& call, const wire::RegionAction& actions, uint64_t nonce_group,
                                     wire::CellBlockReader& cells, wire::RegionActionResult& result) {
  const Result<std::shared_ptr<const ServedRegion>> region = catalog_.region(call, actions.region());
  if (!region.ok()) {
    for (const wire::WireAction& each : actions.actions())
      if (each.has_mutation()) CELLAR_TRY(wire::skip_cells(each.mutation(), cells));
    write_exception(call.take_failure(region.status()), *result.mutable_exception());
    return {};
  }
  const ServedRegion& found = **region;
  if (!actions.has_condition() && !actions.atomic())
    return single_actions(call, found, actions, nonce_group, cells, result);
  const wire::Condition* condition = actions.has_condition() ? &actions.condition() : nullptr;
  const wire::CellBlockReader before = cells;
  const Status done = atomic_actions(found, actions, condition, nonce_group, cells, result);
  if (done.ok() || done.is(Code::kCorruption)) return done;
  cells = before;
  for (const wire::WireAction& each : actions.actions())
    if (each.has_mutation()) CELLAR_TRY(wire::skip_cells(each.mutation(), cells));
  result.Clear();
  write_exception(call.take_failure(name_failure(call, *found.table, done)), *result.mutable_exception());
  return {};
}

Status RegionService::multi(Call& call) {
  wire::MultiRequest request;
  if (has_more_actions(call.message(), limits_.actions))
    return Status::limit(fmt::format("a list has more than {} actions", limits_.actions))
        .hinting("send them in several lists");
  CELLAR_TRY(call.read(request));
  wire::CellBlockReader cells(call.cells());
  wire::MultiResponse response;
  // Clients of before 2.4 send the condition outside of its only region.
  if (request.has_condition() && request.region_actions_size() == 1)
    *request.mutable_region_actions(0)->mutable_condition() = request.condition();
  for (const wire::RegionAction& each : request.region_actions()) {
    wire::RegionActionResult& result = *response.add_region_results();
    CELLAR_TRY(region_actions(call, each, request.nonce_group(), cells, result));
    if (result.has_processed()) response.set_processed(result.processed());
  }
  return call.answer(response);
}

}  // namespace cellar::hbase::serve
