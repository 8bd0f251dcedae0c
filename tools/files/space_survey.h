// SpaceSurvey: what the store files of a family are made of: live cells, and cells that a compaction of all
// files would drop, by reason.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cellar/status.h"
#include "engine/manifest/manifest_state.h"

namespace cellar {

enum class SpaceUse : uint8_t {
  kLive,
  kOldVersions,
  kOverwritten,
  kDeleted,
  kMarkers,
  kKeptMarkers,
  kExpired
};
constexpr size_t kSpaceUses = 7;
// Returns "live", "old versions", "overwritten", "deleted", "markers", "kept markers" or "expired".
std::string_view space_use_name(SpaceUse use);

struct SpacePart {
  uint64_t cells = 0;
  uint64_t cell_bytes = 0;  // of keys, values and tags, without compression
  uint64_t bytes = 0;       // of files, in proportion to cell_bytes
};

// The files of one family. The figures are those of the cells that were read. If not all were read, they are
// raised in proportion.
struct FamilySpace {
  std::string table;
  std::string family;
  uint64_t files = 0;
  uint64_t runs = 0;
  uint64_t bytes = 0;       // of the files
  uint64_t cells = 0;       // in the files
  uint64_t cells_read = 0;  // fewer than `cells` if the survey stopped early
  std::array<SpacePart, kSpaceUses> parts = {};
  std::vector<std::string> reasons = {};  // sentences: why the space is still used

  const SpacePart& part(SpaceUse use) const { return parts[static_cast<size_t>(use)]; }
  // Returns the bytes that a compaction of all files would free, about.
  uint64_t reclaimable_bytes() const;
};

// Reads the files of the family from the first row on, up to `cells_max` cells (0: all). It judges each cell
// as a compaction of all files would, at `now_ms`, without open snapshots. Cells of the log are not in it.
// Errors: kCorruption, kIoError; kNotFound if another process has removed a file meanwhile.
Result<FamilySpace> survey_family(const std::string& store, const TableRecord& table,
                                  const FamilyRecord& family, int64_t now_ms, uint64_t cells_max);

}  // namespace cellar
