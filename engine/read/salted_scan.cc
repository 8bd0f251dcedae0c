// scan_salted: one scanner per salt, merged by the key after the salt.
#include "cellar/salted_scan.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/assert.h"
#include "base/bytes.h"
#include "cellar/keys.h"
#include "engine/read/unsalted_filter.h"
#include "engine/values/row_batch_builder.h"

namespace cellar {
namespace {

// Returns the scan of the rows of one salt.
Scan scan_of_salt(const Scan& scan, uint32_t number) {
  const std::string salt(1, static_cast<char>(number));
  const std::string behind = prefix_successor(salt);  // empty after the last salt
  Scan one = scan;
  if (scan.filter() != nullptr) one.filter(std::make_shared<UnsaltedFilter>(*scan.filter(), salt.front()));
  if (scan.has_ranges()) {
    std::vector<KeyRange> ranges;
    for (const KeyRange& each : scan.ranges()) ranges.push_back(with_prefix(salt, each));
    one.ranges(std::move(ranges));
  }
  if (!scan.start().empty()) one.start(salt + scan.start(), scan.start_inclusive());
  if (!scan.prefix().empty()) return one.prefix(salt + scan.prefix());
  const bool reversed = scan.reversed();
  if (scan.start().empty()) {
    reversed ? one.start(behind, false) : one.start(salt);
  }
  if (!scan.stop().empty()) {
    one.stop(salt + scan.stop(), scan.stop_inclusive());
  } else {
    reversed ? one.stop(salt, true) : one.stop(behind);
  }
  return one;
}

class SaltedScanner final : public Scanner {
 public:
  SaltedScanner(std::vector<std::unique_ptr<Scanner>> scanners, const Scan& scan)
      : scanners_(std::move(scanners)),
        reversed_(scan.reversed()),
        limited_(scan.limit() > 0),
        rows_left_(scan.limit()) {
    CELLAR_ASSERT(!scanners_.empty());
  }

  bool next() override;
  RowView row() const override { return scanners_[at_]->row(); }
  Status status() const override { return status_; }
  bool next_batch(RowBatch& batch, size_t rows) override;

 private:
  std::string_view key_of(size_t scanner) const { return unsalted(scanners_[scanner]->row().row()); }
  bool before(size_t a, size_t b) const;
  void push(size_t scanner);
  size_t pop();

  std::vector<std::unique_ptr<Scanner>> scanners_;
  std::vector<size_t> heap_;  // of scanners that stand on a row
  bool reversed_;
  bool started_ = false;
  bool standing_ = false;
  bool limited_;
  uint64_t rows_left_;
  size_t at_ = 0;
  Status status_;
};

// Returns true if the row of `a` comes first. Two rows with equal keys differ only in their salts, and the
// lower salt comes first. A cursor comes before all rows of its key: it names where to go on, so none of
// these rows has been returned.
bool SaltedScanner::before(size_t a, size_t b) const {
  const int order = key_of(a).compare(key_of(b));
  if (order != 0) return (order < 0) != reversed_;
  const bool a_is_row = !scanners_[a]->row().is_cursor();
  const bool b_is_row = !scanners_[b]->row().is_cursor();
  return a_is_row == b_is_row ? a < b : b_is_row;
}

void SaltedScanner::push(size_t scanner) {
  CELLAR_ASSERT(scanner < scanners_.size() && heap_.size() < scanners_.size());
  if (!scanners_[scanner]->next()) {
    if (status_.ok()) status_ = scanners_[scanner]->status();
    return;
  }
  heap_.push_back(scanner);
  std::ranges::push_heap(heap_, [this](size_t a, size_t b) { return before(b, a); });
}

size_t SaltedScanner::pop() {
  CELLAR_ASSERT(!heap_.empty());
  std::ranges::pop_heap(heap_, [this](size_t a, size_t b) { return before(b, a); });
  const size_t scanner = heap_.back();
  heap_.pop_back();
  return scanner;
}

bool SaltedScanner::next() {
  if (!status_.ok()) return false;
  if (standing_ && row().more_cells_in_row()) {
    if (scanners_[at_]->next()) return true;
    status_ = scanners_[at_]->status();
    return standing_ = false;
  }
  if (limited_ && rows_left_ == 0) return standing_ = false;
  if (!started_) {
    started_ = true;
    for (size_t scanner = 0; scanner < scanners_.size(); ++scanner) push(scanner);
  } else if (standing_) {
    push(at_);
  }
  standing_ = status_.ok() && !heap_.empty();
  if (!standing_) return false;
  at_ = pop();
  CELLAR_ASSERT(!limited_ || rows_left_ > 0);
  if (limited_ && !row().is_cursor()) --rows_left_;
  return true;
}

bool SaltedScanner::next_batch(RowBatch& batch, size_t rows) {
  batch.clear();
  RowBatchBuilder to(batch);
  while (batch.size() < rows && next()) {
    const RowView from = row();
    if (from.is_cursor()) {
      to.add_cursor(from.row());
      break;
    }
    for (const CellView& cell : from) to.add_changed(cell, nullptr);
    to.end_row(from.more_cells_in_row());
  }
  return !batch.empty();
}

}  // namespace

Result<std::unique_ptr<Scanner>> scan_salted(Table& table, const Scan& scan, uint32_t salts) {
  if (salts < 1 || salts > 256)
    return Status::invalid_argument(fmt::format("invalid number of salts {}: 1 to 256 are possible", salts));
  if (scan.filter() != nullptr && scan.filter()->depends_on_other_rows())
    return Status::invalid_argument(fmt::format("a scan over salts cannot use this filter, which must see "
                                                "all rows in their order: {}",
                                                scan.filter()->to_text()))
        .hinting(
            "to limit the rows use Scan::limit; Filter::depends_on_other_rows is false for filters that can "
            "be used");
  std::vector<Scan> scans;
  for (uint32_t salt = 0; salt < salts; ++salt) scans.push_back(scan_of_salt(scan, salt));
  CELLAR_TRY_ASSIGN(std::vector<std::unique_ptr<Scanner>> scanners, table.scan_many(scans));
  CELLAR_ASSERT(scanners.size() == salts);
  return std::unique_ptr<Scanner>(std::make_unique<SaltedScanner>(std::move(scanners), scan));
}

}  // namespace cellar
