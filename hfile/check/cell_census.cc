// CellCensus: counting, and what HBase's tags mean.
#include "hfile/check/cell_census.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/coding.h"

namespace cellar {

void CellCensus::add(const CellView& cell) {
  if (cells == 0) first_key = cell.key_bytes();
  last_key = cell.key_bytes();
  ++cells;
  times.min = std::min(times.min, cell.timestamp);
  times.max = std::max(times.max, cell.timestamp);
  sequence_max = std::max(sequence_max, cell.sequence);
  if (cell.timestamp == kLatestTimestamp) ++latest_timestamps;
  if (families.size() < 2 && !families.contains(cell.family())) families.emplace(cell.family());
  if (cell.tags_size != 0) ++tagged;
  for (std::string_view tags = cell.tags_bytes(); tags.size() >= 3;) {
    tag_types.set(static_cast<uint8_t>(tags[2]));
    tags.remove_prefix(std::min<size_t>(tags.size(), size_t{load_be16(tags.data())} + 2));
  }
  if (cell.cell_type == CellType::kPut) {
    ++puts;
    earliest_put_ts = std::min(earliest_put_ts, cell.timestamp);
    return;
  }
  ++deletes;
  if (covers_family(cell.cell_type)) ++family_deletes;
  if (cell.cell_type == CellType::kDeleteColumn || cell.cell_type == CellType::kDeleteFamily) {
    times.min = std::min<int64_t>(times.min, 0);
    times.max = std::max<int64_t>(times.max, 0);
  } else {
    ++version_deletes;
  }
}

std::string_view tag_objection(uint8_t type) {
  switch (type) {
    case 1:
      return "access control lists, which would not be enforced";
    case 2:
    case 4:
    case 7:
      return "visibility labels, which would not be enforced";
    case 5:
    case 6:
      return "values that are stored in other files (MOB)";
    default:
      return {};
  }
}

std::string tag_objection(const CellCensus& census) {
  for (size_t type = 0; type < census.tag_types.size(); ++type) {
    if (!census.tag_types.test(type)) continue;
    const std::string_view objection = tag_objection(static_cast<uint8_t>(type));
    if (!objection.empty()) return fmt::format("tags of type {}: {}", type, objection);
  }
  return {};
}

}  // namespace cellar
