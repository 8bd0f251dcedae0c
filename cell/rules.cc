// Rules: the functions that need more than a comparison.
#include "cell/rules.h"

#include "base/assert.h"
#include "base/coding.h"

namespace cellar {

bool cell_ttl_over(const CellView& cell, int64_t now_ms) {
  if (cell.tags_size == 0) [[likely]]
    return false;
  std::string_view ttl;
  if (!find_tag(cell.tags_bytes(), kTtlTag, ttl) || ttl.size() != 8) return false;
  int64_t until = 0;
  if (__builtin_add_overflow(cell.timestamp, static_cast<int64_t>(load_be64(ttl.data())), &until))
    return false;
  return until < now_ms;
}

std::string_view drop_name(Drop drop) {
  switch (drop) {
    case Drop::kKeep:
      return "kept";
    case Drop::kExpired:
      return "expired";
    case Drop::kCellTtl:
      return "cell expired";
    case Drop::kMasked:
      return "deleted";
    case Drop::kDuplicate:
      return "overwritten";
    case Drop::kVersions:
      return "over the version limit";
    case Drop::kMarker:
      return "delete marker no longer needed";
  }
  CELLAR_ASSERT(!"every Drop has a name");
  return "unknown";
}

}  // namespace cellar
