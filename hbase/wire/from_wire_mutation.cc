// Makes puts, deletes, increments, appends and conditions of messages.
#include "hbase/wire/from_wire_mutation.h"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "base/bytes.h"
#include "base/coding.h"
#include "hbase/wire/cell_blocks.h"
#include "hbase/wire/client.pb.h"
#include "hbase/wire/filter.pb.h"
#include "hbase/wire/frames.h"
#include "hbase/wire/from_wire_filter.h"

namespace cellar::hbase::wire {
namespace {

constexpr std::string_view kBinaryComparator = "org.apache.hadoop.hbase.filter.BinaryComparator";

// Piece: one cell of a mutation, of the message or of the cell block.
struct Piece {
  std::string_view family;
  std::string_view qualifier;
  std::string_view value;
  int64_t timestamp = kNow;
  CellType type = CellType::kPut;
};

std::optional<std::string_view> attribute_of(const WireMutation& from, std::string_view name) {
  for (const NameBytesPair& each : from.attributes())
    if (each.name() == name) return each.value();
  return std::nullopt;
}

// Returns the time to live that the message sets, or nothing. HBase takes a text of another size for none.
std::optional<int64_t> ttl_of(const WireMutation& from) {
  const std::optional<std::string_view> ttl = attribute_of(from, "_ttl");
  if (!ttl || ttl->size() != sizeof(uint64_t)) return std::nullopt;
  return static_cast<int64_t>(load_be64(ttl->data()));
}

bool returns_cells(const WireMutation& from) {
  const std::optional<std::string_view> wanted = attribute_of(from, "_rr_");
  return !wanted || wanted->size() != 1 || wanted->front() != 0;
}

CellType type_of(WireMutation::DeleteType type) {
  switch (type) {
    case WireMutation::ONE_VERSION:
      return CellType::kDelete;
    case WireMutation::MULTIPLE_VERSIONS:
      return CellType::kDeleteColumn;
    case WireMutation::FAMILY:
      return CellType::kDeleteFamily;
    case WireMutation::FAMILY_VERSION:
      return CellType::kDeleteFamilyVersion;
  }
  return CellType::kDeleteColumn;
}

// Calls take(piece) for each cell of the message, and then for those of the block. `row` becomes the row of
// the mutation.
template <class Take>
Status for_each_piece(const WireMutation& from, CellBlockReader& cells, std::string& row, const Take& take) {
  const auto otherwise = from.has_timestamp() ? static_cast<int64_t>(from.timestamp()) : kNow;
  if (from.associated_cell_count() < 0)
    return Status::invalid_argument("a mutation has a negative number of cells");
  if (from.associated_cell_count() == 0) {
    for (const WireMutation::FamilyValues& family : from.families())
      for (const WireMutation::QualifierValue& value : family.values()) {
        const bool erases = value.has_delete_type() || from.type() == WireMutation::DELETE;
        const auto timestamp = value.has_timestamp() ? static_cast<int64_t>(value.timestamp()) : otherwise;
        CELLAR_TRY(take(Piece{family.family(), value.qualifier(), value.value(), timestamp,
                              erases ? type_of(value.delete_type()) : CellType::kPut}));
      }
    return {};
  }
  for (int32_t left = from.associated_cell_count(); left > 0; --left) {
    CellView cell;
    CELLAR_TRY(cells.next(cell));
    if (row.empty()) row = cell.row();
    if (cell.row() != row)
      return Status::invalid_argument(
          fmt::format("a mutation of row {} has a cell of row {}", escaped(row), escaped(cell.row())));
    CELLAR_TRY(take(Piece{cell.family(), cell.qualifier(), cell.value_bytes(), cell.timestamp, cell.type()}));
  }
  return {};
}

// Returns the row, from the first cell if the message has none: HBase's clients leave it out then.
Result<std::string> row_of_message(const WireMutation& from, const CellBlockReader& cells) {
  std::string row = from.row();
  if (row.empty() && from.associated_cell_count() > 0) {
    CellBlockReader ahead = cells;
    CellView cell;
    CELLAR_TRY(ahead.next(cell));
    row = cell.row();
  }
  return row;
}

Status must_be_put(const Piece& piece, std::string_view what) {
  if (piece.type == CellType::kPut) return {};
  return Status::invalid_argument(
      fmt::format("a cell of the type {} is part of {}", type_name(piece.type), what));
}

Result<RowMutations::Mutation> put_of(const WireMutation& from, std::string row, CellBlockReader& cells) {
  Put put(row);
  const Status read = for_each_piece(from, cells, row, [&](const Piece& piece) {
    CELLAR_TRY(must_be_put(piece, "a put"));
    put.add_at(piece.family, piece.qualifier, piece.timestamp, piece.value);
    return Status();
  });
  CELLAR_TRY(read);
  if (const std::optional<int64_t> ttl = ttl_of(from)) put.ttl_ms(*ttl);
  return RowMutations::Mutation(std::move(put));
}

constexpr size_t kFamilyMarkersMax = 1000;  // each looks through the whole delete

Result<RowMutations::Mutation> delete_of(const WireMutation& from, std::string row, CellBlockReader& cells) {
  Delete erase(row, from.has_timestamp() ? static_cast<int64_t>(from.timestamp()) : kNow);
  size_t families = 0;
  const Status read = for_each_piece(from, cells, row, [&](const Piece& piece) {
    switch (piece.type) {
      case CellType::kDelete:
        if (piece.timestamp == kNow) {
          erase.latest_version(piece.family, piece.qualifier);
        } else {
          erase.version(piece.family, piece.qualifier, piece.timestamp);
        }
        return Status();
      case CellType::kDeleteColumn:
        return erase.column(piece.family, piece.qualifier, piece.timestamp), Status();
      case CellType::kDeleteFamily:
        if (++families > kFamilyMarkersMax)
          return Status::limit(fmt::format("a delete has more than {} families", kFamilyMarkersMax));
        return erase.family(piece.family, piece.timestamp), Status();
      case CellType::kDeleteFamilyVersion:
        return erase.family_version(piece.family, piece.timestamp), Status();
      default:
        return Status::invalid_argument(
            fmt::format("a cell of the type {} is part of a delete", type_name(piece.type)));
    }
  });
  CELLAR_TRY(read);
  return RowMutations::Mutation(std::move(erase));
}

// Sets what increments and appends share.
template <class Mutation>
Status read_result_options(const WireMutation& from, int64_t timestamp, Mutation& mutation) {
  if (from.has_time_range()) {
    const TimeRange& range = from.time_range();
    const auto begin = range.has_from() ? static_cast<int64_t>(range.from()) : 0;
    const auto end = range.has_to() ? static_cast<int64_t>(range.to()) : kLatestTimestamp;
    if (begin < 0 || end < begin)
      return Status::invalid_argument(fmt::format("the time range from {} to {} is invalid", begin, end));
    mutation.time_range(begin, end);
  }
  if (const std::optional<int64_t> ttl = ttl_of(from)) mutation.ttl_ms(*ttl);
  mutation.timestamp(timestamp);
  mutation.return_cells(returns_cells(from));
  return {};
}

Result<RowMutations::Mutation> increment_of(const WireMutation& from, std::string row,
                                            CellBlockReader& cells) {
  Increment increment(row);
  int64_t timestamp = kNow;
  const Status read = for_each_piece(from, cells, row, [&](const Piece& piece) {
    CELLAR_TRY(must_be_put(piece, "an increment"));
    if (piece.value.size() != sizeof(uint64_t))
      return Status::invalid_argument(
          fmt::format("the amount of an increment has 8 bytes, not {}", piece.value.size()));
    increment.add(piece.family, piece.qualifier, static_cast<int64_t>(load_be64(piece.value.data())));
    timestamp = piece.timestamp;
    return Status();
  });
  CELLAR_TRY(read);
  increment.wrap_on_overflow(true);  // as HBase
  CELLAR_TRY(read_result_options(from, timestamp, increment));
  return RowMutations::Mutation(std::move(increment));
}

Result<RowMutations::Mutation> append_of(const WireMutation& from, std::string row, CellBlockReader& cells) {
  Append append(row);
  int64_t timestamp = kNow;
  const Status read = for_each_piece(from, cells, row, [&](const Piece& piece) {
    CELLAR_TRY(must_be_put(piece, "an append"));
    append.add(piece.family, piece.qualifier, piece.value);
    timestamp = piece.timestamp;
    return Status();
  });
  CELLAR_TRY(read);
  CELLAR_TRY(read_result_options(from, timestamp, append));
  return RowMutations::Mutation(std::move(append));
}

Result<WriteOptions> options_of(const WireMutation& from) {
  WriteOptions options;
  switch (from.durability()) {
    case 0:
      return options;
    case 1:
      return options.durability = Durability::kSkipWal, options;
    case 2:
      return options.durability = Durability::kAsyncWal, options;
    case 3:
      return options.durability = Durability::kSyncWal, options;
    case 4:
      return options.durability = Durability::kFsyncWal, options;
    default:
      return Status::invalid_argument(fmt::format("no durability has the number {}", from.durability()));
  }
}

}  // namespace

Result<ReadMutation> from_wire_mutation(const WireMutation& from, CellBlockReader& cells) {
  CELLAR_TRY_ASSIGN(const WriteOptions options, options_of(from));
  CELLAR_TRY_ASSIGN(std::string row, row_of_message(from, cells));
  const auto read = [&]() -> Result<RowMutations::Mutation> {
    switch (from.type()) {
      case WireMutation::APPEND:
        return append_of(from, std::move(row), cells);
      case WireMutation::INCREMENT:
        return increment_of(from, std::move(row), cells);
      case WireMutation::PUT:
        return put_of(from, std::move(row), cells);
      case WireMutation::DELETE:
        return delete_of(from, std::move(row), cells);
    }
    return Status::invalid_argument("a mutation has no known type");
  };
  CELLAR_TRY_ASSIGN(RowMutations::Mutation mutation, read());
  return ReadMutation{std::move(mutation), options, from.nonce()};
}

Status skip_cells(const WireMutation& mutation, CellBlockReader& cells) {
  for (int32_t left = mutation.associated_cell_count(); left > 0; --left) {
    CellView cell;
    CELLAR_TRY(cells.next(cell));
  }
  return {};
}

std::string_view row_of(const RowMutations::Mutation& mutation) {
  return std::visit([](const auto& each) { return each.row(); }, mutation);
}

Result<CheckAndMutate> from_wire_condition(const Condition& from) {
  CheckAndMutate check(from.row());
  if (from.has_time_range()) {
    const TimeRange& range = from.time_range();
    check.time_range(static_cast<int64_t>(range.from()),
                     range.has_to() ? static_cast<int64_t>(range.to()) : kLatestTimestamp);
  }
  if (from.has_filter()) {
    CELLAR_TRY_ASSIGN(FilterPtr filter, from_wire_filter(from.filter()));
    check.if_passes(std::move(filter));
    return check;
  }
  CELLAR_TRY_ASSIGN(const CompareOp op, from_wire_compare(from.compare()));
  if (from.comparator().class_name() != kBinaryComparator)
    return Status::not_supported(
               fmt::format("a condition compares with {}", escaped(from.comparator().class_name())))
        .hinting("conditions compare with BinaryComparator; a condition may also have a filter");
  BytesComparator comparator;
  CELLAR_TRY(parse_message(comparator, from.comparator().message()));
  check.if_matches(from.family(), from.qualifier(), op, comparator.compared().value());
  return check;
}

}  // namespace cellar::hbase::wire
