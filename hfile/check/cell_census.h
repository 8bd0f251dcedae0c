// CellCensus: a summary of the cells of a file, for an ingest of the file.
#pragma once

#include <bitset>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "cellar/cell.h"
#include "hfile/format/file_info.h"

namespace cellar {

// Fed with every cell in the file's order, as verify() hands them out.
struct CellCensus {
  uint64_t cells = 0;
  uint64_t puts = 0;
  uint64_t deletes = 0;
  uint64_t family_deletes = 0;
  uint64_t version_deletes = 0;  // Delete and DeleteFamilyVersion
  std::string first_key;         // flat keys
  std::string last_key;
  TimestampRange times;  // as TIMERANGE: with 0 where a marker reaches back
  int64_t earliest_put_ts = INT64_MAX;
  uint64_t sequence_max = 0;
  uint64_t latest_timestamps = 0;               // cells with the timestamp LATEST
  uint64_t tagged = 0;                          // cells with tags
  std::set<std::string, std::less<>> families;  // at most two are kept
  std::bitset<256> tag_types;

  void add(const CellView& cell);
};

// Why a tag of this type cannot be taken over by somebody who does not act on it, or an empty text.
std::string_view tag_objection(uint8_t type);
// The first objection to the tags seen ("visibility labels (tag 2)…"), or an empty text.
std::string tag_objection(const CellCensus& census);

}  // namespace cellar
