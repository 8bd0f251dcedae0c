// Sorting, merging and searching of sorted runs.
#include "memtable/sorted_run.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/assert.h"
#include "base/bytes.h"
#include "base/coding.h"
#include "cell/cell_order.h"

namespace cellar {

namespace {

using Entry = SortedRun::Entry;

constexpr size_t kRoomMin = 64;      // of an arena; more gets a block of exactly its size
constexpr size_t kFewEntries = 128;  // up to here, comparing costs less than counting bytes

Entry* make_entries(Arena& room, size_t size) {
  CELLAR_ASSERT(size > 0 && size <= UINT32_MAX);
  return reinterpret_cast<Entry*>(room.allocate(size * sizeof(Entry), alignof(Entry)));
}

// Returns 8 bytes of the row from `skip` on, which is at most its size.
uint64_t row_bytes(const CellView& cell, uint32_t skip) {
  const uint64_t bytes = load_be64(cell.key + 2 + skip);  // at least 10 bytes follow the row
  const uint32_t size = cell.row_size - skip;
  if (size >= sizeof bytes) return bytes;
  return size == 0 ? 0 : bytes & (~uint64_t{0} << (64 - 8 * size));
}

bool is_before(const Entry& a, const Entry& b) {
  if (a.prefix != b.prefix) return a.prefix < b.prefix;
  return compare_stored(a.record->view(), b.record->view()) < 0;
}

}  // namespace

SortedRun::SortedRun(size_t size) : room_(kRoomMin), entries_(make_entries(room_, size)), size_(size) {}

bool SortedRun::is_ascending() const {
  for (size_t i = 1; i < size_; ++i)
    if (compare_stored(entries_[i - 1].record->view(), entries_[i].record->view()) >= 0) return false;
  return true;
}

bool SortedRun::is_descending() const {
  for (size_t i = 1; i < size_; ++i)
    if (compare_stored(entries_[i - 1].record->view(), entries_[i].record->view()) < 0) return false;
  return true;
}

// Returns how many bytes all rows have in common.
uint32_t SortedRun::common_bytes() const {
  std::string_view common = entries_[0].record->view().row();
  for (size_t i = 1; i < size_ && !common.empty(); ++i) {
    const std::string_view row = entries_[i].record->view().row();
    if (!row.starts_with(common)) common = common.substr(0, common_prefix(common, row));
  }
  return static_cast<uint32_t>(common.size());
}

void SortedRun::set_prefixes(uint32_t skip) {
  skip_ = skip;
  for (size_t i = 0; i < size_; ++i) entries_[i].prefix = row_bytes(entries_[i].record->view(), skip);
}

// A load often comes in order. That is found out at the first cells that are not.
void SortedRun::sort() {
  if (is_ascending()) return set_prefixes(common_bytes());
  const bool descending = is_descending();
  // The sorts that follow are stable. So equal cells have to begin in the order in which they are to end.
  std::reverse(entries_, entries_ + size_);
  set_prefixes(common_bytes());
  if (descending) return;
  if (size_ <= kFewEntries) return std::stable_sort(entries_, entries_ + size_, is_before);
  sort_by_prefix();
  sort_equal_prefixes();
}

// Distributes the entries by each byte of the prefix, from the last to the first. A byte that is the same in
// all entries is left out.
void SortedRun::sort_by_prefix() {
  Arena room(kRoomMin);
  Entry* from = entries_;
  Entry* to = make_entries(room, size_);
  std::array<std::array<uint32_t, 256>, 8> counts = {};
  for (size_t i = 0; i < size_; ++i)
    for (uint32_t byte = 0; byte < 8; ++byte) ++counts[byte][from[i].prefix >> (8 * byte) & 255];
  for (uint32_t byte = 0; byte < 8; ++byte) {
    std::array<uint32_t, 256>& places = counts[byte];
    if (places[from[0].prefix >> (8 * byte) & 255] == size_) continue;
    uint32_t place = 0;
    for (uint32_t& each : places) place += std::exchange(each, place);
    CELLAR_ASSERT(place == size_);
    for (size_t i = 0; i < size_; ++i) to[places[from[i].prefix >> (8 * byte) & 255]++] = from[i];
    std::swap(from, to);
  }
  if (from != entries_) std::copy(from, from + size_, entries_);
}

void SortedRun::sort_equal_prefixes() {
  Entry* const end = entries_ + size_;
  for (Entry* begin = entries_; begin < end;) {
    Entry* after = begin + 1;
    while (after < end && after->prefix == begin->prefix) ++after;
    if (after - begin > 1) std::stable_sort(begin, after, is_before);
    begin = after;
  }
}

std::shared_ptr<const SortedRun> SortedRun::merge(const SortedRun& older, const SortedRun& newer) {
  auto merged = std::make_shared<SortedRun>(older.size() + newer.size());
  const std::string_view row = older.entries_[0].record->view().row();
  const size_t shared = common_prefix(row, newer.entries_[0].record->view().row());
  const auto skip = static_cast<uint32_t>(std::min<size_t>({older.skip_, newer.skip_, shared}));
  // Prefixes of another part of the rows are of no use: the run is filled and gets its own.
  const auto as_merged = [skip](const SortedRun& run, const Entry& entry) {
    if (run.skip_ == skip) return entry;
    return Entry{row_bytes(entry.record->view(), skip), entry.record};
  };
  Entry* to = merged->entries_;
  const Entry* left = older.begin();
  const Entry* right = newer.begin();
  Entry left_entry = as_merged(older, *left);
  Entry right_entry = as_merged(newer, *right);
  while (true) {
    if (is_before(left_entry, right_entry)) {
      *to++ = left_entry;
      if (++left == older.end()) break;
      left_entry = as_merged(older, *left);
    } else {
      *to++ = right_entry;
      if (++right == newer.end()) break;
      right_entry = as_merged(newer, *right);
    }
  }
  for (; left != older.end(); ++left) *to++ = as_merged(older, *left);
  for (; right != newer.end(); ++right) *to++ = as_merged(newer, *right);
  CELLAR_ASSERT(to == merged->entries_ + merged->size_);
  merged->skip_ = skip;
  return merged;
}

const Entry* SortedRun::at_or_after(const CellView& target) const {
  const std::string_view common = entries_[0].record->view().row().substr(0, skip_);
  const int order = target.row().substr(0, skip_).compare(common);
  if (order != 0) return order < 0 ? begin() : end();
  const uint64_t prefix = row_bytes(target, skip_);
  return std::partition_point(begin(), end(), [&](const Entry& entry) {
    if (entry.prefix != prefix) return entry.prefix < prefix;
    return compare_cells(entry.record->view(), target) < 0;
  });
}

}  // namespace cellar
