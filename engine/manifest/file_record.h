// FileRecord: what the manifest says of a store file.
#pragma once

#include <cstdint>
#include <string>

namespace cellar {

// A store file, with what can be known of it without opening it.
struct FileRecord {
  std::string name = {};  // store_file_name()
  uint64_t bytes = 0;
  uint64_t cells = 0;
  uint64_t puts = 0;
  uint64_t deletes = 0;          // markers of every kind
  uint64_t family_deletes = 0;   // of them DeleteFamily and DeleteFamilyVersion
  uint64_t version_deletes = 0;  // of them Delete and DeleteFamilyVersion
  std::string first_key = {};    // cell keys in CellView's form
  std::string last_key = {};
  int64_t time_min = 0;
  int64_t time_max = 0;
  int64_t earliest_put = 0;  // smallest timestamp of a put; INT64_MAX without puts
  uint64_t sequence_min = 0;
  uint64_t sequence_max = 0;
  int64_t created_ms = 0;
  uint64_t rewritten_at = 0;  // highest read point its compaction was made for; 0: a flush's
  uint32_t trailer_crc = 0;   // CRC32C of the file from its load-on-open section on
  bool major = false;
  uint64_t adopted_as = 0;  // a foreign file: every cell of it counts as written at this sequence; 0: ours
  // The sorted run that the file belongs to: see file_order.h. 0: a run of its own.
  uint64_t run = 0;
  uint32_t level = 0;            // a label of the run, for compaction policies; 0: of a flush
  std::string encoding = {};     // for people
  std::string compression = {};  // for people

  // Copies the figures of the cells from a writer's HFileSummary or a reader's CellCensus.
  template <class Figures>
  void take_figures(const Figures& of) {
    cells = of.cells;
    puts = of.puts;
    deletes = of.deletes;
    family_deletes = of.family_deletes;
    version_deletes = of.version_deletes;
    first_key = of.first_key;
    last_key = of.last_key;
    time_min = of.times.min;
    time_max = of.times.max;
    earliest_put = of.earliest_put_ts;
  }

  bool operator==(const FileRecord&) const = default;
};

}  // namespace cellar
