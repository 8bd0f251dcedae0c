// How an HFile is opened, and how a cursor reads it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "cache/block_cache.h"
#include "cellar/read_stats.h"
#include "hfile/format/format.h"

namespace cellar {

class RowKeeper;

struct HFileReaderOptions {
  std::shared_ptr<BlockCache> cache = nullptr;  // null: blocks live as long as a cursor stands on them
  std::string name = {};                        // for messages and places
  std::optional<uint64_t> sequence_override =
      std::nullopt;  // bulk-loaded files: every cell has this sequence
  // A part of the file as if it were all of it: rows from `start_row` up to but not including `stop_row`. An
  // empty bound is open. Counts, times and filters remain the whole file's.
  std::string start_row = {};
  std::string stop_row = {};
  uint64_t block_payload_bytes_max = kBlockPayloadBytesMax;
  bool in_memory = false;       // the family's cache priority
  bool map_file = false;        // blocks are read in a mapping of the file, if it can be mapped
  bool require_crc32c = false;  // our own files: any other checksum type is corruption
};

struct FileCursorOptions {
  bool fill_cache = true;      // put data blocks that were read into the cache
  bool sequential = false;     // a long walk: read ahead, many blocks per read
  bool backward = false;       // the walk goes from row to row backward: reads ahead that way
  bool holds_file = true;      // false: the owner of the cursor keeps the file open
  ReadStats* stats = nullptr;  // borrowed, may be null
  // The largest number of cells in the first span of a walk (CellCursor::next_span). Later spans are longer.
  // 0: all spans have one cell, for reads of few cells.
  uint32_t span_cells = 0;
  // A read of one row that may keep a slice of it (hfile/block/row_keeper.h), with fill_cache. Borrowed. The
  // cursor then ends its search once the slice is made. Null: no slice.
  RowKeeper* row_keeper = nullptr;
};

}  // namespace cellar
