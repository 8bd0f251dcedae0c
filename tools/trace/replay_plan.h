// ReplayPlan: the operations of a trace in memory, in the order of their start.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "engine/trace/trace_reader.h"

namespace cellar {

// Immutable once it is loaded; any thread. Memory: the records as they were before compression, and 32 bytes
// for each.
class ReplayPlan {
 public:
  struct Item {
    int64_t start_ns = 0;
    uint32_t chunk = 0;
    uint32_t position = 0;  // in the chunk
    uint32_t thread = 0;    // as recorded
    uint32_t row_hash = 0;  // of the first row; equal rows have equal hashes
  };

  // Reads at most `limit` operations; 0: all. Operations that failed when they were recorded are left out.
  static Result<ReplayPlan> load(FileSystem& files, const std::string& path, uint64_t limit);

  const TraceHeader& header() const { return header_; }
  const std::vector<Item>& items() const { return items_; }
  // Fills `operation` with an item.
  Status read(const Item& item, TraceOperation& operation) const {
    return TraceRecords(header_, chunks_[item.chunk]).read_at(item.position, item.start_ns, operation);
  }
  // Returns puts of the rows that gets of the trace found although the trace had not written them. Their
  // values have the sizes that were read. The rows of scans, and of a get_many that found only some, are not
  // known and left out.
  Result<std::vector<TraceOperation>> rows_to_load() const;
  // The tables that occur, each with the families that occur.
  const std::map<std::string, std::set<std::string>>& tables() const { return tables_; }
  // The threads that occur, ascending.
  const std::set<uint32_t>& threads() const { return threads_; }
  uint64_t failed() const { return failed_; }  // operations that were left out
  const TraceEnding& ending() const { return ending_; }

 private:
  Status add_chunk(uint64_t limit);
  void note_names(const TraceOperation& operation);

  TraceHeader header_;
  std::vector<TraceChunk> chunks_;
  std::vector<Item> items_;
  std::map<std::string, std::set<std::string>> tables_;
  std::set<uint32_t> threads_;
  uint64_t failed_ = 0;
  TraceEnding ending_;
};

}  // namespace cellar
