// TraceEncoder: queries, mutations and checks as entries of a record.
#include "engine/trace/trace_encoder.h"

#include <algorithm>
#include <span>
#include <string>
#include <type_traits>
#include <variant>

#include "engine/values/check_reader.h"
#include "engine/values/mutation_reader.h"

namespace cellar {

void TraceResults::add(const RowView& row) {
  if (row.empty()) return;  // nothing was found, or a cursor of a scan
  rows += row.more_cells_in_row() ? 0 : 1;
  cells += row.cells().size();
  for (const CellView& cell : row.cells())
    bytes += uint64_t{cell.key_size} + cell.value_size + cell.tags_size;
}

void TraceEncoder::grow(size_t bytes) {
  const size_t wanted = std::max(2 * capacity_, size_ + bytes);
  auto larger = std::make_unique<char[]>(wanted);
  std::memcpy(larger.get(), room_.get(), size_);
  room_ = std::move(larger);
  capacity_ = wanted;
  CELLAR_ASSERT(capacity_ - size_ >= bytes);
}

inline char* TraceEncoder::put_key(char* to, std::string_view bytes) const {
  if (!keys_.hash) return put_text(to, bytes);
  to = put_varint(to, bytes.size());
  if (bytes.empty()) return to;
  const uint64_t hash = (*keys_.hash)(bytes);
  static_assert(sizeof hash == kHashBytes);
  std::memcpy(to, &hash, sizeof hash);
  return to + sizeof hash;
}

inline char* TraceEncoder::put_entry(char* to, TraceEntryKind kind, std::string_view table,
                                     std::string_view row) const {
  *to++ = static_cast<char>(kind);
  return put_key(put_text(to, table), row);
}

template <class Q>
inline size_t TraceEncoder::room_of_query(const Query<Q>& query, size_t& families) {
  // Query::columns() would build a map for each operation.
  size_t room = 1 + 4 * kVarintBytes;
  query.for_each_family([&](std::string_view family, std::span<const std::string> qualifiers) {
    ++families;
    room += 2 * kVarintBytes + family.size();
    for (const std::string& qualifier : qualifiers) room += room_of(qualifier);
  });
  return room;
}

template <class Q>
inline char* TraceEncoder::put_query(char* to, const Query<Q>& query, size_t families) const {
  const bool times = query.time_from() != 0 || query.time_until() != kLatestTimestamp;
  const bool paged = query.max_per_family() != 0 || query.family_offset() != 0;
  *to++ = static_cast<char>((times ? kTraceTimeRange : 0) | (query.filter() != nullptr ? kTraceFilter : 0) |
                            (query.snapshot() != nullptr ? kTraceSnapshot : 0) | (paged ? kTracePaged : 0));
  if (times) {
    to = put_zigzag(to, query.time_from());
    to = put_zigzag(to, query.time_until());
  }
  to = put_varint(to, query.versions());
  to = put_varint(to, families);
  query.for_each_family([&](std::string_view family, std::span<const std::string> qualifiers) {
    to = put_varint(put_text(to, family), qualifiers.size());
    for (const std::string& qualifier : qualifiers) to = put_key(to, qualifier);
  });
  return to;
}

void TraceEncoder::get(std::string_view table, const Get& get) {
  size_t families = 0;
  const size_t room = room_of_query(get, families);
  char* to = open(room_of_entry(table, get.row()) + room);
  to = put_entry(to, TraceEntryKind::kGet, table, get.row());
  close(put_query(to, get, families));
}

void TraceEncoder::scan(std::string_view table, const Scan& scan) {
  const bool prefixed = !scan.prefix().empty();
  const std::string& stop = prefixed ? scan.prefix() : scan.stop();
  char* to = open(1 + 2 * kVarintBytes + table.size() + room_of(scan.start()) + room_of(stop));
  to = put_text(to, table);
  *to++ = static_cast<char>((scan.reversed() ? kTraceReversed : 0) |
                            (scan.start_inclusive() ? kTraceStartInclusive : 0) |
                            (scan.stop_inclusive() ? kTraceStopInclusive : 0) | (scan.raw() ? kTraceRaw : 0) |
                            (prefixed ? kTracePrefix : 0) | (scan.has_ranges() ? kTraceRanges : 0));
  to = put_key(to, scan.start());
  to = put_key(to, stop);
  close(put_varint(to, scan.limit()));
  if (scan.has_ranges()) {
    varint(scan.ranges().size());
    for (const KeyRange& each : scan.ranges()) {
      close(put_key(open(room_of(each.start)), each.start));
      close(put_key(open(room_of(each.stop)), each.stop));
    }
  }
  size_t families = 0;
  const size_t room = room_of_query(scan, families);
  close(put_query(open(room), scan, families));
}

inline void TraceEncoder::begin_entry(TraceEntryKind kind, std::string_view table, std::string_view row) {
  close(put_entry(open(room_of_entry(table, row)), kind, table, row));
}

inline void TraceEncoder::column(std::string_view family, std::string_view qualifier, CellType type,
                                 bool latest_version, int64_t timestamp, size_t value_bytes) {
  CELLAR_DCHECK(is_stored_type(type));
  const bool given = timestamp != kNow;
  char* to = open(2 + 3 * kVarintBytes + family.size() + room_of(qualifier));
  *to++ = static_cast<char>(type);
  *to++ = static_cast<char>((given ? kTraceTimestamp : 0) | (latest_version ? kTraceLatestVersion : 0));
  to = put_text(to, family);
  to = put_key(to, qualifier);
  to = put_varint(to, value_bytes);
  close(given ? put_zigzag(to, timestamp) : to);
}

void TraceEncoder::mutation(TraceEntryKind kind, std::string_view table, const RowMutation& mutation) {
  const MutationReader reader(mutation);
  begin_entry(kind, table, mutation.row());
  varint(reader.pieces().size());
  for (const MutationPiece& piece : reader.pieces())
    column(reader.family(piece), reader.qualifier(piece), piece.type, piece.latest_version, piece.timestamp,
           reader.value(piece).size());
}

void TraceEncoder::cell(std::string_view table, const Cell& cell) {
  begin_entry(TraceEntryKind::kCell, table, cell.row);
  varint(1);
  column(cell.family, cell.qualifier, cell.type, false, cell.timestamp, cell.value.size());
}

namespace {

TraceEntryKind kind_of(const Put&) { return TraceEntryKind::kPut; }
TraceEntryKind kind_of(const Delete&) { return TraceEntryKind::kErase; }
TraceEntryKind kind_of(const Increment&) { return TraceEntryKind::kIncrement; }
TraceEntryKind kind_of(const Append&) { return TraceEntryKind::kAppend; }

}  // namespace

void TraceEncoder::mutations(std::string_view table, const RowMutations& mutations) {
  for (const RowMutations::Mutation& each : mutations.mutations())
    std::visit([&](const auto& one) { mutation(kind_of(one), table, one); }, each);
}

size_t TraceEncoder::entries_of(const CheckAndMutate& check, bool matched) {
  if (!matched) return 1;
  const CheckAndMutate::Change& change = CheckReader(check).change();
  const auto* several = std::get_if<RowMutations>(&change);
  if (several != nullptr) return 1 + several->mutations().size();
  return std::holds_alternative<std::monostate>(change) ? 1 : 2;
}

void TraceEncoder::check(std::string_view table, const CheckAndMutate& check, bool matched) {
  const CheckReader reader(check);
  begin_entry(TraceEntryKind::kCheck, table, check.row());
  byte(static_cast<uint8_t>((matched ? kTraceMatched : 0) | (reader.has_column() ? kTraceHasColumn : 0)));
  name(reader.family());
  close(put_key(open(room_of(reader.qualifier())), reader.qualifier()));
  if (!matched) return;
  std::visit(
      [&](const auto& one) {
        using One = std::remove_cvref_t<decltype(one)>;
        if constexpr (std::is_same_v<One, RowMutations>) {
          mutations(table, one);
        } else if constexpr (!std::is_same_v<One, std::monostate>) {
          mutation(kind_of(one), table, one);
        }
      },
      reader.change());
}

}  // namespace cellar
