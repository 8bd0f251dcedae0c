// ReadStats: sums and one line of text.
#include "cellar/read_stats.h"

#include <fmt/format.h>

namespace cellar {

ReadStats& ReadStats::operator+=(const ReadStats& other) {
  memtables += other.memtables;
  files_considered += other.files_considered;
  files_skipped_range += other.files_skipped_range;
  files_skipped_time += other.files_skipped_time;
  files_skipped_ttl += other.files_skipped_ttl;
  files_skipped_bloom += other.files_skipped_bloom;
  bloom_checks += other.bloom_checks;
  blocks_from_cache += other.blocks_from_cache;
  rows_from_cache += other.rows_from_cache;
  blocks_from_disk += other.blocks_from_disk;
  bytes_from_disk += other.bytes_from_disk;
  data_blocks += other.data_blocks;
  cells_examined += other.cells_examined;
  cells_returned += other.cells_returned;
  rows_returned += other.rows_returned;
  rows_scanned += other.rows_scanned;
  rows_filtered += other.rows_filtered;
  return *this;
}

std::string to_text(const ReadStats& s) {
  return fmt::format(
      "files {} (-{} range -{} time -{} ttl -{} bloom), memtables {}, blocks {} disk ({} B) / {} cache, "
      "{} with data, {} cached rows, "
      "cells {} examined / {} returned, rows {} scanned / {} filtered / {} returned",
      s.files_considered, s.files_skipped_range, s.files_skipped_time, s.files_skipped_ttl,
      s.files_skipped_bloom, s.memtables, s.blocks_from_disk, s.bytes_from_disk, s.blocks_from_cache,
      s.data_blocks, s.rows_from_cache, s.cells_examined, s.cells_returned, s.rows_scanned, s.rows_filtered,
      s.rows_returned);
}

}  // namespace cellar
