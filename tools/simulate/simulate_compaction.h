// CompactionSimulationCommand: `cellar simulate compaction`: policies side by side, without files.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cellar/compaction_policy.h"
#include "tools/frame/arguments.h"
#include "tools/frame/session.h"
#include "tools/simulate/simulation.h"

namespace cellar {

// One thread. declare() binds the options to members, run() prints the answer.
class CompactionSimulationCommand {
 public:
  void declare(Arguments& arguments);
  Status run(Session& session);
  // Returns whether none of the options was given.
  bool is_default() const { return texts_ == Texts(); }

 private:
  // The options as they were typed.
  struct Texts {
    std::vector<std::string> policies = {};
    std::string writes = "overwrite";
    std::string data = "3GiB";
    std::string times = "10";
    std::string memtable = "64MiB";
    std::string cell = "600";
    uint64_t resolution = 256;
    uint64_t versions = 1;
    std::string ttl = {};
    uint64_t files_stop = 16;
    std::string device = "instant";
    std::string series = {};

    bool operator==(const Texts&) const = default;
  };
  using Named = std::vector<std::pair<std::string, std::unique_ptr<CompactionPolicy>>>;

  Result<Named> make_policies() const;
  Status read_options(SimulationOptions& options, SimulatedPattern& pattern) const;

  Texts texts_;
};

}  // namespace cellar
