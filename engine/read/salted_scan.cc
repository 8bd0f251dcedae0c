// scan_salted: one scanner per salt, merged by the key after the salt.
#include "cellar/salted_scan.h"

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "base/bytes.h"
#include "base/coding.h"
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

// SaltedScanner: a tournament of the scanners. Each inner node of the tree keeps the scanner that lost there,
// so a scanner that has moved is compared once for each level. Most comparisons are of one word: the keys of
// all scanners have a common beginning, and the word of a key is what follows it.
class SaltedScanner final : public Scanner {
 public:
  SaltedScanner(std::vector<std::unique_ptr<Scanner>> scanners, const Scan& scan)
      : scanners_(std::move(scanners)),
        rows_(scanners_.size()),
        losers_(scanners_.size()),
        reversed_(scan.reversed()),
        limited_(scan.limit() > 0),
        rows_left_(scan.limit()) {
    CELLAR_ASSERT(!scanners_.empty());
  }

  bool next() override;
  RowView row() const override { return rows_[at_].row; }
  Status status() const override { return status_; }
  bool next_batch(RowBatch& batch, size_t rows) override;

 private:
  // Standing: the row or cursor on which a scanner stands; its key after the salt. A scanner that is over has
  // no key, and the last rank.
  struct Standing {
    RowView row;
    std::string_view key;
    uint64_t rank = UINT64_MAX;  // a word of the key that ascends in the direction of the scan
  };
  static constexpr size_t kSlack = 4;  // bytes of the common beginning that are left to the words

  uint64_t rank_of(std::string_view key) const;
  bool before_fully(const Standing& a, const Standing& b, bool a_is_lower) const;
  bool before(uint32_t a, uint32_t b) const {
    const Standing& left = rows_[a];
    const Standing& right = rows_[b];
    return left.rank != right.rank ? left.rank < right.rank : before_fully(left, right, a < b);
  }
  bool move(size_t scanner);
  void play();
  void play_again(size_t scanner);

  std::vector<std::unique_ptr<Scanner>> scanners_;
  std::vector<Standing> rows_;    // of the scanners
  std::vector<uint32_t> losers_;  // of the inner nodes from 1 on; the first is the winner
  std::string common_;            // the beginning of all keys, without the last bytes that they share
  bool reversed_;
  bool started_ = false;
  bool standing_ = false;
  bool limited_;
  uint64_t rows_left_;
  size_t at_ = 0;
  Status status_;
};

// Returns the rank of a key that has the common beginning. Keys with the same rank may differ.
inline uint64_t SaltedScanner::rank_of(std::string_view key) const {
  CELLAR_DCHECK(key.starts_with(common_));
  key.remove_prefix(common_.size());
  uint64_t word = 0;
  if (key.size() >= sizeof word) {
    word = load_be64(key.data());
  } else {
    for (size_t i = 0; i < sizeof word; ++i)
      word = word << 8 | (i < key.size() ? static_cast<uint8_t>(key[i]) : 0u);
  }
  return reversed_ ? ~word : word;
}

// Returns true if the row of `a` comes first. Two rows with equal keys differ only in their salts, and the
// lower salt comes first. A cursor comes before all rows of its key: it names where to go on, so none of
// these rows has been returned.
bool SaltedScanner::before_fully(const Standing& a, const Standing& b, bool a_is_lower) const {
  if (a.key.data() == nullptr || b.key.data() == nullptr) return b.key.data() == nullptr;
  const int order = a.key.compare(b.key);
  if (order != 0) return (order < 0) != reversed_;
  return a.row.is_cursor() == b.row.is_cursor() ? a_is_lower : a.row.is_cursor();
}

// Moves a scanner to its next row. Returns false if its key has not the common beginning.
inline bool SaltedScanner::move(size_t scanner) {
  CELLAR_DCHECK(scanner < scanners_.size());
  Scanner& moved = *scanners_[scanner];
  Standing& standing = rows_[scanner];
  if (!moved.next()) {
    standing = {};
    if (status_.ok()) status_ = moved.status();
    return true;
  }
  standing.row = moved.row();
  standing.key = unsalted(standing.row.row());
  if (!standing.key.starts_with(common_)) return false;
  standing.rank = rank_of(standing.key);
  return true;
}

// Finds the common beginning anew, and plays the whole tournament, from the leaves up.
void SaltedScanner::play() {
  const size_t count = scanners_.size();
  CELLAR_ASSERT(losers_.size() == count);
  std::optional<std::string_view> common;
  for (const Standing& each : rows_)
    if (each.key.data() != nullptr)
      common = common ? common->substr(0, common_prefix(*common, each.key)) : each.key;
  common_.assign(common && common->size() > kSlack ? common->substr(0, common->size() - kSlack) : "");
  for (Standing& each : rows_)
    if (each.key.data() != nullptr) each.rank = rank_of(each.key);
  std::vector<uint32_t> winners(2 * count);
  for (size_t i = 0; i < count; ++i) winners[count + i] = static_cast<uint32_t>(i);
  for (size_t node = count; node-- > 1;) {
    const uint32_t left = winners[2 * node];
    const uint32_t right = winners[2 * node + 1];
    const bool left_wins = before(left, right);
    winners[node] = left_wins ? left : right;
    losers_[node] = left_wins ? right : left;
  }
  losers_[0] = winners[1];
}

// Plays the games of a scanner that has moved. It was the winner, so all the others on its way lost to it.
inline void SaltedScanner::play_again(size_t scanner) {
  CELLAR_DCHECK(losers_[0] == scanner);
  uint32_t winner = static_cast<uint32_t>(scanner);
  for (size_t node = (scanner + scanners_.size()) / 2; node > 0; node /= 2)
    if (before(losers_[node], winner)) std::swap(losers_[node], winner);
  losers_[0] = winner;
}

bool SaltedScanner::next() {
  if (!status_.ok()) return false;
  if (standing_ && rows_[at_].row.more_cells_in_row()) {
    if (scanners_[at_]->next()) {
      // The key of the part before lies in a batch that has moved on.
      rows_[at_].row = scanners_[at_]->row();
      rows_[at_].key = unsalted(rows_[at_].row.row());
      return true;
    }
    status_ = scanners_[at_]->status();
    rows_[at_] = {};
    return standing_ = false;
  }
  if (limited_ && rows_left_ == 0) return standing_ = false;
  if (!started_) {
    started_ = true;
    for (size_t scanner = 0; scanner < scanners_.size(); ++scanner) static_cast<void>(move(scanner));
    play();
  } else if (standing_) {
    move(at_) ? play_again(at_) : play();
  }
  at_ = losers_[0];
  standing_ = status_.ok() && rows_[at_].key.data() != nullptr;
  if (!standing_) return false;
  CELLAR_ASSERT(!limited_ || rows_left_ > 0);
  if (limited_ && !rows_[at_].row.is_cursor()) --rows_left_;
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
