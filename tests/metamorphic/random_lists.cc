// RandomRun: lists of actions and transactions.
#include <fmt/format.h>

#include <algorithm>

#include "cellar/compaction_policy.h"
#include "engine/store/write_pace.h"
#include "tests/metamorphic/random_run.h"
#include "tests/metamorphic/requests.h"

namespace cellar::testing {
namespace {

// Returns true if the engine may write the change together with its neighbours.
bool is_blind(const RowChange& change) { return !is_get(change) && !computes(change); }

Action action_of(const RowChange& change) {
  if (is_get(change)) return Get(change.row).all_versions();
  if (change.is_delete) return delete_of(change);
  const ModelChange::Kind kind = change.changes.front().kind;
  if (kind == ModelChange::Kind::kIncrement) return increment_of(change);
  if (kind == ModelChange::Kind::kAppend) return append_of(change);
  return put_of(change);
}

}  // namespace

// Applies to the mirror what the engine has made visible by now.
void RandomRun::catch_up() {
  if (engine_ == nullptr) return;
  const uint64_t last = engine_->status().last_sequence;
  if (pending_ != nullptr && last > sequence_) apply_pending(last);
  for (; next_step_ < steps_.size() && !failure_; ++next_step_) {
    ListStep& step = steps_[next_step_];
    const RowChange& first = step.rows.front();
    Mirror& mirror = mirrors_[first.table];
    if (is_get(first)) {
      ModelScan all;
      all.versions = UINT32_MAX;
      for (const Part& part : mirror.get(first.row, all, now_ms())) step.expected = part.cells;
      continue;
    }
    step.refused = is_refused_by_model(step.rows);
    if (step.refused) continue;
    if (last <= sequence_) return;
    pending_ = &step.rows;
    apply_pending(sequence_ + 1);
    step.expected = new_cells_;
  }
}

bool RandomRun::writers_wait_for_compactions() const {
  for (const auto& table : tables_)
    for (const FamilyInfo& family : table->info().families)
      if (compaction_debt(runs_of(family.files).size(), plan_.engine.files_slow, plan_.engine.files_stop) > 0)
        return true;
  return false;
}

void RandomRun::action_list(const Operation& operation) {
  // Lack of memory in the middle of a list would split its writes at another place. A wait in the middle
  // would give them other times.
  expect_ok(engine_->flush(), "flush");
  executor_.settle();
  if (writers_wait_for_compactions()) return;
  std::vector<Action> actions;
  steps_.clear();
  next_step_ = 0;
  std::vector<size_t> step_of;
  for (const RowChange& row : operation.rows) {
    actions.push_back(action_of(row));
    const bool joins =
        !is_observed({row}) && is_blind(row) && !steps_.empty() && is_blind(steps_.back().rows.back());
    if (!joins) steps_.emplace_back();
    steps_.back().rows.push_back(row);
    step_of.push_back(steps_.size() - 1);
  }
  unlogged_ = operation.unlogged;
  WriteOptions options;
  if (operation.unlogged) options.durability = Durability::kSkipWal;
  const std::vector<Result<ActionResult>> results =
      tables_[operation.rows.front().table]->batch(actions, options);
  catch_up();
  if (failure_) return;
  if (next_step_ != steps_.size() || engine_->status().last_sequence != sequence_)
    return fail(fmt::format("a list of {} writes or gets came to write {}, expected {}, done {}",
                            steps_.size(), engine_->status().last_sequence, sequence_, next_step_));
  for (size_t i = 0; i < results.size() && !failure_; ++i) {
    const ListStep& step = steps_[step_of[i]];
    if (step.refused) {
      if (!results[i].status().is(Code::kInvalidArgument))
        fail("the model refuses this action, the engine says " + results[i].status().to_text());
      continue;
    }
    expect_ok(results[i].status(), "action");
    if (failure_) return;
    Cells found = results[i]->row.cells;
    for (Cell& cell : found) cell.sequence = 0;
    Cells expected = is_blind(step.rows.front()) ? Cells() : step.expected;
    for (Cell& cell : expected) cell.sequence = 0;
    note(plan_.keeps_history ? print_cells(found) : "");
    if (found != expected)
      fail(fmt::format("action {} returned:\n{}expected:\n{}", i, print_cells(found), print_cells(expected)));
  }
  steps_.clear();
  next_step_ = 0;
}

// Writes all rows of the operation to the transaction, except those that are refused. Reads each row as the
// transaction then sees it.
Status RandomRun::fill_transaction(const Operation& operation, Transaction& transaction,
                                   std::vector<RowChange>& rows) {
  std::vector<Mirror> own;  // with the transaction's writes
  for (const Mirror& mirror : mirrors_) own.push_back(mirror);
  for (const RowChange& row : operation.rows) {
    const auto& table = tables_[row.table];
    Mirror::Written nothing_yet;
    const auto cells = own[row.table].cells_of(row, now_ms(), nothing_yet);
    const Status written =
        write_to_transaction(row, transaction, cells.ok() ? *cells : std::map<std::string, Cells>());
    if (!cells.ok() || is_dated_ahead({row})) {
      if (written.is(Code::kInvalidArgument)) continue;
      fail("the model refuses this in a transaction, the engine says " + written.to_text());
    }
    CELLAR_TRY(written);
    rows.push_back(row);
    own[row.table].write(*cells, sequence_ + 1, false);
    CELLAR_TRY_ASSIGN(const RowBatch batch, transaction.get(table, Get(row.row).all_versions()));
    std::vector<Part> found;
    for (const RowView each : batch) found.push_back(part_of(each));
    ModelScan all;
    all.versions = UINT32_MAX;
    expect_parts("get in a transaction", found, own[row.table].get(row.row, all, now_ms()));
  }
  ModelScan newest;
  std::vector<Part> found;
  CELLAR_TRY_ASSIGN(const auto scanner, transaction.scan(tables_[operation.rows.front().table], Scan()));
  for (const RowView row : *scanner) found.push_back(part_of(row));
  expect_parts("scan in a transaction", found, own[operation.rows.front().table].scan(newest, "", now_ms()));
  return scanner->status();
}

void RandomRun::transaction(const Operation& operation) {
  executor_.settle();
  if (!failure_) run_transaction(operation);
  transaction_point_.reset();
  computed_at_.reset();
}

void RandomRun::run_transaction(const Operation& operation) {
  // Where memory is full, no commit is refused for it.
  if (plan_.keeps_history && plan_.work == Work::kManual) expect_ok(engine_->flush(), "flush");
  TransactionOptions options;
  if (operation.unlogged) options.durability = Durability::kSkipWal;
  auto begun = engine_->begin(options);
  if (!begun.ok()) return fail("begin: " + begun.status().to_text());
  Transaction& transaction = **begun;
  transaction_point_ = transaction.sequence();
  std::vector<RowChange> rows;
  expect_ok(fill_transaction(operation, transaction, rows), "in a transaction");
  if (failure_) return;
  const uint64_t before = engine_->status().last_sequence;
  if (operation.kind == Kind::kTransactionRolledBack) {
    transaction.rollback();
    if (engine_->status().last_sequence != before) fail("a rollback wrote");
    return;
  }
  const bool must_conflict = operation.kind == Kind::kTransactionInConflict && !rows.empty() &&
                             write_beside(rows[operation.which % rows.size()]);
  if (failure_) return;
  unlogged_ = operation.unlogged;
  const bool refused = is_observed(rows) && is_refused_by_model(rows);
  if (!must_conflict && !refused && !rows.empty()) pending_ = &rows;
  computed_at_ = now_ms();  // the commit may wait
  const Status status = transaction.commit();
  note(status.ok() ? "committed" : status.is(Code::kConflict) ? "conflict" : status.to_text());
  if (refused && status.is(Code::kInvalidArgument)) return;
  if (refused && status.ok()) return fail("a commit that the observer refuses");
  if (must_conflict) {
    if (!status.is(Code::kConflict)) fail("expected a conflict, the engine says " + status.to_text());
    return;
  }
  if (status.ok()) return catch_up();
  pending_ = nullptr;
  const bool full = status.is(Code::kBusy) && plan_.work == Work::kManual;  // nobody flushes but us
  const bool may_conflict = operation.kind == Kind::kTransactionInConflict && status.is(Code::kConflict);
  if (!full && !may_conflict) fail("commit: " + status.to_text());
  if (full) expect_ok(engine_->flush(), "flush");
}

// One row's changes; what is returned is compared with the cells that they come to by the model.
Status RandomRun::write_to_transaction(const RowChange& row, Transaction& transaction,
                                       const std::map<std::string, Cells>& cells) {
  const auto& table = tables_[row.table];
  if (row.is_delete) return transaction.erase(table, delete_of(row));
  if (!computes(row)) return transaction.put(table, put_of(row));
  Cells expected;
  for (const auto& [family, written] : cells) add_written(written, expected);
  if (row.changes.front().kind == ModelChange::Kind::kAppend) {
    CELLAR_TRY_ASSIGN(const Row appended, transaction.append(table, append_of(row)));
    if (appended.cells != sorted(expected)) fail("an append in a transaction returned other cells");
    return {};
  }
  CELLAR_TRY_ASSIGN(const std::vector<int64_t> counted, transaction.increment(table, increment_of(row)));
  if (counted != counters_of(row, cells)) fail("an increment in a transaction returned other values");
  return {};
}

// Another write puts to a row that the transaction has written. Returns true if that shows. A put that does
// not show may count as a change or not.
bool RandomRun::write_beside(const RowChange& of) {
  ModelChange change;
  change.row = of.row;
  change.family = options_[of.table].families.front().name;
  change.qualifier = "beside";
  change.value = fmt::format("{}", sequence_);
  Operation beside;
  beside.kind = Kind::kPut;
  beside.rows.push_back({.table = of.table, .row = of.row, .changes = {change}});
  ModelScan all;
  all.versions = UINT32_MAX;
  const auto shown = [&] { return mirrors_[of.table].get(of.row, all, now_ms()); };
  const std::vector<Part> before = shown();
  write(beside);
  return shown() != before;
}

}  // namespace cellar::testing
