// Mutations: pieces of one row, collected in one buffer.
#include "cellar/mutation.h"

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <utility>

#include "base/assert.h"
#include "base/coding.h"
#include "base/recycled.h"
#include "cellar/check_and_mutate.h"
#include "engine/values/mutation_reader.h"

namespace cellar {
namespace {

constexpr size_t kRoomForParts = 64;  // a small cell is added without another allocation

static_assert(std::is_trivially_copyable_v<MutationPiece>);

}  // namespace

// The block of memory that a mutation had before. New parts may be copies from it.
struct RowMutation::Memory {
  Memory() = default;
  Memory(MutationPiece* block, size_t pieces, size_t bytes)
      : block_(block), bytes_(pieces * sizeof(MutationPiece) + bytes) {}
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  ~Memory() {
    if (block_ != nullptr) RecycledBytes::give_back(block_, bytes_);
  }

 private:
  MutationPiece* const block_ = nullptr;
  const size_t bytes_ = 0;
};

RowMutation::RowMutation(std::string_view row) { reset(row); }
RowMutation::RowMutation(const RowMutation& other) { copy(other); }
RowMutation::RowMutation(RowMutation&& other) noexcept { *this = std::move(other); }
RowMutation::~RowMutation() { const Memory last(pieces_, pieces_room_, bytes_room_); }

RowMutation& RowMutation::operator=(const RowMutation& other) {
  if (this != &other) copy(other);
  return *this;
}

RowMutation& RowMutation::operator=(RowMutation&& other) noexcept {
  std::swap(pieces_, other.pieces_);
  std::swap(bytes_, other.bytes_);
  std::swap(pieces_size_, other.pieces_size_);
  std::swap(pieces_room_, other.pieces_room_);
  std::swap(bytes_size_, other.bytes_size_);
  std::swap(bytes_room_, other.bytes_room_);
  std::swap(row_size_, other.row_size_);
  std::swap(tags_, other.tags_);
  std::swap(too_large_, other.too_large_);
  return *this;
}

void RowMutation::copy(const RowMutation& other) {
  tags_ = other.tags_;  // first, since memory may be refused: a constructor would lose the block
  if (pieces_room_ < other.pieces_size_ || bytes_room_ < other.bytes_size_) {
    pieces_size_ = bytes_size_ = row_size_ = 0;
    const Memory before = take_room(other.pieces_size_, other.bytes_size_);
  }
  if (other.pieces_size_ > 0) std::memcpy(pieces_, other.pieces_, other.pieces_size_ * sizeof *pieces_);
  if (other.bytes_size_ > 0) std::memcpy(bytes_, other.bytes_, other.bytes_size_);
  pieces_size_ = other.pieces_size_;
  bytes_size_ = other.bytes_size_;
  row_size_ = other.row_size_;
  too_large_ = other.too_large_;
}

// Sees to it that so many pieces and bytes have room together with those that are there. Both rooms double at
// once, because pieces and bytes move together.
RowMutation::Memory RowMutation::make_room(size_t pieces, size_t bytes) {
  pieces += pieces_size_;
  bytes += bytes_size_;
  if (pieces <= pieces_room_ && bytes <= bytes_room_) return {};
  return take_room(std::max(pieces, 2 * pieces_room_), std::max(bytes, 2 * bytes_room_));
}

// Moves to other memory, with room for so many pieces and bytes at least.
RowMutation::Memory RowMutation::take_room(size_t pieces, size_t bytes) {
  CELLAR_ASSERT(pieces >= pieces_size_ && bytes >= bytes_size_);
  const size_t of_pieces = pieces * sizeof(MutationPiece);
  size_t size = of_pieces + bytes;
  auto* const memory = static_cast<char*>(RecycledBytes::take_whole(size));
  if (pieces_size_ > 0) std::memcpy(memory, pieces_, pieces_size_ * sizeof *pieces_);
  if (bytes_size_ > 0) std::memcpy(memory + of_pieces, bytes_, bytes_size_);
  bytes_ = memory + of_pieces;
  return {std::exchange(pieces_, reinterpret_cast<MutationPiece*>(memory)),
          std::exchange(pieces_room_, pieces), std::exchange(bytes_room_, size - of_pieces)};
}

std::vector<Cell> RowMutation::cells() const {
  const MutationReader reader(*this);
  std::vector<Cell> cells;
  cells.reserve(pieces_size_);
  for (const MutationPiece& piece : reader.pieces()) {
    Cell& cell = cells.emplace_back(std::string(row()), std::string(reader.family(piece)),
                                    std::string(reader.qualifier(piece)), piece.timestamp, piece.type,
                                    std::string(reader.value(piece)));
    cell.tags = tags_;
  }
  return cells;
}

void RowMutation::add_piece(std::string_view family, std::string_view qualifier, std::string_view value,
                            int64_t timestamp, CellType type, bool latest_version) {
  if (!mutation_has_room(bytes_size_, family.size(), qualifier.size(), value.size())) {
    too_large_ = true;  // the offsets of a piece have 32 bits
    return;
  }
  const Memory before = make_room(1, family.size() + qualifier.size() + value.size());
  const auto append = [this](std::string_view part) {
    const size_t at = bytes_size_;
    if (!part.empty()) std::memcpy(bytes_ + at, part.data(), part.size());
    bytes_size_ += part.size();
    return static_cast<uint32_t>(at);
  };
  MutationPiece piece;
  piece.family_at = append(family);
  piece.qualifier_at = append(qualifier);
  piece.value_at = append(value);
  piece.end = static_cast<uint32_t>(bytes_size_);
  piece.timestamp = timestamp;
  piece.type = type;
  piece.latest_version = latest_version;
  CELLAR_DCHECK(piece.family_at >= row_size_ && bytes_size_ <= bytes_room_);
  pieces_[pieces_size_++] = piece;
}

void RowMutation::remove_family(std::string_view family) {
  const MutationReader reader(*this);
  const auto end = std::remove_if(pieces_, pieces_ + pieces_size_,
                                  [&](const MutationPiece& piece) { return reader.family(piece) == family; });
  pieces_size_ = static_cast<size_t>(end - pieces_);
}

void RowMutation::reset(std::string_view row) {
  too_large_ = !mutation_has_room(0, 0, 0, row.size());
  if (too_large_) row = {};
  pieces_size_ = bytes_size_ = row_size_ = 0;
  const bool fits = pieces_room_ > 0 && row.size() <= bytes_room_;
  const Memory before = fits ? Memory() : take_room(1, row.size() + kRoomForParts);
  if (!row.empty()) std::memmove(bytes_, row.data(), row.size());  // it may be the row that is there
  bytes_size_ = row_size_ = row.size();
  CELLAR_ASSERT(row_size_ <= UINT32_MAX);
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
