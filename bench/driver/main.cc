// cellar_driver: whole engines, the same workloads on the same data, one after the other in turns.
//
// Each group of workloads runs on each engine in a process of its own. Memory, processor time and background
// threads are then that engine's alone. A round is all groups once. The order of engines moves on by one each
// round. Every measurement is a line of JSON. Engines that read different things make the run fail.
#include <CLI/CLI.hpp>

#include <fnmatch.h>
#include <sys/utsname.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "bench/driver/groups.h"
#include "bench/driver/peers.h"
#include "bench/driver/replay_peers.h"
#include "bench/driver/report.h"

namespace cellar::bench {
namespace {

struct Settings {
  std::vector<std::string> peers = usual_peers();
  std::vector<std::string> workloads = {"*"};
  Amounts amounts;
  uint64_t rounds = 3;
  std::string directory = std::filesystem::temp_directory_path().string();
  std::string json;
  std::string label;
  std::string perf_control;
  bool quick = false;
  bool list = false;
};

bool chosen(const Settings& settings, const std::string& workload) {
  return std::ranges::any_of(settings.workloads, [&](const std::string& pattern) {
    return fnmatch(pattern.c_str(), workload.c_str(), 0) == 0;
  });
}

std::set<std::string> chosen_of(const Settings& settings, const Group& group) {
  std::set<std::string> names;
  for (const std::string& workload : group.workloads) {
    if (chosen(settings, workload)) names.insert(workload);
  }
  return names;
}

// Runs the process of one engine; lines go to `out`.
void run_group(const Settings& settings, const Group& group, const std::string& peer_name, uint64_t round,
               std::FILE* out) {
  const std::unique_ptr<Peer> peer = make_peer(peer_name);
  const std::string path = settings.directory + "/" + peer_name;
  const std::string version = peer->version();
  Run run(*peer, settings.amounts, path, chosen_of(settings, group),
          [&](const std::string& workload, const std::string& unit, const Sample& sample, double settle) {
            const std::string line = result_line(peer_name, version, workload, unit, round, sample, settle,
                                                 bytes_on_disk(path), peer->run_bytes());
            std::fprintf(out, "%s\n", line.c_str());
            std::fflush(out);
          });
  group.run(run);
  run.remove();
}

// Runs it in a child and collects its lines; whether it came to its end.
bool collect(const Settings& settings, const Group& group, const std::string& peer, uint64_t round,
             const std::function<void(const std::string&)>& take_line) {
  int ends[2];
  if (::pipe(ends) != 0) give_up("cannot create a pipe for a child");
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child < 0) give_up("fork failed");
  if (child == 0) {
    ::close(ends[0]);
    run_group(settings, group, peer, round, ::fdopen(ends[1], "w"));
    std::_Exit(0);
  }
  ::close(ends[1]);
  std::FILE* in = ::fdopen(ends[0], "r");
  char* line = nullptr;
  size_t room = 0;
  for (ssize_t size; (size = ::getline(&line, &room, in)) > 0;)
    take_line(std::string(line, static_cast<size_t>(size) - 1));
  std::free(line);
  std::fclose(in);
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

std::string processor() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  }
  return "unknown";
}

std::string file_system(const std::string& directory) {
  struct statfs found {};
  if (::statfs(directory.c_str(), &found) != 0) return "unknown";
  switch (found.f_type) {
    case 0xef53:
      return "ext4";
    case 0x01021994:
      return "tmpfs";
    case 0x58465342:
      return "xfs";
    case 0x9123683e:
      return "btrfs";
    case 0x794c7630:
      return "overlayfs";
    default:
      return "type " + std::to_string(found.f_type);
  }
}

// The circumstances, as the first line.
std::string context_line(const Settings& settings) {
  utsname system{};
  ::uname(&system);
  nlohmann::ordered_json line;
  line["kind"] = "context";
  line["label"] = settings.label;
  line["n"] = settings.amounts.n;
  line["overwrites"] = settings.amounts.overwrites;
  line["rounds"] = settings.rounds;
  line["peers"] = settings.peers;
  line["processor"] = processor();
  line["processors"] = ::sysconf(_SC_NPROCESSORS_ONLN);
  line["kernel"] = system.release;
  line["file_system"] = file_system(settings.directory);
  line["compiler"] = "g++ " __VERSION__;
  line["block_bytes"] = 16384;
  line["compression"] = "snappy";
  line["bloom_bits"] = 10;
  line["cache_bytes"] = {kLargeCache, kMediumCache, kSmallCache};
  line["memtable_bytes"] = 64u << 20;
  line["durability"] = "survives the end of the process (cellar: sync_wal; others: log without sync)";
  return line.dump();
}

class Driver {
 public:
  explicit Driver(Settings settings) : settings_(std::move(settings)) {
    if (!settings_.json.empty() && (json_ = std::fopen(settings_.json.c_str(), "w")) == nullptr)
      give_up("cannot write " + settings_.json);
  }
  ~Driver() {
    if (json_ != nullptr) std::fclose(json_);
  }
  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;

