// Read statistics, explained.
#include "tools/read_cost.h"

#include <fmt/format.h>

#include "base/bytes.h"

namespace cellar {

std::string json_member(const ReadStats& stats, int64_t micros) {
  return fmt::format(
      "\"stats\":{{\"memtables\":{},\"files_considered\":{},\"files_skipped_range\":{},\"files_skipped_"
      "time\":{},"
      "\"files_skipped_ttl\":{},\"files_skipped_bloom\":{},\"bloom_checks\":{},\"blocks_from_cache\":{},"
      "\"blocks_from_disk\":{},\"bytes_from_disk\":{},\"cells_examined\":{},\"cells_returned\":{},"
      "\"rows_returned\":{},\"micros\":{}}}",
      stats.memtables, stats.files_considered, stats.files_skipped_range, stats.files_skipped_time,
      stats.files_skipped_ttl, stats.files_skipped_bloom, stats.bloom_checks, stats.blocks_from_cache,
      stats.blocks_from_disk, stats.bytes_from_disk, stats.cells_examined, stats.cells_returned,
      stats.rows_returned, micros);
}

void explain(const Session& session, const ReadStats& stats, int64_t micros) {
  const uint64_t skipped = stats.files_skipped_range + stats.files_skipped_time + stats.files_skipped_ttl +
                           stats.files_skipped_bloom;
  session.talk(fmt::format("  in memory  {} looked into", counted(stats.memtables, "sorted run")));
  session.talk(fmt::format(
      "  files      {}: {} outside the key range, {} outside the time range, {} expired, "
      "{} by Bloom filter, {} searched",
      stats.files_considered, stats.files_skipped_range, stats.files_skipped_time, stats.files_skipped_ttl,
      stats.files_skipped_bloom, stats.files_considered > skipped ? stats.files_considered - skipped : 0));
  session.talk(fmt::format("  blocks     {} from disk ({}), {} from the cache; {} Bloom filters asked",
                           stats.blocks_from_disk, human_bytes(stats.bytes_from_disk),
                           stats.blocks_from_cache, stats.bloom_checks));
  session.talk(fmt::format("  cells      {} examined, {} returned in {}", human_count(stats.cells_examined),
                           human_count(stats.cells_returned), counted(stats.rows_returned, "row")));
  session.talk(fmt::format("  time       {}", human_micros(micros)));
}

}  // namespace cellar
