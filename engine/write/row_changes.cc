// RowChanges: looks up what is there, and adds the cells that follow from it.
#include "engine/write/row_changes.h"

#include <fmt/format.h>

#include <algorithm>
#include <type_traits>

#include "base/assert.h"
#include "base/bytes.h"
#include "base/coding.h"
#include "engine/read/table_reader.h"
#include "engine/values/mutation_reader.h"

namespace cellar {
namespace {

void touch(Store* store, std::vector<Store*>& touched) {
  if (std::ranges::find(touched, store) == touched.end()) touched.push_back(store);
}

Status touch_family(TableState& table, std::string_view family, std::vector<Store*>& touched) {
  Store* store = table.families().find(family);
  if (store == nullptr) return table.unknown_family(family);
  touch(store, touched);
  return {};
}

Status touch_pieces(TableState& table, const RowMutation& mutation, std::string_view what,
                    std::vector<Store*>& touched) {
  CELLAR_TRY(check_size(what, mutation));
  if (mutation.empty()) return no_columns(what, mutation.row());
  const MutationReader reader(mutation);
  for (const MutationPiece& piece : reader.pieces())
    CELLAR_TRY(touch_family(table, reader.family(piece), touched));
  return {};
}

// The cell of the column in what a get of newest versions found, or null.
const CellView* find_column(const RowBatch& current, std::string_view family, std::string_view qualifier) {
  for (const CellView& cell : current.row().cells())
    if (cell.family() == family && cell.qualifier() == qualifier) return &cell;
  return nullptr;
}

// The current cell's tags, but with the time to live that the mutation brings, if it does (`own`).
std::string carried_tags(std::string_view own, std::string_view current) {
  if (own.empty() || current.empty()) return std::string(own.empty() ? current : own);
  std::string tags;
  for (size_t at = 0; at + 3 <= current.size();) {
    const size_t size = load_be16(current.data() + at);
    if (static_cast<uint8_t>(current[at + 2]) != kTtlTag) tags.append(current, at, 2 + size);
    at += 2 + size;
  }
  return tags.append(own);
}

// A mutation's own tags hold its time to live, or nothing.
Status check_ttl(std::string_view row, std::string_view tags) {
  std::string_view ttl;
  if (tags.empty() || !find_tag(tags, kTtlTag, ttl)) return {};
  const auto ms = static_cast<int64_t>(load_be64(ttl.data()));
  if (ms >= 1) return {};
  return Status::invalid_argument(fmt::format("row {}: invalid time to live of {} ms", escaped(row), ms))
      .hinting("it must be at least 1 ms");
}

bool sorts_before(const Cell& a, const Cell& b) {
  if (a.family != b.family) return a.family < b.family;
  if (a.qualifier != b.qualifier) return a.qualifier < b.qualifier;
  return a.timestamp > b.timestamp;
}

bool same_place(const Cell& a, const Cell& b) {
  return a.timestamp == b.timestamp && a.family == b.family && a.qualifier == b.qualifier;
}

}  // namespace

Status no_columns(std::string_view what, std::string_view row) {
  return Status::invalid_argument(fmt::format("the {} of row \"{}\" has no columns", what, escaped(row)))
      .hinting("add at least one");
}

Status check_size(std::string_view what, const RowMutation& mutation) {
  if (!mutation.too_large()) return {};
  return Status::limit(fmt::format("the {} of row \"{}\" has more than {} bytes", what,
                                   escaped(mutation.row().substr(0, kRowBytesMax)), kMutationBytesMax))
      .hinting("split it; each part is atomic on its own");
}

Status add_touched(TableState& table, const Put& put, std::vector<Store*>& touched) {
  return touch_pieces(table, put, "put", touched);
}

Status add_touched(TableState& table, const Delete& erase, std::vector<Store*>& touched) {
  if (!erase.empty()) return touch_pieces(table, erase, "delete", touched);
  for (const auto& store : table.families().stores) touch(store.get(), touched);
  return {};
}

Status add_touched(TableState& table, const Increment& increment, std::vector<Store*>& touched) {
  return touch_pieces(table, increment, "increment", touched);
}

Status add_touched(TableState& table, const Append& append, std::vector<Store*>& touched) {
  return touch_pieces(table, append, "append", touched);
}

Status add_touched(TableState& table, const RowMutations::Mutation& mutation, std::vector<Store*>& touched) {
  return std::visit([&](const auto& each) { return add_touched(table, each, touched); }, mutation);
}

bool looks_up(const Delete& erase) {
  return std::ranges::any_of(MutationReader(erase).pieces(),
                             [](const MutationPiece& piece) { return piece.latest_version; });
}

// Null: it was removed since add_touched().
Store* RowChanges::store_of(std::string_view family) const { return table_.families().find(family); }

Status RowChanges::read(const Get& get, RowBatch& found) const {
  return read_ != nullptr ? (*read_)(get, found) : table_.get_into(get, found);
}

// Most counters were incremented a short while ago, and are in the active memtable. If one column is not, a
// single get reads all of them.
Result<RowChanges::Column> RowChanges::current_of(Reading& reading, const MutationPiece& piece) const {
  const MutationReader& reader = reading.reader;
  Column column{reading.row, reader.family(piece), reader.qualifier(piece)};
  const bool as_visible =
      read_ == nullptr && reading.time_from == 0 && reading.time_until == kLatestTimestamp;
  if (as_visible && !reading.found) {
    const Store* store = store_of(column.family);
    if (store == nullptr) return table_.unknown_family(column.family);
    if (newest_in_memory(*store, column.row, column.qualifier, table_.host().mvcc, reading.newest)) {
      column.current = &reading.newest.cell;
      column.spot = reading.newest.spot;
      return column;
    }
  }
  if (!reading.found) {
    Get get(reading.row);
    get.time_range(reading.time_from, reading.time_until);
    for (const MutationPiece& each : reader.pieces()) get.column(reader.family(each), reader.qualifier(each));
    CELLAR_TRY(read(get, reading.found.emplace()));
  }
  column.current = find_column(*reading.found, column.family, column.qualifier);
  return column;
}

// Far ahead of the clock a put hides what is written after it, so that a wrong clock does lasting harm.
Status RowChanges::check_time(const Put& put, const MutationPiece& piece) const {
  const TableHost& host = table_.host();
  const MutationReader reader(put);
  const int64_t slop_ms = host.world.options.timestamp_slop_ms;
  if (slop_ms == INT64_MAX || piece.timestamp == kNow) return {};
  const int64_t now_ms = now_ms_ == kNow ? host.mvcc.write_ms() : now_ms_;
  if (piece.timestamp <= now_ms || piece.timestamp - now_ms <= slop_ms) return {};
  return Status::invalid_argument(
             fmt::format("row {}, column {}:{}: timestamp {} is {} ms ahead of the clock, the limit is {} "
                         "(timestamp_slop_ms)",
                         escaped(put.row()), reader.family(piece), escaped(reader.qualifier(piece)),
                         piece.timestamp, piece.timestamp - now_ms, slop_ms))
      .hinting("leave the timestamp out, or set the writer's clock");
}

// The timestamp of an unstamped cell: `unstamped`, or a later one in a family whose stamps rise.
Result<int64_t> RowChanges::stamp_of(const Store& store, std::string_view row, std::string_view qualifier,
                                     CellType type, int64_t unstamped) const {
  if (!batch_.rises(store)) [[likely]]
    return unstamped;
  CELLAR_ASSERT(now_ms_ != kNow);  // a write whose stamps may rise has locked its row, and knows its time
  return rising_stamp(store, row, qualifier, type, now_ms_,
                      batch_.book().newest(store, row, qualifier, type));
}

Status RowChanges::cell(const Cell& cell) {
  Store* store = store_of(cell.family);
  if (store == nullptr) return table_.unknown_family(cell.family);
  int64_t timestamp = cell.timestamp;
  if (timestamp == kNow) {
    CELLAR_TRY_ASSIGN(timestamp, stamp_of(*store, cell.row, cell.qualifier, cell.type, kNow));
  }
  batch_.add(*store, cell.row, cell.qualifier, timestamp, cell.type, cell.value, cell.tags);
  return {};
}

Status RowChanges::put(const Put& put, int64_t unstamped) {
  CELLAR_TRY(check_size("put", put));
  const MutationReader reader(put);
  if (!reader.tags().empty()) CELLAR_TRY(check_ttl(put.row(), reader.tags()));
  for (const MutationPiece& piece : reader.pieces()) {
    Store* store = store_of(reader.family(piece));
    if (store == nullptr) return table_.unknown_family(reader.family(piece));
    int64_t timestamp = piece.timestamp;
    if (timestamp != kNow) {
      CELLAR_TRY(check_time(put, piece));
    } else if (batch_.rises(*store)) [[unlikely]] {
      CELLAR_TRY_ASSIGN(timestamp,
                        stamp_of(*store, put.row(), reader.qualifier(piece), piece.type, unstamped));
    } else {
      timestamp = unstamped;
    }
    batch_.add(*store, put.row(), reader.qualifier(piece), timestamp, piece.type, reader.value(piece),
               reader.tags());
  }
  return {};
}

// Returns the time of the n-th newest version for the n-th request for a column. If the column has fewer, the
// marker gets the time of the write and hides nothing that exists.
Result<int64_t> RowChanges::looked_up_timestamp(const Delete& erase, size_t piece) {
  const MutationReader reader(erase);
  const std::span<const MutationPiece> pieces = reader.pieces();
  CELLAR_ASSERT(piece < pieces.size() && pieces[piece].latest_version);
  uint32_t nth = 0;
  for (size_t i = 0; i < piece; ++i)
    if (pieces[i].latest_version && reader.same_column(pieces[i], pieces[piece])) ++nth;
  Get get(erase.row());
  get.column(reader.family(pieces[piece]), reader.qualifier(pieces[piece])).versions(nth + 1);
  RowBatch found;
  CELLAR_TRY(read(get, found));
  return found.row().cells().size() > nth ? found.row().cells()[nth].timestamp : kNow;
}

Status RowChanges::erase(const Delete& erase) {
  CELLAR_TRY(check_size("delete", erase));
  const auto add = [&](Store& store, std::string_view qualifier, int64_t timestamp, CellType type) -> Status {
    if (timestamp == kNow) {
      CELLAR_TRY_ASSIGN(timestamp, stamp_of(store, erase.row(), qualifier, type, kNow));
    }
    batch_.add(store, erase.row(), qualifier, timestamp, type, {}, {});
    return {};
  };
  if (erase.empty())  // the row: one family marker for each family
    for (const auto& store : table_.families().stores)
      CELLAR_TRY(add(*store, {}, erase.timestamp(), CellType::kDeleteFamily));
  const MutationReader reader(erase);
  for (size_t i = 0; i < reader.pieces().size(); ++i) {
    const MutationPiece& piece = reader.pieces()[i];
    Store* store = store_of(reader.family(piece));
    if (store == nullptr) return table_.unknown_family(reader.family(piece));
    int64_t timestamp = piece.timestamp;
    if (piece.latest_version) {
      CELLAR_TRY_ASSIGN(timestamp, looked_up_timestamp(erase, i));
    }
    CELLAR_TRY(add(*store, reader.qualifier(piece), timestamp, piece.type));
  }
  return {};
}

Status RowChanges::replace(const Column& column, std::string value, int64_t timestamp, std::string_view tags,
                           bool returned) {
  Store* store = store_of(column.family);
  if (store == nullptr) return table_.unknown_family(column.family);
  const bool unstamped = column.current != nullptr || timestamp == kNow;
  if (timestamp == kNow) timestamp = now_ms_;
  std::string carried(tags);
  if (column.current != nullptr) {
    if (column.current->timestamp >= kLatestTimestamp - 1)
      return Status::invalid_argument(
                 fmt::format(
                     "row {}, column {}:{} has the highest possible timestamp: no later version is possible",
                     escaped(column.row), column.family, escaped(column.qualifier)))
          .hinting("delete that version first");
    timestamp = std::max(column.current->timestamp + 1, now_ms_);  // newer than the value it replaces
    carried = carried_tags(tags, column.current->tags_bytes());
  }
  if (unstamped) {
    CELLAR_TRY_ASSIGN(timestamp, stamp_of(*store, column.row, column.qualifier, CellType::kPut, timestamp));
  }
  if (returned) {
    Cell& cell = new_cells_.emplace_back(std::string(column.row), std::string(column.family),
                                         std::string(column.qualifier), timestamp, CellType::kPut, value);
    cell.tags = carried;
  }
  CELLAR_ASSERT(column.current == nullptr || timestamp > column.current->timestamp);  // it is not hidden
  const std::string_view kept_tags = carried.empty() ? std::string_view() : batch_.keep(std::move(carried));
  batch_.add(*store, column.row, column.qualifier, timestamp, CellType::kPut, batch_.keep(std::move(value)),
             kept_tags);
  if (column.current != nullptr) batch_.set_spot(column.spot);
  return {};
}

Result<int64_t> RowChanges::sum_of(const Increment& increment, const Column& column) const {
  int64_t sum = 0;
  if (column.current != nullptr) {
    if (column.current->value_size != 8)
      return Status::invalid_argument(fmt::format(
          "row {}, column {}:{} is not a counter: its value has {} bytes, not 8", escaped(column.row),
          column.family, escaped(column.qualifier), column.current->value_size));
    sum = static_cast<int64_t>(load_be64(column.current->value));
  }
  const MutationReader reader(increment);
  for (const MutationPiece& each : reader.pieces()) {
    if (reader.family(each) != column.family || reader.qualifier(each) != column.qualifier) continue;
    if (__builtin_add_overflow(sum, reader.amount(each), &sum) && !increment.wrap_on_overflow())
      return Status::invalid_argument(fmt::format("row {}, column {}:{} would overflow 64 bits",
                                                  escaped(column.row), column.family,
                                                  escaped(column.qualifier)))
          .hinting("Increment::wrap_on_overflow(true) wraps around as HBase does");
  }
  CELLAR_DCHECK(std::ranges::any_of(reader.pieces(), [&](const MutationPiece& each) {
    return reader.qualifier(each) == column.qualifier;
  }));
  return sum;
}

Result<std::vector<int64_t>> RowChanges::increment(const Increment& increment, bool cells_wanted) {
  CELLAR_TRY(check_size("increment", increment));
  const MutationReader reader(increment);
  CELLAR_TRY(check_ttl(increment.row(), reader.tags()));
  const std::span<const MutationPiece> counters = reader.pieces();
  CELLAR_ASSERT(now_ms_ != kNow && !counters.empty());
  Reading reading{increment.row(), increment.time_from(), increment.time_until(), reader};
  std::vector<int64_t> results(counters.size());
  for (size_t i = 0; i < counters.size(); ++i) {
    const auto first = std::ranges::find_if(
        counters, [&](const MutationPiece& other) { return reader.same_column(other, counters[i]); });
    if (const auto earlier = static_cast<size_t>(first - counters.begin()); earlier < i) {
      results[i] = results[earlier];
      continue;
    }
    CELLAR_TRY_ASSIGN(const Column column, current_of(reading, counters[i]));
    CELLAR_TRY_ASSIGN(results[i], sum_of(increment, column));
    std::string value(8, '\0');
    store_be64(value.data(), static_cast<uint64_t>(results[i]));
    CELLAR_TRY(replace(column, std::move(value), increment.timestamp(), reader.tags(), cells_wanted));
  }
  return results;
}

Status RowChanges::append(const Append& append) {
  CELLAR_TRY(check_size("append", append));
  const MutationReader reader(append);
  CELLAR_TRY(check_ttl(append.row(), reader.tags()));
  const std::span<const MutationPiece> pieces = reader.pieces();
  CELLAR_ASSERT(now_ms_ != kNow && !pieces.empty());
  Reading reading{append.row(), append.time_from(), append.time_until(), reader};
  for (size_t i = 0; i < pieces.size(); ++i) {
    const auto same = [&](const MutationPiece& other) { return reader.same_column(other, pieces[i]); };
    if (std::any_of(pieces.begin(), pieces.begin() + static_cast<std::ptrdiff_t>(i), same)) continue;
    CELLAR_TRY_ASSIGN(const Column column, current_of(reading, pieces[i]));
    std::string value(column.current == nullptr ? std::string_view() : column.current->value_bytes());
    for (const MutationPiece& other : pieces)
      if (same(other)) value += reader.value(other);
    CELLAR_TRY(replace(column, std::move(value), append.timestamp(), reader.tags(), append.return_cells()));
  }
  return {};
}

Status RowChanges::apply(const RowMutations& mutations, int64_t unstamped) {
  for (const RowMutations::Mutation& mutation : mutations.mutations())
    CELLAR_TRY(std::visit([&](const auto& each) { return apply(each, unstamped); }, mutation));
  return {};
}

Row RowChanges::take_new_cells(std::string_view row) {
  std::ranges::reverse(new_cells_);  // so that the last of equal coordinates comes first, and stays
  std::ranges::stable_sort(new_cells_, sorts_before);
  new_cells_.erase(std::unique(new_cells_.begin(), new_cells_.end(), same_place), new_cells_.end());
  CELLAR_DCHECK(std::ranges::is_sorted(new_cells_, sorts_before));
  return {std::string(row), std::move(new_cells_)};
}

}  // namespace cellar
