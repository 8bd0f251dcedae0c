// Mirror: what one table holds, in memory and in each of its files, by the rules of the reference model.
//
// The rules are ModelStore's and ModelTable's; they look at all pairs of cells, so they are asked row by row.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cellar/cellar.h"
#include "tests/metamorphic/operations.h"

namespace cellar::testing {

// A returned row or part of a row.
struct Part {
  Cells cells;  // sequences 0
  bool more = false;
  bool operator==(const Part&) const = default;
};
std::string to_text(const std::vector<Part>& parts);

// A flush or compaction as of its beginning.
struct Rewrite {
  FamilyRules rules;
  ModelRewrite how;
  bool any_snapshot = false;  // also one at the newest read point
};

struct MirrorFamily {
  // A store file.
  struct Run {
    std::string name;
    Cells cells;
    uint64_t run = 0;  // the sorted run that it belongs to; 0: a run of its own
  };
  FamilyRules rules;
  bool rises = false;     // its stamps do
  Cells memory;           // in the order they were written
  std::vector<Run> runs;  // in the order of engine/manifest/file_order.h
};

class Mirror {
 public:
  explicit Mirror(const TableOptions& table);

  MirrorFamily& family(const std::string& name) { return families_.at(name); }
  const std::map<std::string, MirrorFamily>& families() const { return families_; }

  // The cells of one write so far, by mirror: stamps rise above them, too.
  using Written = std::map<const Mirror*, Cells>;

  // The cells that the change would write as the next one of its write, or kInvalidArgument.
  Result<std::map<std::string, Cells>> cells_of(const RowChange& change, int64_t now_ms,
                                                Written& written) const;
  // Cells of equal coordinates and sequence: the last one stays.
  void write(const std::map<std::string, Cells>& cells, uint64_t sequence, bool unlogged);
  // Removes the cells that were written without the log and are still in memory.
  void lose_unlogged();
  // A recovery has written all of memory into those of these files that are no runs yet. Returns the fault of
  // that, or nothing.
  std::optional<std::string> recover(const FamilyInfo& found, const Rewrite& rewrite);

  // The oldest `cells` cells of memory become the youngest run. Returns the fault of that, or nothing.
  std::optional<std::string> flush(const std::string& name, const std::string& file, uint64_t cells_in,
                                   uint64_t cells_out, const Rewrite& rewrite);
  // A foreign file has become the youngest run.
  void ingest(const std::string& name, const std::string& file, Cells cells);
  // Returns the rewrite, extended by the facts that a compaction finds when it begins.
  Rewrite compaction_begins(const CompactionInfo& info, const Rewrite& rewrite) const;
  // The runs of these names become others in their place, or move.
  std::optional<std::string> compact(const CompactionInfo& info, const Rewrite& with);

  // Reads at the snapshot of this sequence see the family as it was `before`.
  void keep(const std::string& name, uint64_t snapshot, const MirrorFamily& before);
  // The snapshot of this sequence is a new one.
  void forget_kept(uint64_t snapshot) { kept_.erase(snapshot); }

  std::vector<Part> get(const std::string& row, const ModelScan& scan, int64_t now_ms) const;
  std::vector<Part> scan(const ModelScan& scan, const std::string& prefix, int64_t now_ms) const;

 private:
  // Returns the rewrite, extended by the facts about cells that take no part in it. These are memory except
  // for its first cells, and the runs that are not named.
  static Rewrite with_outside(const MirrorFamily& family, size_t memory_inside,
                              const std::vector<std::string>& inside, Rewrite rewrite);
  static std::optional<std::vector<MirrorFamily::Run>> take_inputs(MirrorFamily& family,
                                                                   const CompactionInfo& info, size_t& place);
  Cells read_row(const std::string& row, const ModelScan& scan, int64_t now_ms) const;
  int64_t risen(const Cell& cell, int64_t now_ms, const Cells& written) const;

  // Returns the family as the read sees it.
  const MirrorFamily& seen(const std::string& name, const ModelScan& scan) const;

  std::map<std::string, MirrorFamily> families_;
  std::map<uint64_t, std::map<std::string, MirrorFamily>> kept_;  // by sequence of a snapshot
  std::set<uint64_t> unlogged_;                                   // sequences
};

}  // namespace cellar::testing
