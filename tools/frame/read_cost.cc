// Read statistics, explained.
#include "tools/frame/read_cost.h"

#include <fmt/format.h>

#include "base/bytes.h"

namespace cellar {
namespace {

using Outcome = ReadExplanation::Outcome;

// As in the schema.
std::string_view outcome_code(Outcome outcome) {
  switch (outcome) {
    case Outcome::kRead:
      return "read";
    case Outcome::kNoSuchRow:
      return "no_such_row";
    case Outcome::kOutsideKeys:
      return "outside_keys";
    case Outcome::kOutsideTimes:
      return "outside_times";
    case Outcome::kExpired:
      return "expired";
    case Outcome::kBloomFilter:
      return "bloom_filter";
    case Outcome::kNotReached:
      return "not_reached";
  }
  return "";
}

std::string json_of(const ReadExplanation& explanation) {
  std::string text = "\"sources\":[";
  for (const ReadExplanation::Source& source : explanation.sources) {
    text += fmt::format(
        "{}{{\"family\":{},\"file\":{},\"outcome\":\"{}\",\"cells_met\":{},\"cells_taken\":{},"
        "\"blocks_from_cache\":{},\"rows_from_cache\":{},\"blocks_from_disk\":{},\"bytes_from_disk\":{},"
        "\"data_blocks\":{}}}",
        text.ends_with('[') ? "" : ",", json_string(source.family),
        source.name.empty() ? "null" : json_string(source.name), outcome_code(source.outcome),
        source.cells_met, source.cells_taken, source.cost.blocks_from_cache, source.cost.rows_from_cache,
        source.cost.blocks_from_disk, source.cost.bytes_from_disk, source.cost.data_blocks);
  }
  const ReadExplanation::PassedOver& over = explanation.passed_over;
  return text +
         fmt::format(
             "],\"passed_over\":{{\"newer\":{},\"other_column\":{},\"expired\":{},\"cell_expired\":{},"
             "\"markers\":{},\"hidden\":{},\"outside_times\":{},\"overwritten\":{},\"over_versions\":{},"
             "\"filtered\":{},\"rest_of_decided\":{}}}",
             over.newer, over.other_column, over.expired, over.cell_expired, over.markers, over.hidden,
             over.outside_times, over.overwritten, over.over_versions, over.filtered, over.rest_of_decided);
}

// Each source with what it gave or why it was passed over; of each kind the first few.
void talk_of_sources(const Session& session, const ReadExplanation& explanation) {
  constexpr size_t kShown = 12;
  for (const bool read : {true, false}) {
    size_t met = 0;
    for (const ReadExplanation::Source& source : explanation.sources) {
      if ((source.outcome == Outcome::kRead) != read || ++met > kShown) continue;
      const std::string name = source.name.empty() ? "memory of " + source.family : source.name;
      session.talk(
          read ? fmt::format("             {}: {} of {} taken, blocks {} from disk, {} from the cache{}",
                             name, human_count(source.cells_taken), counted(source.cells_met, "cell"),
                             source.cost.blocks_from_disk, source.cost.blocks_from_cache,
                             source.cost.rows_from_cache != 0 ? "; the row was in the cache" : "")
               : fmt::format("             {}: not read: {}", name, outcome_name(source.outcome)));
    }
    if (met > kShown)
      session.talk(fmt::format("             … and {} more{}", met - kShown, read ? "" : " not read"));
  }
}

}  // namespace

std::string json_members(const ReadCost& cost) {
  const ReadStats& stats = cost.stats;
  return fmt::format(
             "\"stats\":{{\"memtables\":{},\"files_considered\":{},\"files_skipped_range\":{},\"files_"
             "skipped_"
             "time\":{},"
             "\"files_skipped_ttl\":{},\"files_skipped_bloom\":{},\"bloom_checks\":{},\"blocks_from_cache\":{"
             "},\"rows_from_cache\":{},"
             "\"blocks_from_disk\":{},\"bytes_from_disk\":{},\"data_blocks\":{},\"cells_examined\":{},"
             "\"cells_returned\":{},"
             "\"rows_returned\":{},\"rows_scanned\":{},\"rows_filtered\":{},\"micros\":{}}}",
             stats.memtables, stats.files_considered, stats.files_skipped_range, stats.files_skipped_time,
             stats.files_skipped_ttl, stats.files_skipped_bloom, stats.bloom_checks, stats.blocks_from_cache,
             stats.rows_from_cache, stats.blocks_from_disk, stats.bytes_from_disk, stats.data_blocks,
             stats.cells_examined, stats.cells_returned, stats.rows_returned, stats.rows_scanned,
             stats.rows_filtered, cost.micros) +
         "," + json_of(cost.explanation);
}

void explain(const Session& session, const ReadCost& cost) {
  const ReadStats& stats = cost.stats;
  const uint64_t skipped = stats.files_skipped_range + stats.files_skipped_time + stats.files_skipped_ttl +
                           stats.files_skipped_bloom;
  session.talk(fmt::format("  in memory  {} looked into", counted(stats.memtables, "sorted run")));
  session.talk(fmt::format(
      "  files      {}: {} outside the key range, {} outside the time range, {} expired, "
      "{} by Bloom filter, {} searched",
      stats.files_considered, stats.files_skipped_range, stats.files_skipped_time, stats.files_skipped_ttl,
      stats.files_skipped_bloom, stats.files_considered > skipped ? stats.files_considered - skipped : 0));
  talk_of_sources(session, cost.explanation);
  session.talk(
      fmt::format("  blocks     {} from disk ({}), {} from the cache, {} of them with data; {} Bloom "
                  "filters asked",
                  stats.blocks_from_disk, human_bytes(stats.bytes_from_disk), stats.blocks_from_cache,
                  stats.data_blocks, stats.bloom_checks));
  if (stats.rows_from_cache != 0)
    session.talk(
        fmt::format("             {} from the cache without a block", counted(stats.rows_from_cache, "row")));
  session.talk(fmt::format("  cells      {} examined, {} returned in {}", human_count(stats.cells_examined),
                           human_count(stats.cells_returned), counted(stats.rows_returned, "row")));
  session.talk("             passed over: " + to_text(cost.explanation.passed_over));
  session.talk(fmt::format("  rows       {} looked at, {} filtered out or with nothing to see",
                           human_count(stats.rows_scanned), human_count(stats.rows_filtered)));
  session.talk(fmt::format("  time       {}", human_micros(cost.micros)));
}

}  // namespace cellar
