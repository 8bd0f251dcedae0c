// Workloads on rows of one cell, with a model that knows the weight of every live row.
#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "bench/workload/course.h"
#include "bench/workload/data.h"

namespace cellar::bench {
namespace {

// With a time instead of a number of operations, as many rows may be inserted.
constexpr uint64_t kRowsInTime = 50000000;

// A cell f:q0 whose value has a length of its own.
class SizedCell {
 public:
  explicit SizedCell(const Lengths& lengths) : lengths_(lengths), value_(lengths.most) {}
  // Valid until the next call.
  RowIn row(uint64_t index, uint64_t version) {
    const uint64_t word = mix(index * 0x9e3779b97f4a7c15 + version + 1);
    const uint64_t bytes = lengths_.of(word >> 8);
    fill_value({value_.data(), bytes}, word);
    cell_ = {kFamily, kQualifier, {value_.data(), bytes}};
    return {key_.present(index).view(), {&cell_, 1}};
  }
  // The row of the last call as a reader counts it.
  uint64_t weight() const { return Tally::weigh(key_.view(), cell_.qualifier, cell_.value); }
  uint64_t bytes() const {
    return key_.view().size() + kFamily.size() + kQualifier.size() + kTimestampBytes + cell_.value.size();
  }

 private:
  const Lengths lengths_;
  std::vector<char> value_;
  RowKey key_;
  CellIn cell_;
};

// The weight of the cell of each live row; 0: the row does not exist. Pages that nobody writes take no
// memory. A thread writes only its own rows. Any thread may read whether a row exists.
class LiveRows {
 public:
  explicit LiveRows(uint64_t capacity)
      : capacity_(capacity), weights_(static_cast<uint64_t*>(std::calloc(capacity, sizeof(uint64_t)))) {}
  ~LiveRows() { std::free(weights_); }
  LiveRows(const LiveRows&) = delete;
  LiveRows& operator=(const LiveRows&) = delete;

  bool ok() const { return weights_ != nullptr; }
  uint64_t capacity() const { return capacity_; }
  uint64_t weight(uint64_t row) const {
    return std::atomic_ref(weights_[row]).load(std::memory_order_acquire);
  }
  void set(uint64_t row, uint64_t weight) {
    std::atomic_ref(weights_[row]).store(weight, std::memory_order_release);
  }

 private:
  const uint64_t capacity_;
  uint64_t* const weights_;
};

// The inserts of a thread, for the others.
struct alignas(64) Inserts {
  std::atomic<uint64_t> begun{0};
  std::atomic<uint64_t> done{0};
};

class RowCourse : public Course {
 public:
  RowCourse(const Workload& workload, uint64_t rows)
      : Course(workload),
        loaded_((rows + workload.threads - 1) / workload.threads * workload.threads),
        live_(loaded_ + new_rows()),
        inserts_(workload.threads) {
    if (!live_.ok()) std::abort();  // calloc found no room, as operator new would
  }

  std::unique_ptr<Client> client(Session& session, uint64_t thread) override;

  uint64_t threads() const { return workload_.threads; }
  uint64_t loaded() const override { return loaded_; }
  LiveRows& live() { return live_; }
  Inserts& inserts(uint64_t thread) { return inserts_[thread]; }

  // Rows that may exist have smaller numbers.
  uint64_t end() const {
    uint64_t most = 0;
    for (const Inserts& each : inserts_) most = std::max(most, each.begun.load());
    return loaded_ + most * workload_.threads;
  }
  uint64_t sum(std::atomic<uint64_t> Inserts::*which) const {
    uint64_t all = 0;
    for (const Inserts& each : inserts_) all += (each.*which).load();
    return all;
  }

 protected:
  RowIn load_row(uint64_t index, uint64_t slot, int64_t&) override {
    cells_.reserve(kBatchRows);  // they stay where they are
    while (cells_.size() <= slot) cells_.emplace_back(workload_.value_bytes);
    const RowIn row = cells_[slot].row(index, 0);
    live_.set(index, cells_[slot].weight());
    return row;
  }
  void load_done() override {
    cells_.clear();
    cells_.shrink_to_fit();
  }

