// Replays a trace of operations on peers, one after the other, each on a fresh store.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace cellar::bench {

struct ReplaySettings {
  std::string trace;
  std::vector<std::string> peers;
  std::string directory;  // for the stores
  std::string json;       // a file for the lines, in addition to standard output; or empty
  uint64_t rounds = 1;
  double speed = 0;      // 1: as recorded; 0: as fast as possible
  uint32_t threads = 0;  // 0: as recorded
};

// Loads the rows that the trace found and did not write itself, then replays and measures. The order of the
// peers moves on by one each round. Prints a line of JSON for each replay, and a table at the end. Returns
// the exit status of the program: 1 if a trace of one thread read different cells on two peers.
int replay_on_peers(const ReplaySettings& settings);

// Returns whether the arguments of the driver have --replay.
bool is_replay(int argc, const char* const* argv);
// Parses the arguments of a replay and runs it. Returns the exit status of the program.
int replay_main(int argc, char** argv);

}  // namespace cellar::bench
