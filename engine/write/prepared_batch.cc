// PreparedBatch: from borrowed pieces to one log record.
#include "engine/write/prepared_batch.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/assert.h"
#include "base/bytes.h"
#include "base/hash.h"
#include "cell/cell_codec.h"

namespace cellar {
namespace {

constexpr size_t kFewItems = 12;  // up to here comparing all pairs is cheaper than sorting
// HBase measures a cell as it is sent. The lengths of the cell, its key and its value take 4 bytes each, the
// length of its tags, if it has any, 2.
constexpr uint64_t kLengthFieldBytes = 12;
constexpr uint64_t kTagsLengthBytes = 2;
constexpr size_t kKeptStrings = 8;            // spare strings for keep(); more are given back
constexpr size_t kKeptBufferBytes = 4 << 20;  // a larger buffer is given back after the write that needed it

// Returns the view of an item's cell, which points nowhere yet.
CellView sizes_of(const PreparedBatch::Item& item, std::string_view family, size_t key_bytes) {
  CellView cell;
  cell.timestamp = item.timestamp;
  cell.key_size = static_cast<uint32_t>(key_bytes);
  cell.value_size = static_cast<uint32_t>(item.value.size());
  cell.row_size = static_cast<uint16_t>(item.row.size());
  cell.tags_size = static_cast<uint16_t>(item.tags.size());
  cell.family_size = static_cast<uint8_t>(family.size());
  cell.cell_type = item.type;
  return cell;
}

}  // namespace

void PreparedBatch::begin(std::optional<Stamps> stamps) {
  stamps_ = stamps;
  book_.clear();
  items_.clear();
  if (kept_used_ > kKeptStrings) kept_.resize(kKeptStrings);
  kept_used_ = 0;
  cells_.clear();
  stores_.clear();
  builder_.shrink(kKeptBufferBytes);
  builder_.begin();
}

void PreparedBatch::reopen() {
  CELLAR_ASSERT(!payload_.empty());  // finish() was called
  cells_.clear();
  payload_ = {};
  builder_.begin();
}

std::string_view PreparedBatch::keep(std::string bytes) {
  if (kept_used_ == kept_.size()) kept_.push_back(std::make_unique<std::string>());
  std::string& kept = *kept_[kept_used_++];
  kept = std::move(bytes);
  return kept;
}

void PreparedBatch::add(Store& store, std::string_view row, std::string_view qualifier, int64_t timestamp,
                        CellType type, std::string_view value, std::string_view tags) {
  CELLAR_ASSERT(cells_.empty());  // not finished
  items_.push_back({&store, row, qualifier, value, tags, timestamp, type, false});
  if (timestamp != kNow && rises(store)) [[unlikely]]
    book_.note(store, row, qualifier, timestamp, type);
  if (std::ranges::find(stores_, &store) == stores_.end()) stores_.push_back(&store);
}

bool PreparedBatch::same_coordinates(const Item& a, const Item& b) {
  return a.store == b.store && a.timestamp == b.timestamp && a.type == b.type && a.row == b.row &&
         a.qualifier == b.qualifier;
}

bool PreparedBatch::before(const Item& a, const Item& b) {
  if (a.store != b.store) return a.store->ids().family < b.store->ids().family;
  if (const int rows = a.row.compare(b.row); rows != 0) return rows < 0;
  if (const int qualifiers = a.qualifier.compare(b.qualifier); qualifiers != 0) return qualifiers < 0;
  if (a.timestamp != b.timestamp) return a.timestamp > b.timestamp;
  return a.type > b.type;
}

// Among cells of equal coordinates the last one added wins; the others never reach the log.
void PreparedBatch::resolve_duplicates() {
  if (items_.size() <= kFewItems) {
    for (size_t i = 1; i < items_.size(); ++i)
      for (size_t k = 0; k < i; ++k)
        if (same_coordinates(items_[k], items_[i])) items_[k].superseded = true;
    return;
  }
  size_t ascending = 1;
  while (ascending < items_.size() && before(items_[ascending - 1], items_[ascending])) ++ascending;
  if (ascending == items_.size()) return;
  hashes_.clear();
  for (uint32_t i = 0; i < items_.size(); ++i)
    hashes_.emplace_back(31 * hash64(items_[i].row) + hash64(items_[i].qualifier), i);
  std::ranges::sort(hashes_);
  for (auto begin = hashes_.begin(), end = begin; begin != hashes_.end(); begin = end) {
    while (end != hashes_.end() && end->first == begin->first) ++end;
    if (end - begin > 1) resolve_duplicates({begin, end});
  }
}

// Items with one hash: those of one column, and few others by chance.
void PreparedBatch::resolve_duplicates(std::span<std::pair<uint64_t, uint32_t>> of_one_hash) {
  std::ranges::stable_sort(
      of_one_hash, [&](const auto& a, const auto& b) { return before(items_[a.second], items_[b.second]); });
  for (size_t i = 1; i < of_one_hash.size(); ++i) {
    Item& earlier = items_[of_one_hash[i - 1].second];
    if (same_coordinates(earlier, items_[of_one_hash[i].second])) earlier.superseded = true;
  }
}

Status PreparedBatch::check(const Item& item, const Limits& limits) const {
  const auto where = [&] {
    return fmt::format("row {}, column {}:{}", escaped(item.row), item.store->family(),
                       escaped(item.qualifier));
  };
  if (item.row.empty()) return Status::invalid_argument("the row is empty: a row has 1 to 32,767 bytes");
  if (item.row.size() > kRowBytesMax)
    return Status::limit(fmt::format("the row has {} bytes: a row has 1 to 32,767", item.row.size()));
  if (item.timestamp < 0 || item.timestamp == kLatestTimestamp)
    return Status::invalid_argument(
        fmt::format("{}: timestamp {} is not 0 to 2^63 - 2", where(), item.timestamp));
  const uint64_t bytes = flat_key_bytes(item.row.size(), item.store->family().size(), item.qualifier.size()) +
                         item.value.size() + kLengthFieldBytes +
                         (item.tags.empty() ? 0 : kTagsLengthBytes + item.tags.size());
  if (bytes > limits.cell_bytes_max)
    return Status::limit(fmt::format("{}: the cell has {} bytes, the limit is {} (cell_bytes_max)", where(),
                                     bytes, limits.cell_bytes_max));
  if (!is_stored_type(item.type))
    return Status::invalid_argument(where() + ": not a type that can be stored");
  if (covers_family(item.type) && !item.qualifier.empty())
    return Status::invalid_argument(where() + ": a family marker has no qualifier");
  if (item.tags.size() > kTagsBytesMax || !tags_well_formed(item.tags))
    return Status::invalid_argument(where() + ": the tags are longer than 32,767 bytes or not well formed");
  return {};
}

Status PreparedBatch::finish(int64_t now_ms, const Limits& limits) {
  CELLAR_ASSERT(cells_.empty() && builder_.count() == 0);  // begin() or reopen() was called
  for (Item& item : items_) {
    if (item.timestamp == kNow) item.timestamp = now_ms;
    CELLAR_TRY(check(item, limits));
  }
  if (items_.size() > 1) resolve_duplicates();
  for (const Item& item : items_) {
    if (item.superseded) continue;
    const std::string_view family = item.store->family();
    const size_t key_bytes = flat_key_bytes(item.row.size(), family.size(), item.qualifier.size());
    char* const key = builder_.add(item.store->ids().family, key_bytes, item.value, item.tags);
    store_flat_key(key, item.row, family, item.qualifier, item.timestamp, item.type);
    if (builder_.bytes() > limits.batch_bytes_max)
      return Status::limit(
                 fmt::format("the batch is larger than {} bytes (batch_bytes_max)", limits.batch_bytes_max))
          .hinting("split it; each part is atomic on its own");
    cells_.push_back({item.store, sizes_of(item, family, key_bytes), item.spot});
  }
  payload_ = builder_.finish(now_ms);
  CELLAR_ASSERT(builder_.count() > 0 || items_.empty());  // of equal coordinates one stays
  // The cells' views point into the payload, which no longer moves.
  const char* at = payload_.data() + kLogTimeBytes;
  for (PreparedCell& prepared : cells_) {
    CellView& cell = prepared.cell;
    cell.key = at + kLogCellHeaderBytes;
    cell.value = cell.key + cell.key_size;
    cell.tags = cell.value + cell.value_size;
    at = cell.tags + cell.tags_size;
  }
  CELLAR_ASSERT(at == payload_.data() + payload_.size() && cells_.size() == builder_.count());
  return {};
}

}  // namespace cellar