  Tally expected() const override {
    Tally tally;
    for (uint64_t row = 0; row < end(); ++row) {
      const uint64_t weight = live_.weight(row);
      if (weight == 0) continue;
      ++tally.rows;
      tally.add_weight(weight, 0);
    }
    return tally;
  }

 private:
  uint64_t new_rows() const {
    if (!workload_.mix.has(Operation::kInsert) && !workload_.mix.has(Operation::kDelete)) return 0;
    return workload_.seconds > 0 ? kRowsInTime : workload_.total_ops(loaded_) * 2;
  }

  const uint64_t loaded_;
  LiveRows live_;
  std::vector<Inserts> inserts_;
  std::vector<SizedCell> cells_;  // of the batch that is loaded
};

class RowClient : public Client {
 public:
  RowClient(RowCourse& course, Session& session, uint64_t thread)
      : course_(course),
        session_(session),
        thread_(thread),
        own_rows_(course.loaded() / course.threads()),
        chooser_(course.workload().skew, own_rows_),
        random_(mix(course.workload().seed * 1000003 + thread)),
        cell_(course.workload().value_bytes) {
    if (!course.workload().mix.has(Operation::kDelete)) return;
    for (uint64_t i = 0; i < own_rows_; ++i) alive_.push_back(i);
  }

  Status step() override {
    switch (course_.workload().mix.draw(random_)) {
      case Operation::kRead:
        return read(choose());
      case Operation::kUpdate:
        return update(false);
      case Operation::kRmw:
        return update(true);
      case Operation::kInsert:
        return insert();
      case Operation::kScan:
        return scan();
      case Operation::kDelete:
        return erase();
    }
    return {};
  }

 private:
  // A row of this thread, dead ones included.
  uint64_t choose() { return row_of(chooser_.next(random_, own_rows_)); }
  uint64_t row_of(uint64_t own) const { return own * course_.threads() + thread_; }

  Status wrong(const char* what, uint64_t row, const std::string& details) const {
    RowKey key;
    return Status::corruption(course_.workload().name + ": " + what + " " +
                              std::string(key.present(row).view()) + " in operation " +
                              std::to_string(work_.ops) + " of thread " + std::to_string(thread_) + ": " +
                              details);
  }

  Status compare(uint64_t row, const Tally& got, bool found) const {
    const uint64_t weight = course_.live().weight(row);
    const bool exists = weight != 0;
    if (found != exists || got.cells != (exists ? 1U : 0U))
      return wrong("the read of", row,
                   exists ? "the row exists, but was not found" : "the row does not exist, but was found");
    if (exists && got.sum != weight)
      return wrong("the read of", row, "its value is not the last one that was written");
    return {};
  }

  Status read(uint64_t row) {
    Tally got;
    bool found = false;
    time([&] { found = session_.get(key_.present(row).view(), kFamily, kQualifier, got); });
    work_.read += got;
    return compare(row, got, found);
  }

  Status update(bool read_first) {
    uint64_t row = choose();
    if (course_.live().weight(row) == 0) {
      // A put in the millisecond of the delete would be hidden by it.
      if (alive_.empty()) return insert();
      row = row_of(alive_[random_.below(alive_.size())]);
    }
    const RowIn next = cell_.row(row, ++version_);
    Tally got;
    bool found = false;
    time([&] {
      if (read_first) found = session_.get(next.row, kFamily, kQualifier, got);
      session_.put(next, Keep::kProcess);
    });
    work_.read += got;
    work_.bytes_put += cell_.bytes();
    if (read_first) CELLAR_TRY(compare(row, got, found));
    course_.live().set(row, cell_.weight());
    return {};
  }

