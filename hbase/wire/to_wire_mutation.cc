// Writes and conditions as messages. Cells travel in the cell block, in the order of families, as HBase's
// client sends them: a server takes them off by families.
#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/coding.h"
#include "engine/values/check_reader.h"
#include "engine/values/mutation_reader.h"
#include "hbase/wire/cell_blocks.h"
#include "hbase/wire/client.pb.h"
#include "hbase/wire/filter_names.h"
#include "hbase/wire/to_wire.h"

namespace cellar::hbase::wire {
namespace {

constexpr uint32_t kDefaultDurability = 0;

Status check_row(const RowMutation& mutation, std::string_view what) {
  if (mutation.too_large()) return Status::limit(fmt::format("a {} has more than 4 GiB: split it", what));
  if (mutation.row().empty()) return Status::invalid_argument(fmt::format("a {} has an empty row", what));
  if (mutation.row().size() > kRowBytesMax)
    return Status::limit(
        fmt::format("the row has {} bytes; at most {} are possible", mutation.row().size(), kRowBytesMax));
  return {};
}

void add_attribute(WireMutation& to, const std::string& name, const std::string& value) {
  NameBytesPair& pair = *to.add_attributes();
  pair.set_name(name);
  pair.set_value(value);
}

// The time to live is an attribute on the wire, and a tag in a store.
Status set_ttl(std::string_view tags, WireMutation& to) {
  std::string_view ttl;
  if (tags.empty() || !find_tag(tags, kTtlTag, ttl) || ttl.size() != sizeof(uint64_t)) return {};
  if (static_cast<int64_t>(load_be64(ttl.data())) < 1)
    return Status::invalid_argument("a time to live must be 1 millisecond or more");
  add_attribute(to, "_ttl", std::string(ttl));
  return {};
}

Status set_common(const RowMutation& mutation, WireMutation::Type type, const WriteOptions& options,
                  WireMutation& to) {
  if (options.stamps == Stamps::kRising)
    return Status::not_supported("region servers have no rising timestamps")
        .hinting("write without Stamps::kRising");
  to.set_row(std::string(mutation.row()));
  to.set_type(type);
  to.set_durability(options.durability ? static_cast<uint32_t>(*options.durability) + 1 : kDefaultDurability);
  to.set_timestamp(static_cast<uint64_t>(kLatestTimestamp));
  return set_ttl(MutationReader(mutation).tags(), to);
}
static_assert(static_cast<int>(Durability::kSkipWal) == 0 && static_cast<int>(Durability::kFsyncWal) == 3);

// Appends the cells in the order of their families. `stamp` replaces the time of cells that have none.
Status add_cells(const RowMutation& mutation, int64_t stamp, WireMutation& to, std::string& cells) {
  const MutationReader reader(mutation);
  std::vector<MutationPiece> pieces(reader.pieces().begin(), reader.pieces().end());
  std::ranges::stable_sort(pieces, [&](const MutationPiece& a, const MutationPiece& b) {
    return reader.family(a) < reader.family(b);
  });
  for (const MutationPiece& piece : pieces) {
    if (piece.timestamp < 0)
      return Status::invalid_argument(fmt::format("the timestamp {} is negative", piece.timestamp));
    if (reader.family(piece).size() > kFamilyBytesMax)
      return Status::invalid_argument("a family has more than 127 bytes");
    append_cell(cells, mutation.row(), reader.family(piece), reader.qualifier(piece),
                piece.timestamp == kNow ? stamp : piece.timestamp, piece.type, reader.value(piece));
  }
  to.set_associated_cell_count(static_cast<int32_t>(pieces.size()));
  return {};
}

template <class Changing>
Status set_changing(const Changing& change, WireMutation& to, std::string& cells) {
  if (change.timestamp() < 0) return Status::invalid_argument("a timestamp is negative");
  CELLAR_TRY(to_wire_times(change.time_from(), change.time_until(), *to.mutable_time_range()));
  if (!change.return_cells()) add_attribute(to, "_rr_", std::string(1, '\0'));
  return add_cells(change, change.timestamp(), to, cells);
}

}  // namespace

Status to_wire_mutation(const Put& put, const WriteOptions& options, WireMutation& to, std::string& cells) {
  CELLAR_TRY(check_row(put, "put"));
  if (put.empty()) return Status::invalid_argument("a put has no cells");
  CELLAR_TRY(set_common(put, WireMutation::PUT, options, to));
  return add_cells(put, kLatestTimestamp, to, cells);
}

Status to_wire_mutation(const Delete& erase, const WriteOptions& options, WireMutation& to,
                        std::string& cells) {
  CELLAR_TRY(check_row(erase, "delete"));
  if (erase.timestamp() < 0) return Status::invalid_argument("a timestamp is negative");
  CELLAR_TRY(set_common(erase, WireMutation::DELETE, options, to));
  to.set_timestamp(static_cast<uint64_t>(erase.timestamp()));
  return add_cells(erase, kLatestTimestamp, to, cells);
}

// The sums of a column that was added twice are one cell: HBase's Increment knows a column once.
Status to_wire_mutation(const Increment& increment, const WriteOptions& options, WireMutation& to,
                        std::string& cells) {
  CELLAR_TRY(check_row(increment, "increment"));
  if (increment.empty()) return Status::invalid_argument("an increment has no columns");
  CELLAR_TRY(set_common(increment, WireMutation::INCREMENT, options, to));
  const MutationReader reader(increment);
  Increment summed(increment.row());
  std::map<std::pair<std::string_view, std::string_view>, uint64_t> sums;
  for (const MutationPiece& piece : reader.pieces())
    sums[{reader.family(piece), reader.qualifier(piece)}] += static_cast<uint64_t>(reader.amount(piece));
  for (const auto& [column, sum] : sums) summed.add(column.first, column.second, static_cast<int64_t>(sum));
  summed.time_range(increment.time_from(), increment.time_until());
  summed.timestamp(increment.timestamp()).return_cells(increment.return_cells());
  return set_changing(summed, to, cells);
}

Status to_wire_mutation(const Append& append, const WriteOptions& options, WireMutation& to,
                        std::string& cells) {
  CELLAR_TRY(check_row(append, "append"));
  if (append.empty()) return Status::invalid_argument("an append has no columns");
  CELLAR_TRY(set_common(append, WireMutation::APPEND, options, to));
  const MutationReader reader(append);
  Append joined(append.row());
  std::map<std::pair<std::string_view, std::string_view>, std::string> values;
  for (const MutationPiece& piece : reader.pieces())
    values[{reader.family(piece), reader.qualifier(piece)}] += reader.value(piece);
  for (const auto& [column, value] : values) joined.add(column.first, column.second, value);
  joined.time_range(append.time_from(), append.time_until());
  joined.timestamp(append.timestamp()).return_cells(append.return_cells());
  return set_changing(joined, to, cells);
}

Status to_wire_condition(const CheckAndMutate& check, Condition& to) {
  const CheckReader reader(check);
  if (check.row().empty()) return Status::invalid_argument("a check has an empty row");
  if (!reader.has_column() && reader.filter() == nullptr)
    return Status::invalid_argument("a check has no condition")
        .hinting("use CheckAndMutate::if_equals, or another if_");
  to.set_row(check.row());
  CELLAR_TRY(to_wire_times(reader.time_from(), reader.time_until(), *to.mutable_time_range()));
  if (!reader.has_column()) return to_wire_filter(*reader.filter(), *to.mutable_filter());
  to.set_family(reader.family());
  to.set_qualifier(reader.qualifier());
  to.set_compare(static_cast<Compare>(reader.compare()));
  return to_wire_comparator("binary:" + reader.expected(), *to.mutable_comparator());
}

}  // namespace cellar::hbase::wire
