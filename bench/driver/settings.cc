// Settings: CLI11 for the options, and their checks before the first store is made.
#include "bench/driver/settings.h"

#include <fnmatch.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>

#include "bench/driver/peers.h"
#include "bench/workload/course.h"
#include "cellar/plugin.h"

namespace cellar::bench {
namespace {

// Options as they were given.
struct Texts {
  std::string peers;
  std::vector<std::string> options;
  std::optional<std::string> cache_policy, cache_bytes, memtable, memtable_bytes;
  std::optional<std::string> mix, skew, value_bytes, scan_length;
};

std::string joined(const std::vector<std::string>& names, const char* between) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : between) + name;
  return text;
}

bool chosen(const Settings& settings, const Group& group, const std::string& workload) {
  return std::ranges::any_of(settings.workloads, [&](const std::string& pattern) {
    return (group.usual || pattern != "*") && fnmatch(pattern.c_str(), workload.c_str(), 0) == 0;
  });
}

void add_run_options(CLI::App& app, Settings& settings) {
  app.add_option("--workloads", settings.workloads, "names or globs of workloads, such as 'scan*'")
      ->delimiter(',');
  app.add_option("--n", settings.amounts.n, "number of rows; a multiple of 1000")->capture_default_str();
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
}

void add_engine_options(CLI::App& app, Texts& texts) {
  const std::string group = "Engines";
  app.add_option(
         "--peers", texts.peers,
         "engines, with commas between them; options of one of them stand in brackets: "
         "'cellar[compaction=leveled(fanout=4),memtable=skip_list],rocksdb[compaction_style="
         "kCompactionStyleUniversal]'. Ratios compare the first with the others. Also: cellar_leveled, with "
         "the compaction policy leveled, and rocksdb_split, which splits compactions")
      ->capture_default_str()
      ->group(group);
  app.add_option("--option", texts.options,
                 "NAME=VALUE, an option of a store or family of Cellar, for all engines that have it; may be "
                 "repeated")
      ->allow_extra_args(false)
      ->group(group);
  app.add_option("--cache-policy", texts.cache_policy, "the same as --option cache_policy=NAME")
      ->group(group);
  app.add_option("--cache-bytes", texts.cache_bytes,
                 "such as 64m: the block cache of every workload, also of those whose names tell its size")
      ->group(group);
  app.add_option("--memtable", texts.memtable, "the same as --option memtable=NAME")->group(group);
  app.add_option("--memtable-bytes", texts.memtable_bytes,
                 "such as 4m: the size at which a memtable is flushed")
      ->group(group);
}

void add_workload_options(CLI::App& app, WorkloadChanges& changes, Texts& texts) {
  const std::string group = "Workloads that check what they read";
  app.add_option(
         "--mix", texts.mix,
         "percentages of read, update, rmw, insert, scan and delete: read=50,update=50. Without --workloads, "
         "the workload mix runs")
      ->group(group);
  app.add_option("--skew", texts.skew, "which rows: uniform, zipf:0.99 or latest")->group(group);
  app.add_option("--value-bytes", texts.value_bytes, "fixed:100 or uniform:50-150")->group(group);
  app.add_option("--scan-length", texts.scan_length, "rows of a scan: fixed:10 or uniform:1-100")
      ->group(group);
  CLI::Option* ops = app.add_option("--ops", changes.ops, "number of operations of each workload")
                         ->check(CLI::PositiveNumber)
                         ->group(group);
  app.add_option("--duration", changes.seconds, "seconds of each workload, instead of a number of operations")
      ->check(CLI::Range(0.001, 86400.0))
      ->excludes(ops)
      ->group(group);
  app.add_option("--threads", changes.threads, "threads, each with its own rows; 1 to 256")
      ->check(CLI::Range(1, 256))
      ->group(group);
  app.add_option("--seed", changes.seed, "the seed of all choices")->group(group);
}

Status read_changes(const Texts& texts, WorkloadChanges& changes) {
  if (texts.mix) {
    CELLAR_TRY_ASSIGN(changes.mix, Mix::parse(*texts.mix));
  }
  if (texts.skew) {
    CELLAR_TRY_ASSIGN(changes.skew, parse_skew(*texts.skew));
  }
  if (texts.value_bytes) {
    CELLAR_TRY_ASSIGN(changes.value_bytes,
                      Lengths::parse(*texts.value_bytes, kValueBytesMax, "--value-bytes"));
  }
  if (texts.scan_length) {
    CELLAR_TRY_ASSIGN(changes.scan_length,
                      Lengths::parse(*texts.scan_length, kScanLengthMax, "--scan-length"));
  }
  return {};
}