  Status insert() {
    const uint64_t row = row_of(own_rows_);
    if (row >= course_.live().capacity()) {
      return Status::limit(course_.workload().name + ": more than " + std::to_string(kRowsInTime) +
                           " rows were inserted")
          .hinting("run it for fewer seconds");
    }
    Inserts& inserts = course_.inserts(thread_);
    ++inserts.begun;
    const RowIn next = cell_.row(row, ++version_);
    time([&] { session_.put(next, Keep::kProcess); });
    work_.bytes_put += cell_.bytes();
    course_.live().set(row, cell_.weight());
    ++inserts.done;
    if (course_.workload().mix.has(Operation::kDelete)) alive_.push_back(own_rows_);
    ++own_rows_;
    return {};
  }

  // Any live row of this thread. Without one, a row is inserted.
  Status erase() {
    if (alive_.empty()) return insert();
    std::swap(alive_[random_.below(alive_.size())], alive_.back());
    const uint64_t row = row_of(alive_.back());
    alive_.pop_back();
    course_.live().set(row, 0);  // before: a scan of another thread may miss it from now on
    const CellIn cell{kFamily, kQualifier, {}};
    const std::string_view key = key_.present(row).view();
    time([&] { session_.erase_row({key, {&cell, 1}}, Keep::kProcess); });
    work_.bytes_put += key.size() + kFamily.size() + kTimestampBytes;
    return {};
  }

  // Counts rows from `row` on that exist, at most `limit`, and sums up their weights.
  Tally alive_from(uint64_t row, uint64_t limit) const {
    Tally tally;
    const uint64_t end = course_.end();
    for (; row < end && tally.rows < limit; ++row) {
      const uint64_t weight = course_.live().weight(row);
      if (weight == 0) continue;
      ++tally.rows;
      tally.add_weight(weight, 0);
    }
    return tally;
  }

  Status scan() {
    const uint64_t row = choose();
    const uint64_t limit = course_.workload().scan_length.of(random_.next());
    const bool alone = course_.threads() == 1;
    const uint64_t done_before = course_.sum(&Inserts::done);
    const Tally before = alive_from(row, limit);
    Tally got;
    time([&] { session_.scan({.start = key_.present(row).view(), .limit = limit}, got); });
    (alone ? work_.read : work_.read_meanwhile) += got;
    if (alone) {
      if (got.rows != before.rows || got.cells != before.cells)
        return wrong(
            "the scan from", row,
            "it read " + std::to_string(got.rows) + " rows instead of " + std::to_string(before.rows));
      if (got.sum != before.sum)
        return wrong("the scan from", row, "it read other values than were written last");
      return {};
    }
    return check_meanwhile(row, limit, before.rows, done_before, got);
  }

  // Other threads inserted and deleted rows meanwhile. A row that existed before and after must have been
  // read. Each row that was read existed before, or was inserted meanwhile, or was being deleted.
  Status check_meanwhile(uint64_t row, uint64_t limit, uint64_t before, uint64_t done_before,
                         const Tally& got) const {
    const uint64_t after = alive_from(row, limit).rows;
    const uint64_t inserted = course_.sum(&Inserts::begun) - done_before;
    const uint64_t dying = course_.workload().mix.has(Operation::kDelete) ? course_.threads() : 0;
    const uint64_t least = after - std::min(after, inserted);
    const uint64_t most = std::min(limit, before + inserted + dying);
    if (got.rows >= least && got.rows <= most && got.cells == got.rows) return {};
    return wrong("the scan from", row,
                 "it read " + std::to_string(got.rows) + " rows instead of " + std::to_string(least) +
                     " to " + std::to_string(most));
  }

  RowCourse& course_;
  Session& session_;
  const uint64_t thread_;
  uint64_t own_rows_;  // of this thread, dead ones included
  KeyChooser chooser_;
  Random random_;
  SizedCell cell_;
  RowKey key_;
  uint64_t version_ = 0;
  std::vector<uint64_t> alive_;  // of this thread, by own numbers, if rows are deleted
};

std::unique_ptr<Client> RowCourse::client(Session& session, uint64_t thread) {
  return std::make_unique<RowClient>(*this, session, thread);
}

}  // namespace

std::unique_ptr<Course> make_row_course(const Workload& workload, uint64_t rows) {
  return std::make_unique<RowCourse>(workload, rows);
}

}  // namespace cellar::bench
