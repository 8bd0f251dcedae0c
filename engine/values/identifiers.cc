// Identifiers: blocks of a counter, and numbers of time, worker and sequence (Twitter's Snowflake, 2010).
#include "cellar/identifiers.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <optional>
#include <string>
#include <utility>

#include "base/assert.h"
#include "base/bytes.h"

namespace cellar {
namespace {

// A number that was given out must not come again after a crash of the machine.
const WriteOptions kDurable{.durability = Durability::kFsyncWal};

// IdentifierTurn: lets one thread at a time work on the numbers. A writer may wait for the engine meanwhile,
// which no Mutex may span (docs/threading.md).
class IdentifierTurn {
 public:
  explicit IdentifierTurn(std::atomic_flag& taken) : taken_(taken) {
    while (taken_.test_and_set(std::memory_order_acquire)) taken_.wait(true, std::memory_order_relaxed);
  }
  ~IdentifierTurn() {
    taken_.clear(std::memory_order_release);
    taken_.notify_one();
  }
  IdentifierTurn(const IdentifierTurn&) = delete;
  IdentifierTurn& operator=(const IdentifierTurn&) = delete;

 private:
  std::atomic_flag& taken_;
};

class LeasedIdentifiers final : public Identifiers {
 public:
  LeasedIdentifiers(std::shared_ptr<Table> table, std::string_view row, std::string_view family,
                    std::string_view qualifier, int64_t block)
      : table_(std::move(table)), row_(row), family_(family), qualifier_(qualifier), block_(block) {
    CELLAR_ASSERT(table_ != nullptr && block_ > 0);
  }

  Result<int64_t> next() override {
    const IdentifierTurn turn(taken_);
    if (next_ == end_) {
      CELLAR_TRY_ASSIGN(const int64_t last,
                        table_->increment_one(row_, family_, qualifier_, block_, kDurable));
      next_ = last - block_;
      end_ = last;
    }
    CELLAR_ASSERT(next_ < end_);
    return ++next_;
  }

 private:
  const std::shared_ptr<Table> table_;
  const std::string row_;
  const std::string family_;
  const std::string qualifier_;
  const int64_t block_;
  std::atomic_flag taken_;
  int64_t next_ = 0;  // the last one that was given out
  int64_t end_ = 0;   // the last one of the block
};

constexpr int64_t kEpochMs = 1'577'836'800'000;  // the year 2020
constexpr int kTimeBits = 41;
constexpr int kWorkerBits = 10;
constexpr int kSequenceBits = 12;
constexpr int64_t kMarkMs = 1000;  // how far a mark is ahead of the time that needs it

class TimeOrderedIdentifiers final : public Identifiers {
 public:
  TimeOrderedIdentifiers(std::shared_ptr<Table> table, std::string_view row, std::string_view family,
                         Clock& clock)
      : table_(std::move(table)), row_(row), family_(family), clock_(clock) {
    CELLAR_ASSERT(table_ != nullptr);
  }

  // Takes a worker's number that no object has from now on.
  Status take_worker() {
    const IdentifierTurn turn(taken_);
    return take_number();
  }

  Result<int64_t> next() override {
    const IdentifierTurn turn(taken_);
    if (!has_worker_) CELLAR_TRY(take_number());
    int64_t time = time_;
    int64_t sequence = sequence_ + 1;
    const int64_t now = clock_.wall_ms() - kEpochMs;
    if (now > time || sequence >> kSequenceBits != 0) {
      time = std::max(now, time + 1);
      sequence = 0;
    }
    CELLAR_TRY(check_time(time));
    while (time > mark_) {
      CELLAR_TRY_ASSIGN(const bool is_mine, set_mark(mark_, time + kMarkMs));
      if (is_mine) continue;
      CELLAR_TRY(take_number());
      time = std::max(now, time_ + 1);
      sequence = 0;
      CELLAR_TRY(check_time(time));
    }
    time_ = time;
    sequence_ = sequence;
    return time << (kWorkerBits + kSequenceBits) | worker_ << kSequenceBits | sequence;
  }

