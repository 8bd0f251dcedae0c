// SimulatedStore: the files of a family without their bytes. Flushes and compactions change it as they change
// a store of the engine.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "cellar/compaction_policy.h"
#include "cellar/status.h"

namespace cellar {

// A cell of a simulated store. It stands for as many cells of a real store as the simulation is coarse.
struct SimulatedCell {
  uint32_t row = 0;      // rows are ordered by this number
  uint32_t marker = 0;   // 1: a delete marker for all older cells of the row
  int64_t stamp_us = 0;  // unique; the greater one was written later
};

struct SimulatedRules {
  uint64_t cell_bytes = 1;     // that a simulated cell occupies in a file
  uint64_t marker_bytes = 1;   // the same of a delete marker, which has no value
  uint64_t file_overhead = 0;  // bytes of a file without cells
  uint32_t versions = 1;
  int64_t ttl_ms = INT64_MAX;
  uint64_t flush_bytes = 0;
  uint32_t files_stop = 16;
};

// One thread.
class SimulatedStore {
 public:
  // A compaction that has begun. Its inputs are busy, and count, until it ends.
  struct Compaction {
    CompactionPlan plan = {};
    uint64_t bytes_in = 0;  // 0 for a plan that moves or drops files
    uint64_t bytes_out = 0;
    int64_t runs_replaced = 0;  // see run_count()
    uint64_t number = 0;
  };
  using Cells = std::vector<SimulatedCell>;

  explicit SimulatedStore(SimulatedRules rules) : rules_(rules) {}

  // Adds the cells of a memtable, in any order, as a file. Returns its size; 0 if all cells were expired or
  // hidden, so that there is no file.
  uint64_t flush(Cells cells, int64_t now_us);
  // Begins a compaction. kInvalidArgument if the plan breaks a rule of all plans, see check_plan(). kBusy
  // if it must wait for a compaction that runs.
  Result<Compaction> begin(const CompactionPlan& plan, int64_t now_us);
  // Puts the output in the place of the inputs. Returns the size of what was written.
  void end(const Compaction& compaction);

  // A get of a row reads the youngest file that has it, as if Bloom filters were always right.
  void read(uint32_t row);

  // Returns the store as policies see it. Valid until the next change.
  StoreShape shape(int64_t now_us) const;
  // Returns how many runs writers count. The inputs of a running compaction count as the run that they
  // become.
  uint64_t run_count() const;
  uint64_t bytes() const { return bytes_; }
  uint64_t files() const { return infos_.size(); }
  // Returns in how many runs a file has `row` between its first and its last one.
  uint64_t runs_of_row(uint32_t row) const;
  // Gives the bytes that the store has grown by since the oldest running compaction began, and the bytes of
  // its inputs. Both are 0 if no compaction runs.
  void backlog(uint64_t& newer, uint64_t& inputs) const;

 private:
  struct Running {
    Compaction compaction;
    std::vector<StoreFileInfo> files;  // the output
    std::vector<Cells> contents;
    std::string first_row;
    std::string last_row;
    uint64_t bytes_begun = 0;
    uint64_t inputs_bytes = 0;
  };
  struct Inputs;

  uint64_t size_of(const SimulatedCell& cell) const {
    return cell.marker != 0 ? rules_.marker_bytes : rules_.cell_bytes;
  }
  Inputs inputs_of(const CompactionPlan& plan) const;
  Cells judged(const Cells& cells, bool final, int64_t now_us) const;
  Cells merged(const Inputs& inputs, bool final, int64_t now_us) const;
  void split(const Cells& cells, bool final, int64_t now_us, Running& running);
  StoreFileInfo info_of(const Cells& cells, int64_t now_us);
  bool is_blocked(const Inputs& inputs, const CompactionPlan& plan) const;

  const SimulatedRules rules_;
  std::vector<StoreFileInfo> infos_;              // in the order of the engine: the oldest run first
  std::unordered_map<uint64_t, Cells> contents_;  // by the id of the file
  std::vector<Running> running_;                  // the oldest first
  uint64_t next_id_ = 1;
  uint64_t next_compaction_ = 1;
  uint64_t changes_ = 1;  // of the files
  uint64_t bytes_ = 0;
};

// Returns a row as files name it: its bytes are ordered as the number.
std::string simulated_row(uint32_t row);

}  // namespace cellar
