// MutationReader: what the engine reads of a mutation: its pieces and its tags.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/coding.h"
#include "cellar/mutation.h"

namespace cellar {

// The most bytes that one mutation holds: its row and all its pieces together.
constexpr uint64_t kMutationBytesMax = UINT32_MAX;

// Returns whether a mutation that holds `used` bytes has room for a piece with parts of these sizes.
constexpr bool mutation_has_room(uint64_t used, uint64_t family, uint64_t qualifier, uint64_t value) {
  uint64_t left = kMutationBytesMax;
  for (const uint64_t part : {used, family, qualifier, value}) {
    if (part > left) return false;
    left -= part;
  }
  return true;
}

// MutationPiece: one cell to write, or a marker whose timestamp is looked up (latest_version).
struct MutationPiece {
  uint32_t family_at = 0;  // offsets into the mutation's bytes
  uint32_t qualifier_at = 0;
  uint32_t value_at = 0;
  uint32_t end = 0;
  int64_t timestamp = kNow;
  CellType type = CellType::kPut;
  bool latest_version = false;
};

// A borrowed view of one mutation, which must outlive it.
class MutationReader {
 public:
  explicit MutationReader(const RowMutation& mutation) : mutation_(mutation) {}

  std::span<const MutationPiece> pieces() const { return {mutation_.pieces_, mutation_.pieces_size_}; }
  std::string_view family(const MutationPiece& p) const { return view(p.family_at, p.qualifier_at); }
  std::string_view qualifier(const MutationPiece& p) const { return view(p.qualifier_at, p.value_at); }
  std::string_view value(const MutationPiece& p) const { return view(p.value_at, p.end); }
  // Returns the amount of a piece of an Increment.
  int64_t amount(const MutationPiece& p) const { return static_cast<int64_t>(load_be64(value(p).data())); }
  // Returns whether two pieces name the same column.
  bool same_column(const MutationPiece& a, const MutationPiece& b) const {
    return family(a) == family(b) && qualifier(a) == qualifier(b);
  }
  // Returns the tags of all cells: their time to live, or nothing.
  const std::string& tags() const { return mutation_.tags_; }

 private:
  std::string_view view(uint32_t from, uint32_t to) const {
    return {mutation_.bytes_ + from, to - from};
  }
  const RowMutation& mutation_;
};

}  // namespace cellar