 private:
  static Status check_time(int64_t time) {
    if (time >= 0 && time >> kTimeBits == 0) return {};
    return Status::invalid_argument(
               fmt::format("the time {} ms of an identifier is not from 2020 to 2089", time + kEpochMs))
        .hinting("set the clock of the machine");
  }
  std::string mark_column() const { return "mark" + std::to_string(worker_); }

  // Replaces the worker's mark. Returns false if it is not `expected`: another object has the number.
  Result<bool> set_mark(std::optional<int64_t> expected, int64_t mark) {
    CELLAR_ASSERT(!expected || *expected < mark);
    CheckAndMutate check(row_);
    if (expected) {
      check.if_equals(family_, mark_column(), plain_int64(*expected));
    } else {
      check.if_not_exists(family_, mark_column());
    }
    check.then(Put(row_).add(family_, mark_column(), plain_int64(mark)));
    CELLAR_TRY_ASSIGN(const ActionResult result, table_->check_and_mutate(check, kDurable));
    if (result.matched) mark_ = mark;
    return result.matched;
  }

  Status take_number() {
    has_worker_ = false;
    constexpr int kTries = 4 << kWorkerBits;
    for (int tries = 0; tries < kTries; ++tries) {
      CELLAR_TRY_ASSIGN(const int64_t starts, table_->increment_one(row_, family_, "starts", 1, kDurable));
      worker_ = starts & ((1 << kWorkerBits) - 1);
      CELLAR_TRY_ASSIGN(const Row row, table_->get_row(Get(row_).column(family_, mark_column())));
      const std::optional<int64_t> mark = row.counter(family_, mark_column());
      if (mark && *mark >> (kTimeBits + 1) != 0)
        return Status::corruption(fmt::format("{} ms is not a time: it is in column {}:{} of the identifiers",
                                              *mark, escaped(family_), mark_column()));
      // The times up to the mark may be taken.
      time_ = std::max<int64_t>(mark.value_or(-1), -1);
      sequence_ = (1 << kSequenceBits) - 1;
      const int64_t now = clock_.wall_ms() - kEpochMs;
      CELLAR_TRY_ASSIGN(const bool is_mine, set_mark(mark, std::max(now, time_ + 1) + kMarkMs));
      has_worker_ = is_mine;
      if (is_mine) return {};
    }
    return Status::with_code(Code::kConflict, fmt::format("no worker's number was free in {} tries", kTries));
  }

  const std::shared_ptr<Table> table_;
  const std::string row_;
  const std::string family_;
  Clock& clock_;
  std::atomic_flag taken_;
  bool has_worker_ = false;
  int64_t worker_ = 0;
  int64_t time_ = -1;  // of the last identifier, milliseconds since 2020
  int64_t sequence_ = 0;
  int64_t mark_ = -1;
};

}  // namespace

Result<std::unique_ptr<Identifiers>> leased_identifiers(std::shared_ptr<Table> table, std::string_view row,
                                                        std::string_view family, std::string_view qualifier,
                                                        int64_t block) {
  if (block < 1)
    return Status::invalid_argument(fmt::format("a block of {} identifiers: it has at least 1", block));
  return std::unique_ptr<Identifiers>(
      std::make_unique<LeasedIdentifiers>(std::move(table), row, family, qualifier, block));
}

Result<std::unique_ptr<Identifiers>> time_ordered_identifiers(std::shared_ptr<Table> table,
                                                              std::string_view row, std::string_view family,
                                                              Clock& clock) {
  auto identifiers = std::make_unique<TimeOrderedIdentifiers>(std::move(table), row, family, clock);
  CELLAR_TRY(identifiers->take_worker());
  return std::unique_ptr<Identifiers>(std::move(identifiers));
}

int64_t time_of_identifier(int64_t id) { return (id >> (kWorkerBits + kSequenceBits)) + kEpochMs; }
uint32_t worker_of_identifier(int64_t id) {
  return static_cast<uint32_t>(id >> kSequenceBits) & ((1u << kWorkerBits) - 1);
}

}  // namespace cellar
