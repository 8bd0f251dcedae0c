// Mutations: pieces of one row, collected in one buffer.
#include "cellar/mutation.h"

#include <algorithm>

#include "base/assert.h"
#include "base/coding.h"
#include "cellar/check_and_mutate.h"
#include "engine/values/mutation_reader.h"

namespace cellar {
namespace {

constexpr size_t kRoomForPieces = 64;  // a small cell is added without another allocation

}  // namespace

RowMutation::RowMutation(std::string_view row) { reset(row); }
RowMutation::RowMutation(const RowMutation& other) = default;
RowMutation::RowMutation(RowMutation&& other) noexcept = default;
RowMutation& RowMutation::operator=(const RowMutation& other) = default;
RowMutation& RowMutation::operator=(RowMutation&& other) noexcept = default;
RowMutation::~RowMutation() = default;

size_t RowMutation::size() const { return pieces_.size(); }

std::vector<Cell> RowMutation::cells() const {
  const MutationReader reader(*this);
  std::vector<Cell> cells;
  cells.reserve(pieces_.size());
  for (const MutationPiece& piece : pieces_) {
    Cell& cell = cells.emplace_back(std::string(row()), std::string(reader.family(piece)),
                                    std::string(reader.qualifier(piece)), piece.timestamp, piece.type,
                                    std::string(reader.value(piece)));
    cell.tags = tags_;
  }
  return cells;
}

void RowMutation::add_piece(std::string_view family, std::string_view qualifier, std::string_view value,
                            int64_t timestamp, CellType type, bool latest_version) {
  if (!mutation_has_room(bytes_.size(), family.size(), qualifier.size(), value.size())) {
    too_large_ = true;  // the offsets of a piece have 32 bits
    return;
  }
  MutationPiece piece;
  piece.family_at = static_cast<uint32_t>(bytes_.size());
  bytes_.append(family);
  piece.qualifier_at = static_cast<uint32_t>(bytes_.size());
  bytes_.append(qualifier);
  piece.value_at = static_cast<uint32_t>(bytes_.size());
  bytes_.append(value);
  piece.end = static_cast<uint32_t>(bytes_.size());
  piece.timestamp = timestamp;
  piece.type = type;
  piece.latest_version = latest_version;
  CELLAR_DCHECK(piece.family_at >= row_size_ && piece.end == bytes_.size());
  pieces_.push_back(piece);
}

void RowMutation::remove_family(std::string_view family) {
  const MutationReader reader(*this);
  std::erase_if(pieces_, [&](const MutationPiece& piece) { return reader.family(piece) == family; });
}

void RowMutation::reset(std::string_view row) {
  too_large_ = !mutation_has_room(0, 0, 0, row.size());
  if (!too_large_) bytes_.reserve(row.size() + kRoomForPieces);
  bytes_.assign(too_large_ ? std::string_view() : row);
  row_size_ = bytes_.size();
  CELLAR_ASSERT(row_size_ <= UINT32_MAX);
  pieces_.clear();
  tags_.clear();
}

void RowMutation::set_ttl_ms(int64_t ttl_ms) {
  tags_.clear();
  char bytes[8];
  store_be64(bytes, static_cast<uint64_t>(ttl_ms));
  append_tag(tags_, kTtlTag, {bytes, sizeof bytes});
  CELLAR_DCHECK(tags_.size() == 2 + 1 + sizeof bytes);
}

Increment& Increment::add(std::string_view family, std::string_view qualifier, int64_t amount) {
  char bytes[8];
  store_be64(bytes, static_cast<uint64_t>(amount));
  add_piece(family, qualifier, {bytes, sizeof bytes}, kNow, CellType::kPut, false);
  return *this;
}

CheckAndMutate& CheckAndMutate::if_matches(std::string_view family, std::string_view qualifier,
                                           CompareOp compare, std::string_view expected) {
  has_column_ = true;
  family_ = family;
  qualifier_ = qualifier;
  compare_ = compare;
  expected_ = expected;
  filter_.reset();
  return *this;
}

CheckAndMutate& CheckAndMutate::if_passes(FilterPtr filter) {
  has_column_ = false;
  filter_ = std::move(filter);
  return *this;
}

CheckAndMutate& CheckAndMutate::if_stored(std::string_view family, std::string_view qualifier,
                                          CompareOp compare, std::string_view value) {
  const auto mirrored = [&] {
    switch (compare) {
      case CompareOp::kLess:
        return CompareOp::kGreater;
      case CompareOp::kLessOrEqual:
        return CompareOp::kGreaterOrEqual;
      case CompareOp::kGreaterOrEqual:
        return CompareOp::kLessOrEqual;
      case CompareOp::kGreater:
        return CompareOp::kLess;
      default:
        return compare;
    }
  };
  return if_matches(family, qualifier, mirrored(), value);
}

}  // namespace cellar
