// The writers of an endurance run: each owns a range of rows, so that it knows every answer beforehand.
#include <chrono>
#include <deque>
#include <thread>

#include "bench/endurance/run.h"

namespace cellar::bench::endurance {
namespace {

int64_t now_ms() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

class Writer {
 public:
  Writer(Run& run, uint32_t number)
      : run_(run),
        random_(run.plan.seed * 1000 + number),
        number_(number),
        begin_(run.rows.count() * number / run.plan.writers),
        end_(run.rows.count() * (number + 1) / run.plan.writers) {}

  Status work();

 private:
  static constexpr uint64_t kScanRows = 100, kPurgedRows = 2000;

  // An event that was written, in the order of the times.
  struct Event {
    uint64_t number;
    int64_t before_ms, after_ms;  // the clock before and after the put
  };

  Status step();
  Operation choose();
  // A tenth of the rows gets half of the work.
  uint64_t choose_row();
  Status put_row(uint64_t row);
  Status delete_row(uint64_t row);
  Status purge(uint64_t row);
  Status put_event();
  Status read_event();
  Status increment();
  Status get_row(uint64_t row);
  Status scan_rows(uint64_t row);
  Status check_gap(uint64_t next, uint64_t number, bool backward);
  std::string event_key(uint64_t number) const;

  template <class Call>
  Status time(Operation operation, Call&& call) {
    const auto begun = std::chrono::steady_clock::now();
    const Status status = call();
    const auto taken = std::chrono::steady_clock::now() - begun;
    run_.times[number_]->add(operation, static_cast<uint64_t>(std::chrono::nanoseconds(taken).count()));
    return status;
  }

