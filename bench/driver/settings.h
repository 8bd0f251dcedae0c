// Settings: what the command line asks of the driver.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "bench/driver/groups.h"
#include "bench/driver/peer.h"
#include "bench/driver/peer_options.h"

namespace cellar::bench {

struct Settings {
  std::vector<PeerText> peers;
  std::vector<Setting> options;  // of every engine that has them
  std::vector<std::string> workloads = {"*"};
  Amounts amounts;
  uint64_t rounds = 3;
  std::string directory = std::filesystem::temp_directory_path().string();
  std::string json;
  std::string label;
  std::string perf_control;
  bool quick = false;
  bool list = false;
  std::vector<std::string> notes;  // sentences about options that have no effect somewhere

  std::vector<std::string> peer_names() const;
};

// Reads the command line. Returns the exit code if nothing is to be run; a fault was then printed.
std::optional<int> read_settings(int argc, char** argv, Settings& settings);

// Makes an engine with its options. An option of all engines that this one lacks becomes a note. Errors:
// kNotFound for an unknown engine, kInvalidArgument and kNotSupported for an option.
Result<std::unique_ptr<Peer>> make_peer(const PeerText& text, const std::vector<Setting>& options,
                                        std::vector<std::string>& notes);

// Returns the workloads of the group that run.
std::set<std::string> chosen_of(const Settings& settings, const Group& group);

}  // namespace cellar::bench