  int run() {
    print(context_line(settings_));
    for (const std::string& peer : settings_.peers)
      std::fprintf(stderr, "%s: %s\n", peer.c_str(), make_peer(peer)->version().c_str());
    for (uint64_t round = 0; round < settings_.rounds; ++round) {
      for (const Group& group : groups()) run_in_turn(group, round);
    }
    std::filesystem::remove_all(settings_.directory);
    std::fprintf(stderr, "\n%s", table_of(results_, settings_.peers).c_str());
    const std::vector<std::string> wrong = disagreements(results_);
    for (const std::string& sentence : wrong)
      std::fprintf(stderr, "error: the engines read different cells: %s\n", sentence.c_str());
    return failed_ || !wrong.empty() ? 1 : 0;
  }

 private:
  void run_in_turn(const Group& group, uint64_t round) {
    if (chosen_of(settings_, group).empty()) return;
    for (size_t turn = 0; turn < settings_.peers.size(); ++turn) {
      const std::string& peer = settings_.peers[(turn + round) % settings_.peers.size()];
      const bool done = collect(settings_, group, peer, round, [&](const std::string& line) {
        print(line);
        results_.push_back(parse_result(line));
      });
      if (done) continue;
      failed_ = true;
      std::fprintf(stderr, "error: %s did not finish group %s in round %d\n", peer.c_str(),
                   group.name.c_str(), static_cast<int>(round));
    }
  }

  void print(const std::string& line) {
    std::printf("%s\n", line.c_str());
    std::fflush(stdout);
    if (json_ == nullptr) return;
    std::fprintf(json_, "%s\n", line.c_str());
    std::fflush(json_);
  }

  Settings settings_;
  std::FILE* json_ = nullptr;
  std::vector<Result> results_;
  bool failed_ = false;
};

int list_workloads() {
  for (const Group& group : groups()) {
    for (const std::string& workload : group.workloads)
      std::printf("%-12s %s\n", group.name.c_str(), workload.c_str());
  }
  return 0;
}

// Completes the settings. Returns the fault in them, or nothing.
std::string complete(Settings& settings, bool n_given, bool rounds_given) {
  if (settings.quick && !n_given) settings.amounts.n = 100000;
  if (settings.quick && !rounds_given) settings.rounds = 1;
  settings.amounts.n = std::max<uint64_t>(settings.amounts.n / 1000, 2) * 1000;
  if (settings.amounts.n > 500000000) return "--n must be at most 500000000";
  for (const std::string& peer : settings.peers) {
    if (make_peer(peer) == nullptr) return "this build has no engine " + peer;
  }
  const bool any =
      std::ranges::any_of(groups(), [&](const Group& group) { return !chosen_of(settings, group).empty(); });
  return any ? "" : "--workloads matches no workload: see --list";
}

int main_of(int argc, char** argv) {
  Settings settings;
  CLI::App app{"Runs the same workloads on Cellar and on other engines"};
  app.add_option("--peers", settings.peers,
                 "engines; ratios compare the first with the others; also: cellar_leveled, with the "
                 "compaction policy "
                 "leveled, and rocksdb_split, which splits compactions")
      ->delimiter(',')
      ->capture_default_str();
  app.add_option("--workloads", settings.workloads, "names or globs of workloads, such as 'scan*'")
      ->delimiter(',');
  CLI::Option* n =
      app.add_option("--n", settings.amounts.n, "number of rows; a multiple of 1000")->capture_default_str();
  CLI::Option* rounds =
      app.add_option("--rounds", settings.rounds, "number of rounds")->capture_default_str();
  app.add_option("--overwrites", settings.amounts.overwrites,
                 "overwrites of each row, on average, by overwrite_sustained; 1 to 1000")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_option("--dir", settings.directory,
                 "a directory on the disk to measure; the driver creates stores in it and removes them")
      ->capture_default_str();
  app.add_option("--json", settings.json, "a file for the lines, in addition to standard output");
  app.add_option("--label", settings.label, "a label for the context of the lines, such as a commit");
  app.add_option(
      "--perf-control", settings.perf_control,
      "the FIFO of perf record -D -1 --control fifo:FIFO, which then records only the measured stretches");
  app.add_flag("--quick", settings.quick, "100,000 rows, one round");
  app.add_flag("--list", settings.list, "lists the workloads by group");
  CLI11_PARSE(app, argc, argv);
  if (settings.list) return list_workloads();
  if (const std::string wrong = complete(settings, n->count() != 0, rounds->count() != 0); !wrong.empty()) {
    std::fprintf(stderr, "cellar_driver: %s\n", wrong.c_str());
    return 2;
  }
  settings.directory += "/cellar_driver." + std::to_string(::getpid());  // two runs at once stay apart
  std::filesystem::create_directories(settings.directory);
  if (!settings.perf_control.empty()) control_perf(settings.perf_control);
  return Driver(std::move(settings)).run();
}

}  // namespace
}  // namespace cellar::bench

int main(int argc, char** argv) {
  if (cellar::bench::is_replay(argc, argv)) return cellar::bench::replay_main(argc, argv);
  return cellar::bench::main_of(argc, argv);
}
