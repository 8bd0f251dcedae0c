// CompactionSimulationCommand: `cellar simulate compaction`: policies side by side, without files.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cellar/compaction_policy.h"
#include "tools/frame/arguments.h"
#include "tools/frame/session.h"
#include "tools/simulate/recorded_writes.h"
#include "tools/simulate/simulation.h"

namespace cellar {

// One thread. declare() binds the options to members, run() prints the answer.
class CompactionSimulationCommand {
 public:
  void declare(Arguments& arguments);
  // `trace` is a trace of operations whose writes are the history; empty: the pattern of --writes.
  Status run(Session& session, const std::string& trace);
  // Returns whether none of the options was given.
  bool is_default() const { return texts_ == Texts(); }

 private:
  // The options as they were typed.
  struct Texts {
    std::vector<std::string> policies = {};
    std::string writes = {};
    std::string data = {};
    std::string times = {};
    std::string memtable = "64MiB";
    std::string cell = {};
    std::string table = {};
    std::string resolution = {};
    uint64_t versions = 1;
    std::string ttl = {};
    uint64_t files_stop = 16;
    std::string device = "instant";
    std::string series = {};

    bool operator==(const Texts&) const = default;
  };
  using Named = std::vector<std::pair<std::string, std::unique_ptr<CompactionPolicy>>>;

  Result<Named> make_policies() const;
  // The options of all histories; then those of a pattern, or of a recorded history.
  Status read_options(SimulationOptions& options) const;
  Status read_pattern(SimulationOptions& options, SimulatedPattern& pattern) const;
  Status read_trace(const RecordedHistory& history, SimulationOptions& options) const;
  Status refuse_for_trace() const;

  Texts texts_;
};

}  // namespace cellar
