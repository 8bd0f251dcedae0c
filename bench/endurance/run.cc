// Run: makes and loads the store of an endurance run, and compares all of it.
#include "bench/endurance/run.h"

namespace cellar::bench::endurance {

Result<std::unique_ptr<Run>> Run::create(const RunPlan& plan) {
  std::unique_ptr<Run> run(new Run(plan));
  CELLAR_TRY(run->open(true));
  FamilyOptions rows = plan.family;
  rows.name = kFamily;
  CELLAR_TRY_ASSIGN(run->table, run->engine->create_table("rows", {.families = {rows}}));
  CELLAR_TRY_ASSIGN(run->events,
                    run->engine->create_table(
                        "events", {.families = {{.name = std::string(kFamily), .ttl_s = plan.event_ttl_s}}}));
  CELLAR_TRY_ASSIGN(run->counters,
                    run->engine->create_table("counters", {.families = {{.name = std::string(kFamily)}}}));
  return run;
}

Run::Run(const RunPlan& run_plan)
    : plan(run_plan), rows(run_plan.rows, run_plan.value_bytes), waiting(run_plan.writers) {
  for (uint32_t i = 0; i < plan.writers; ++i) times.push_back(std::make_unique<Times>());
}

Status Run::open(bool create) {
  EngineOptions options = plan.engine;
  options.create_if_missing = options.error_if_exists = create;
  CELLAR_TRY_ASSIGN(engine, Engine::open(plan.directory, options));
  if (create) return {};
  CELLAR_TRY_ASSIGN(table, engine->open_table("rows"));
  CELLAR_TRY_ASSIGN(events, engine->open_table("events"));
  CELLAR_TRY_ASSIGN(counters, engine->open_table("counters"));
  return {};
}

Status Run::load() {
  constexpr uint64_t kBatchRows = 500;
  std::string value;
  RowKey key;
  for (uint64_t begin = 0; begin < rows.count(); begin += kBatchRows) {
    const uint64_t end = std::min(begin + kBatchRows, rows.count());
    Batch batch;
    for (uint64_t row = begin; row < end; ++row) {
      const RowState state = state_after(kNeverWritten, false);
      rows.begin(row, state);
      rows.fill(row, state, value);
      batch.put(table, Put(key.present(row).view()).add(kFamily, kQualifier, value));
    }
    CELLAR_TRY(engine->write(batch));
    for (uint64_t row = begin; row < end; ++row) rows.acknowledge(row, rows.begun(row));
  }
  return {};
}

Status Run::close() {
  table = events = counters = nullptr;
  return engine->close();
}

Status Run::reopen() {
  CELLAR_TRY(close());
  engine = nullptr;
  return open(false);
}

void Run::fail(const Status& status) {
  const MutexLock lock(mutex_);
  if (failure_.ok()) failure_ = status;
  stop();
}

Status Run::failure() const {
  const MutexLock lock(mutex_);
  return failure_;
}

Status Run::check() {
  CELLAR_TRY(check_rows());
  uint64_t sum = 0;
  CELLAR_TRY_ASSIGN(const auto counted, counters->scan(Scan()));
  for (const RowView row : *counted)
    sum += static_cast<uint64_t>(row.counter(kFamily, kQualifier).value_or(0));
  CELLAR_TRY(counted->status());
  if (sum != incremented.load())
    return Status::corruption("the counters add up to " + std::to_string(sum) + ", and increments of " +
                              std::to_string(incremented.load()) + " were acknowledged");
  return {};
}

Status Run::check_rows() {
  std::string room;
  uint64_t next = 0;
  CELLAR_TRY_ASSIGN(const auto scanner, table->scan(Scan().fill_cache(false)));
  for (const RowView row : *scanner) {
    CELLAR_TRY_ASSIGN(const uint64_t number, row_number(row.row()));
    if (number < next || number >= rows.count())
      return Status::corruption("a scan returned rows in a wrong order");
    for (; next < number; ++next)
      CELLAR_TRY(rows.check_missing(next, rows.acknowledged(next), rows.begun(next)));
    CELLAR_TRY(rows.check(number, row.value(kFamily, kQualifier).value_or(""), rows.acknowledged(number),
                          rows.begun(number), room));
    next = number + 1;
  }
  CELLAR_TRY(scanner->status());
  for (; next < rows.count(); ++next)
    CELLAR_TRY(rows.check_missing(next, rows.acknowledged(next), rows.begun(next)));
  return {};
}

}  // namespace cellar::bench::endurance
