// cellar_driver: whole engines, the same workloads on the same data, one after the other in turns.
//
// Each group of workloads runs on each engine in a process of its own. Memory, processor time and background
// threads are then that engine's alone. A round is all groups once. The order of engines moves on by one each
// round. Every measurement is a line of JSON. Engines that read different things make the run fail.
#include <sys/utsname.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "bench/driver/groups.h"
#include "bench/driver/peers.h"
#include "bench/driver/replay_peers.h"
#include "bench/driver/report.h"
#include "bench/driver/settings.h"

namespace cellar::bench {
namespace {

// Runs the process of one engine; lines go to `out`.
void run_group(const Settings& settings, const Group& group, size_t index, uint64_t round, std::FILE* out) {
  const PeerText& text = settings.peers[index];
  std::vector<std::string> notes;  // printed before
  Result<std::unique_ptr<Peer>> made = make_peer(text, settings.options, notes);
  if (!made.ok()) give_up(made.status().to_text());
  Peer& peer = **made;
  const std::string path = settings.directory + "/store" + std::to_string(index);
  Title title = {.peer = text.text, .version = peer.version(), .options = peer.options(), .round = round};
  Run run(peer, settings.amounts, path, chosen_of(settings, group),
          [&](const std::string& workload, const std::string& unit, const Sample& sample, double settle) {
            title.workload = workload;
            title.unit = unit;
            const std::string line =
                result_line(title, sample, settle, bytes_on_disk(path), peer.run_bytes());
            std::fprintf(out, "%s\n", line.c_str());
            std::fflush(out);
          });
  group.run(run);
  run.remove();
}

// Runs it in a child and collects its lines; whether it came to its end.
bool collect(const Settings& settings, const Group& group, size_t peer, uint64_t round,
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
  line["peers"] = settings.peer_names();
  line["processor"] = processor();
  line["processors"] = ::sysconf(_SC_NPROCESSORS_ONLN);
  line["kernel"] = system.release;
  line["file_system"] = file_system(settings.directory);
  line["compiler"] = "g++ " __VERSION__;
  PeerOptions options;
  for (const Setting& each : settings.options) {
    if (!options.set(each.name, each.value).ok()) give_up("the options were not checked");
  }
  line["options"] = options.to_text();
  line["notes"] = settings.notes;
  line["block_bytes"] = options.family().block_bytes;
  line["compression"] = options.family().compression;
  line["bloom_bits"] = 10;
  line["cache_bytes"] = {kLargeCache, kMediumCache, kSmallCache};
  if (options.given("cache_bytes"))
    line["cache_bytes"] = nlohmann::ordered_json::array({options.engine().cache_bytes});
  line["memtable_bytes"] = options.memtable_bytes(64u << 20);
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
    for (const PeerText& peer : settings_.peers)
      std::fprintf(stderr, "%s: %s\n", peer.text.c_str(), make_peer(peer.engine)->version().c_str());
    for (const std::string& note : settings_.notes) std::fprintf(stderr, "note: %s\n", note.c_str());
    for (uint64_t round = 0; round < settings_.rounds; ++round) {
      for (const Group& group : groups()) run_in_turn(group, round);
    }
    std::filesystem::remove_all(settings_.directory);
    std::fprintf(stderr, "\n%s", table_of(results_, settings_.peer_names()).c_str());
    const std::string amplifications = amplifications_of(results_, settings_.peer_names());
    if (!amplifications.empty()) std::fprintf(stderr, "\n%s", amplifications.c_str());
    const std::vector<std::string> wrong = disagreements(results_);
    for (const std::string& sentence : wrong)
      std::fprintf(stderr, "error: the engines read different cells: %s\n", sentence.c_str());
    return failed_ || !wrong.empty() ? 1 : 0;
  }

 private:
  void run_in_turn(const Group& group, uint64_t round) {
    if (chosen_of(settings_, group).empty()) return;
    for (size_t turn = 0; turn < settings_.peers.size(); ++turn) {
      const size_t peer = (turn + round) % settings_.peers.size();
      const bool done = collect(settings_, group, peer, round, [&](const std::string& line) {
        print(line);
        results_.push_back(parse_result(line));
      });
      if (done) continue;
      failed_ = true;
      std::fprintf(stderr, "error: %s did not finish group %s in round %d\n",
                   settings_.peers[peer].text.c_str(), group.name.c_str(), static_cast<int>(round));
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
  std::vector<Measurement> results_;
  bool failed_ = false;
};

int main_of(int argc, char** argv) {
  Settings settings;
  if (const std::optional<int> done = read_settings(argc, argv, settings)) return *done;
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
