// SaltedScan: one scanner per salt, merged by the key after the salt.
#include "cellar/salted_scan.h"
#include "base/assert.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/bytes.h"
#include "engine/read/unsalted_filter.h"

namespace cellar {
namespace {

// Returns the scan of the rows of one salt.
Scan scan_of_salt(const Scan& scan, uint32_t number) {
  const std::string salt(1, static_cast<char>(number));
  const std::string behind = prefix_successor(salt);  // empty after the last salt
  Scan one = scan;
  if (scan.filter() != nullptr) one.filter(std::make_shared<UnsaltedFilter>(*scan.filter(), salt.front()));
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

}  // namespace

Result<SaltedScan> SaltedScan::create(Table& table, const Scan& scan, uint32_t salts) {
  if (salts < 1 || salts > 256)
    return Status::invalid_argument(fmt::format("invalid number of salts {}: 1 to 256 are possible", salts));
  if (scan.filter() != nullptr && scan.filter()->depends_on_other_rows())
    return Status::invalid_argument(fmt::format("a scan over salts cannot use this filter, which must see "
                                                "all rows in their order: {}",
                                                scan.filter()->to_text()))
        .hinting(
            "to limit the rows use Scan::limit; Filter::depends_on_other_rows is false for filters that can "
            "be used");
  SaltedScan merged;
  merged.reversed_ = scan.reversed();
  merged.limited_ = scan.limit() > 0;
  merged.rows_left_ = scan.limit();
  std::vector<Scan> scans;
  for (uint32_t salt = 0; salt < salts; ++salt) scans.push_back(scan_of_salt(scan, salt));
  CELLAR_TRY_ASSIGN(merged.scanners_, table.scan_many(scans));
  CELLAR_ASSERT(merged.scanners_.size() == salts);
  return merged;
}

// Returns whether the row of `a` comes first. Of equal keys, which differ only in their salts, the lower
// salt comes first. A cursor comes before all rows of its key: it names where to go on, so none of these
// rows has been returned.
bool SaltedScan::before(size_t a, size_t b) const {
  const int order = key_of(a).compare(key_of(b));
  if (order != 0) return (order < 0) != reversed_;
  const bool a_is_row = !scanners_[a]->row().is_cursor();
  const bool b_is_row = !scanners_[b]->row().is_cursor();
  return a_is_row == b_is_row ? a < b : b_is_row;
}

void SaltedScan::push(size_t scanner) {
  CELLAR_ASSERT(scanner < scanners_.size() && heap_.size() < scanners_.size());
  if (!scanners_[scanner]->next()) {
    if (status_.ok()) status_ = scanners_[scanner]->status();
    return;
  }
  heap_.push_back(scanner);
  std::ranges::push_heap(heap_, [this](size_t a, size_t b) { return before(b, a); });
}

size_t SaltedScan::pop() {
  CELLAR_ASSERT(!heap_.empty());
  std::ranges::pop_heap(heap_, [this](size_t a, size_t b) { return before(b, a); });
  const size_t scanner = heap_.back();
  heap_.pop_back();
  return scanner;
}

bool SaltedScan::next() {
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

}  // namespace cellar