  Run& run_;
  Random random_;
  const uint32_t number_;
  const uint64_t begin_, end_;
  int64_t deleted_ms_ = 0;  // of the last deletion
  uint64_t next_event_ = 0;
  std::deque<Event> events_;  // younger than twice the time to live
  size_t expired_ = 0;        // of events_
  std::string value_, room_;
  RowBatch batch_;
};

Status Writer::work() {
  const auto begun = std::chrono::steady_clock::now();
  const double pause = run_.plan.rate > 0 ? run_.plan.writers / run_.plan.rate : 0;
  for (uint64_t done = 0; !run_.stopped(); ++done) {
    CELLAR_TRY(step());
    if (pause == 0) continue;
    const auto due = begun + std::chrono::duration<double>(pause * static_cast<double>(done + 1));
    if (due - std::chrono::steady_clock::now() > std::chrono::milliseconds(1))
      std::this_thread::sleep_until(due);
  }
  return {};
}

// Puts, events and increments are half of the work, gets and scans the other half.
Operation Writer::choose() {
  const uint64_t percent = random_.below(100);
  if (percent < 35) return Operation::kPut;
  if (percent < 40) return random_.below(2000) == 0 ? Operation::kPurge : Operation::kDelete;
  if (percent < 47) return Operation::kEvent;
  if (percent < 52) return Operation::kIncrement;
  return percent < 95 ? Operation::kGet : Operation::kScan;
}

uint64_t Writer::choose_row() {
  const uint64_t rows = end_ - begin_;
  const uint64_t hot = std::max<uint64_t>(rows / 10, 1);
  return begin_ + (random_.below(2) == 0 ? random_.below(hot) * (rows / hot) : random_.below(rows));
}

Status Writer::step() {
  const uint64_t row = choose_row();
  switch (choose()) {
    case Operation::kPut:
      // A marker hides a put of the same millisecond.
      return now_ms() > deleted_ms_ ? put_row(row) : get_row(row);
    case Operation::kDelete:
      return delete_row(row);
    case Operation::kPurge:
      return purge(row);
    case Operation::kEvent:
      return random_.below(8) == 0 && !events_.empty() ? read_event() : put_event();
    case Operation::kIncrement:
      return increment();
    case Operation::kGet:
      return get_row(row);
    case Operation::kScan:
      break;
  }
  return scan_rows(row);
}

Status Writer::put_row(uint64_t row) {
  const RowState state = state_after(run_.rows.acknowledged(row), false);
  run_.rows.fill(row, state, value_);
  run_.rows.begin(row, state);
  const Put put = std::move(Put(RowKey().present(row).view()).add(kFamily, kQualifier, value_));
  CELLAR_TRY(time(Operation::kPut, [&] { return run_.table->put(put); }));
  run_.rows.acknowledge(row, state);
  return {};
}

Status Writer::delete_row(uint64_t row) {
  const RowState state = state_after(run_.rows.acknowledged(row), true);
  run_.rows.begin(row, state);
  const Delete erase(RowKey().present(row).view());
  CELLAR_TRY(time(Operation::kDelete, [&] { return run_.table->erase(erase); }));
  deleted_ms_ = now_ms();
  run_.rows.acknowledge(row, state);
  return {};
}

// Deletes rows that follow each other in a single batch.
Status Writer::purge(uint64_t row) {
  const uint64_t last = std::min(row + kPurgedRows, end_);
  Batch batch;
  for (uint64_t each = row; each < last; ++each) {
    run_.rows.begin(each, state_after(run_.rows.acknowledged(each), true));
    batch.erase(run_.table, Delete(RowKey().present(each).view()));
  }
  CELLAR_TRY(time(Operation::kPurge, [&] { return run_.engine->write(batch); }));
  deleted_ms_ = now_ms();
  for (uint64_t each = row; each < last; ++each) run_.rows.acknowledge(each, run_.rows.begun(each));
  return {};
}

std::string Writer::event_key(uint64_t number) const {
  return std::to_string(number_) + ":" + std::string(RowKey().set(number).view());
}

Status Writer::put_event() {
  const int64_t ttl_ms = run_.plan.event_ttl_s * 1000, before = now_ms();
  value_.assign(Run::kEventBytes, 'e');
  fill_value(value_, next_event_);
  const Put put = std::move(Put(event_key(next_event_)).add(kFamily, kQualifier, value_));
  CELLAR_TRY(time(Operation::kEvent, [&] { return run_.events->put(put); }));
  events_.push_back({next_event_++, before, now_ms()});
  while (events_.front().after_ms + 2 * ttl_ms < before) {
    events_.pop_front();
    expired_ -= expired_ > 0 ? 1 : 0;
  }
  while (expired_ < events_.size() && events_[expired_].after_ms + ttl_ms < before) ++expired_;
  run_.waiting[number_].store(events_.size() - expired_, std::memory_order_relaxed);
  return {};
}

// An event is there until its time to live is over, and not any more afterwards.
Status Writer::read_event() {
  const Event event = events_[random_.below(events_.size())];
  const int64_t ttl_ms = run_.plan.event_ttl_s * 1000, before = now_ms();
  CELLAR_TRY(
      time(Operation::kGet, [&] { return run_.events->get_into(Get(event_key(event.number)), batch_); }));
  const std::string_view found = batch_.empty() ? "" : batch_.row().value(kFamily, kQualifier).value_or("");
  value_.assign(Run::kEventBytes, 'e');
  fill_value(value_, event.number);
  if (found.empty() && now_ms() < event.before_ms + ttl_ms)
    return Status::corruption("event " + event_key(event.number) +
                              " is missing before its time to live is over");
  if (!found.empty() && before > event.after_ms + ttl_ms)
    return Status::corruption("event " + event_key(event.number) + " was read after its time to live");
  if (!found.empty() && found != value_)
    return Status::corruption("event " + event_key(event.number) + " has a value that nobody wrote");
  return {};
}

Status Writer::increment() {
  const int64_t amount = 1 + static_cast<int64_t>(random_.below(9));
  const std::string row(RowKey().present(random_.below(Run::kCounters)).view());
  CELLAR_TRY(time(Operation::kIncrement,
                  [&] { return run_.counters->increment_one(row, kFamily, kQualifier, amount).status(); }));
  run_.incremented.fetch_add(static_cast<uint64_t>(amount));
  return {};
}

Status Writer::get_row(uint64_t row) {
  const RowState state = run_.rows.acknowledged(row);
  const Get get(RowKey().present(row).view());
  CELLAR_TRY(time(Operation::kGet, [&] { return run_.table->get_into(get, batch_); }));
  if (batch_.empty()) return run_.rows.check_missing(row, state, state);
  return run_.rows.check(row, batch_.row().value(kFamily, kQualifier).value_or(""), state, state, room_);
}

Status Writer::scan_rows(uint64_t row) {
  const bool backward = random_.below(4) == 0;
  const uint64_t last = std::min(row + kScanRows, end_);
  RowKey from, until;
  const Scan scan = std::move(
      Scan(keys_between("", from.present(row).view(), until.present(last).view())).reversed(backward));
  uint64_t next = backward ? last : row;
  return time(Operation::kScan, [&]() -> Status {
    CELLAR_TRY_ASSIGN(const auto scanner, run_.table->scan(scan));
    for (const RowView found : *scanner) {
      CELLAR_TRY_ASSIGN(const uint64_t number, row_number(found.row()));
      if (number < row || number >= last)
        return Status::corruption("a scan returned a row outside its range");
      CELLAR_TRY(check_gap(next, number, backward));
      const RowState state = run_.rows.acknowledged(number);
      CELLAR_TRY(run_.rows.check(number, found.value(kFamily, kQualifier).value_or(""), state, state, room_));
      next = backward ? number : number + 1;
    }
    CELLAR_TRY(scanner->status());
    return backward ? check_gap(row, next, false) : check_gap(next, last, false);
  });
}

// Checks the rows that a scan passed over: from `next` up to before `number`, or between the two backwards.
Status Writer::check_gap(uint64_t next, uint64_t number, bool backward) {
  const uint64_t first = backward ? number + 1 : next, last = backward ? next : number;
  for (uint64_t row = first; row < last; ++row) {
    const RowState state = run_.rows.acknowledged(row);
    CELLAR_TRY(run_.rows.check_missing(row, state, state));
  }
  return {};
}

}  // namespace

Status write_for_long(Run& run, uint32_t writer) { return Writer(run, writer).work(); }

}  // namespace cellar::bench::endurance
