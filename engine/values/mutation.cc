// Mutations: pieces of one row, collected in one buffer.
#include "cellar/mutation.h"
#include "base/assert.h"

#include <algorithm>

#include "base/coding.h"
#include "cellar/check_and_mutate.h"

namespace cellar {

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
  std::erase_if(pieces_, [&](const MutationPiece& piece) { return this->family(piece) == family; });
}

void RowMutation::reset(std::string_view row) {
  too_large_ = !mutation_has_room(0, 0, 0, row.size());
  bytes_.assign(too_large_ ? std::string_view() : row);
  row_size_ = bytes_.size();
  CELLAR_ASSERT(row_size_ <= UINT32_MAX);
  pieces_.clear();
  tags_.clear();
}

namespace {

void set_ttl_tag(std::string& tags, int64_t ttl_ms) {
  tags.clear();
  char bytes[8];
  store_be64(bytes, static_cast<uint64_t>(ttl_ms));
  append_tag(tags, kTtlTag, {bytes, sizeof bytes});
  CELLAR_DCHECK(tags.size() == 2 + 1 + sizeof bytes);
}

}  // namespace

Put& Put::ttl_ms(int64_t ttl_ms) { return set_ttl_tag(tags_, ttl_ms), *this; }
Append& Append::ttl_ms(int64_t ttl_ms) { return set_ttl_tag(tags_, ttl_ms), *this; }

Increment& Increment::add(std::string_view family, std::string_view qualifier, int64_t amount) {
  counters_.push_back({std::string(family), std::string(qualifier), amount});
  return *this;
}

Increment& Increment::time_range(int64_t from, int64_t until) { return from_ = from, until_ = until, *this; }

Increment& Increment::ttl_ms(int64_t ttl_ms) { return set_ttl_tag(tags_, ttl_ms), *this; }

CheckAndMutate& CheckAndMutate::if_matches(std::string_view family, std::string_view qualifier,
                                           CompareOp compare, std::string_view expected) {
  condition_ = {std::string(family), std::string(qualifier), compare, std::string(expected)};
  filter_.reset();
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