Status read_engines(const Texts& texts, Settings& settings) {
  for (const std::string& text : texts.options) {
    CELLAR_TRY_ASSIGN(Setting setting, parse_setting(text));
    settings.options.push_back(std::move(setting));
  }
  const auto shortcut = [&](const char* name, const std::optional<std::string>& value) {
    if (value) settings.options.push_back({name, *value});
  };
  shortcut("cache_policy", texts.cache_policy);
  shortcut("cache_bytes", texts.cache_bytes);
  shortcut("memtable", texts.memtable);
  shortcut("memtable_bytes", texts.memtable_bytes);
  // Cellar knows the names; an engine that lacks one of them says so later.
  PeerOptions known;
  for (const Setting& each : settings.options) CELLAR_TRY(known.set(each.name, each.value));
  CELLAR_TRY_ASSIGN(settings.peers, parse_peers(texts.peers));
  for (const PeerText& peer : settings.peers)
    CELLAR_TRY(make_peer(peer, settings.options, settings.notes).status());
  return {};
}

// The options of workloads apply to some workloads alone. The notes name the others.
Status choose_workloads(Settings& settings, bool workloads_given) {
  const WorkloadChanges& changes = settings.amounts.changes;
  if (changes.any() && !workloads_given) {
    settings.workloads.clear();
    for (const Group& group : groups()) {
      if (!group.checked || group.usual == changes.mix.has_value()) continue;
      settings.workloads.insert(settings.workloads.end(), group.workloads.begin(), group.workloads.end());
    }
    settings.notes.push_back("only workloads that take the given options run: " +
                             joined(settings.workloads, ", "));
  }
  std::vector<std::string> others;
  bool any = false;
  for (const Group& group : groups()) {
    const std::set<std::string> names = chosen_of(settings, group);
    any = any || !names.empty();
    if (changes.any() && !group.checked) others.insert(others.end(), names.begin(), names.end());
  }
  if (!any) return Status::not_found("--workloads matches no workload").hinting("--list names the workloads");
  if (!others.empty())
    settings.notes.push_back("the options of mix, choice, sizes, time and threads have no effect on: " +
                             joined(others, ", "));
  for (const Workload& each : known_workloads()) {
    const auto group = std::ranges::find_if(groups(), [&](const Group& one) {
      return std::ranges::find(one.workloads, each.name) != one.workloads.end();
    });
    if (group != groups().end() && chosen_of(settings, *group).contains(each.name))
      CELLAR_TRY(Course::fits(changes.apply(each)));
  }
  return {};
}

Status complete(const CLI::App& app, const Texts& texts, Settings& settings) {
  if (settings.quick && app.count("--n") == 0) settings.amounts.n = 100000;
  if (settings.quick && app.count("--rounds") == 0) settings.rounds = 1;
  settings.amounts.n = std::max<uint64_t>(settings.amounts.n / 1000, 2) * 1000;
  if (settings.amounts.n > 500000000) return Status::invalid_argument("--n must be at most 500000000");
  CELLAR_TRY(read_changes(texts, settings.amounts.changes));
  CELLAR_TRY(read_engines(texts, settings));
  return choose_workloads(settings, app.count("--workloads") != 0);
}

int list_workloads() {
  for (const Group& group : groups()) {
    for (const std::string& workload : group.workloads)
      std::printf("%-15s %s\n", group.name.c_str(), workload.c_str());
  }
  return 0;
}

}  // namespace

std::vector<std::string> Settings::peer_names() const {
  std::vector<std::string> names;
  for (const PeerText& peer : peers) names.push_back(peer.text);
  return names;
}

std::optional<int> read_settings(int argc, char** argv, Settings& settings) {
  CLI::App app{"Runs the same workloads on Cellar and on other engines"};
  Texts texts;
  texts.peers = joined(usual_peers(), ",");
  add_run_options(app, settings);
  add_engine_options(app, texts);
  add_workload_options(app, settings.amounts.changes, texts);
  CLI11_PARSE(app, argc, argv);
  if (settings.list) return list_workloads();
  const Status status = complete(app, texts, settings);
  if (status.ok()) return std::nullopt;
  std::fprintf(stderr, "cellar_driver: %s\n", status.to_text().c_str());
  return 2;
}

Result<std::unique_ptr<Peer>> make_peer(const PeerText& text, const std::vector<Setting>& options,
                                        std::vector<std::string>& notes) {
  std::unique_ptr<Peer> peer = make_peer(text.engine);
  if (peer == nullptr) {
    const std::string hint = nearest_hint(text.engine, peer_names());
    return Status::not_found("this build has no engine \"" + text.engine + "\"")
        .hinting(hint.empty() ? "it has " + joined(peer_names(), ", ") : hint);
  }
  for (const Setting& each : options) {
    const Status status = peer->set(each.name, each.value);
    if (status.code() == Code::kNotSupported) {
      notes.push_back(text.text + " runs without " + each.name + "=" + each.value +
                      ", which it does not have");
    } else {
      CELLAR_TRY(status);
    }
  }
  for (const Setting& each : text.settings) CELLAR_TRY(peer->set(each.name, each.value));
  return peer;
}

std::set<std::string> chosen_of(const Settings& settings, const Group& group) {
  std::set<std::string> names;
  for (const std::string& workload : group.workloads) {
    if (chosen(settings, group, workload)) names.insert(workload);
  }
  return names;
}

}  // namespace cellar::bench
