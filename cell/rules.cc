// Rules: the functions that need more than a comparison.
#include "cell/rules.h"

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

}  // namespace cellar
