// The reader of an endurance run: scans that last long, each at one moment of the store.
#include <chrono>
#include <thread>

#include "bench/endurance/run.h"

namespace cellar::bench::endurance {
namespace {

class LongScan {
 public:
  explicit LongScan(Run& run) : run_(run), before_(run.rows.count()), after_(run.rows.count()) {}

  // A scan over all rows, which takes about so many seconds.
  Status scan(double seconds, bool fill_cache);

 private:
  Status check_until(uint64_t row);

  Run& run_;
  std::vector<RowState> before_, after_;  // states that the scan must show at least, and at most
  uint64_t next_ = 0;                     // the first row that the scan has not passed
  std::string room_;
};

// The moment of a scan is that of Table::scan().
Status LongScan::scan(double seconds, bool fill_cache) {
  const uint64_t count = run_.rows.count();
  for (uint64_t row = 0; row < count; ++row) before_[row] = run_.rows.acknowledged(row);
  CELLAR_TRY_ASSIGN(const auto scanner, run_.table->scan(Scan().fill_cache(fill_cache)));
  for (uint64_t row = 0; row < count; ++row) after_[row] = run_.rows.begun(row);
  next_ = 0;
  const auto begun = std::chrono::steady_clock::now();
  for (const RowView row : *scanner) {
    CELLAR_TRY_ASSIGN(const uint64_t number, row_number(row.row()));
    if (number < next_ || number >= count) return Status::corruption("a scan returned rows in a wrong order");
    CELLAR_TRY(check_until(number));
    CELLAR_TRY(run_.rows.check(number, row.value(kFamily, kQualifier).value_or(""), before_[number],
                               after_[number], room_));
    next_ = number + 1;
    run_.rows_scanned.fetch_add(1, std::memory_order_relaxed);
    const auto due = begun + std::chrono::duration<double>(seconds * static_cast<double>(next_) /
                                                           static_cast<double>(count));
    while (!run_.stopped() && due - std::chrono::steady_clock::now() > std::chrono::milliseconds(10))
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    if (run_.stopped()) return {};
  }
  CELLAR_TRY(scanner->status());
  CELLAR_TRY(check_until(count));
  run_.whole_scans.fetch_add(1, std::memory_order_relaxed);
  return {};
}

// Checks the rows that the scan passed over.
Status LongScan::check_until(uint64_t row) {
  for (; next_ < row; ++next_) CELLAR_TRY(run_.rows.check_missing(next_, before_[next_], after_[next_]));
  return {};
}

}  // namespace

Status scan_for_long(Run& run) {
  LongScan scan(run);
  // A whole run has about 20 of them.
  const double seconds = run.plan.seconds / 20;
  for (bool fill_cache = false; !run.stopped(); fill_cache = !fill_cache)
    CELLAR_TRY(scan.scan(seconds, fill_cache));
  return {};
}

}  // namespace cellar::bench::endurance
