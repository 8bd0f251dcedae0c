// Replays a trace on peers: the tables and families of the trace become families of the peer's only table.
#include "bench/driver/replay_peers.h"

#include <CLI/CLI.hpp>

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/mutex.h"
#include "bench/driver/peers.h"
#include "cellar/file_system.h"
#include "tools/trace/replay.h"

namespace cellar::bench {
namespace {

constexpr uint64_t kReplayCache = 1u << 30;

// The families of a peer: one for each family of each table of the trace.
class FamilyNames {
 public:
  explicit FamilyNames(const ReplayPlan& plan) {
    for (const auto& [table, families] : plan.tables()) {
      std::vector<std::string>& all = of_table_[table];
      for (const std::string& family : families) all.push_back(add(table, family));
      if (all.empty()) all.push_back(add(table, ""));  // only whole rows were read
    }
  }
  const std::vector<std::string>& of_table(const std::string& table) const { return of_table_.at(table); }
  const std::string& of(const std::string& table, const std::string& family) const {
    return names_.at({table, family});
  }
  std::vector<std::string> all() const {
    std::vector<std::string> names;
    for (const auto& [key, name] : names_) names.push_back(name);
    std::ranges::sort(names);
    return names;
  }

 private:
  const std::string& add(const std::string& table, const std::string& family) {
    return names_[{table, family}] = fmt::format("f{:04}", names_.size());
  }
  std::map<std::pair<std::string, std::string>, std::string> names_;
  std::map<std::string, std::vector<std::string>> of_table_;
};

Keep keep_of(const TraceOperation& operation) {
  switch (operation.durability.value_or(Durability::kSyncWal)) {
    case Durability::kSkipWal:
    case Durability::kAsyncWal:
      return Keep::kNothing;
    case Durability::kSyncWal:
      return Keep::kProcess;
    case Durability::kFsyncWal:
      return Keep::kPower;
  }
  return Keep::kProcess;
}

// Shared by the threads of a replay.
struct PeerStore {
  Peer& peer;
  const FamilyNames& names;
  Mutex work_mutex;
  std::atomic<uint64_t> approximated{0};  // operations that peers can only imitate
};

class PeerTarget final : public ReplayTarget {
 public:
  explicit PeerTarget(PeerStore& store) : store_(store), session_(store.peer.session()) {}

  Status get(const TraceEntry& get, ReplayFound& found) override {
    Tally tally;
    if (get.columns.empty())
      for (const std::string& family : store_.names.of_table(get.table))
        session_->get_row(get.row.bytes, family, tally);
    for (const TraceColumn& column : get.columns) {
      const std::string& family = store_.names.of(get.table, column.family);
      if (column.whole_family) {
        session_->get_row(get.row.bytes, family, tally);
      } else {
        session_->get(get.row.bytes, family, column.qualifier.bytes, tally);
      }
    }
    found.rows += tally.cells != 0 ? 1 : 0;
    found.cells += tally.cells;
    return {};
  }

  // A scan has read so many rows, wherever it was to stop. One that read none is a look at its start.
  Status scan(const TraceScan& in, uint64_t rows, ReplayFound& found) override {
    std::vector<std::string> families;
    for (const TraceColumn& column : in.columns) families.push_back(store_.names.of(in.table, column.family));
    if (families.empty()) families = store_.names.of_table(in.table);
    families.erase(std::ranges::unique(families).begin(), families.end());
    ScanIn scan{.families = families, .limit = std::max<uint64_t>(rows, 1)};
    scan.reversed = (in.flags & kTraceReversed) != 0;
    scan.start = in.start.bytes;
    if ((in.flags & kTracePrefix) != 0) scan.prefix = in.stop.bytes;
    Tally tally;
    session_->scan(scan, tally);
    if (rows == 0) return {};
    found.rows += tally.rows;
    found.cells += tally.cells;
    return {};
  }

  Status write(const TraceOperation& operation, ReplayValues& values, ReplayFound& found) override {
    const Keep keep = keep_of(operation);
    const bool puts = std::ranges::all_of(
        operation.entries, [](const TraceEntry& each) { return each.kind == TraceEntryKind::kPut; });
    if (puts) {
      put_all(operation, values, keep);
      return {};
    }
    if (operation.entries.size() > 1) ++store_.approximated;  // not one write, as it was
    for (const TraceEntry& each : operation.entries) CELLAR_TRY(change(each, values, keep, found));
    return {};
  }

  Status work(const TraceOperation& operation) override {
    const MutexLock lock(store_.work_mutex);
    if (operation.kind == TraceKind::kFlush) {
      store_.peer.flush();
    } else {
      store_.peer.compact();
    }
    return {};
  }

 private:
  void fill(const TraceEntry& entry, ReplayValues& values, std::vector<CellIn>& cells,
            std::vector<std::string>& room) const {
    room.reserve(room.size() + entry.columns.size());
    for (const TraceColumn& column : entry.columns) {
      room.emplace_back(values.next(column.value_bytes));
      cells.push_back({store_.names.of(entry.table, column.family), column.qualifier.bytes, room.back()});
    }
  }

  void put_all(const TraceOperation& operation, ReplayValues& values, Keep keep) {
    std::vector<std::vector<CellIn>> cells(operation.entries.size());
    std::vector<std::vector<std::string>> room(operation.entries.size());
    std::vector<RowIn> rows;
    for (size_t i = 0; i < operation.entries.size(); ++i) {
      fill(operation.entries[i], values, cells[i], room[i]);
      rows.push_back({operation.entries[i].row.bytes, cells[i]});
    }
    if (rows.size() == 1) {
      const TraceEntry& only = operation.entries.front();
      session_->put(rows.front(), keep,
                    only.columns.empty() ? kClock : only.columns[0].timestamp.value_or(kClock));
    } else if (!rows.empty()) {
      session_->put_rows(rows, keep);
    }
  }

  Status change(const TraceEntry& entry, ReplayValues& values, Keep keep, ReplayFound& found) {
    const std::string& row = entry.row.bytes;
    std::vector<CellIn> cells;
    std::vector<std::string> room;
    switch (entry.kind) {
      case TraceEntryKind::kGet:
      case TraceEntryKind::kCheck:
        return get(entry, found);
      case TraceEntryKind::kErase:
        return erase(entry, keep);
      case TraceEntryKind::kIncrement:
        for (const TraceColumn& column : entry.columns)
          session_->increment(row, store_.names.of(entry.table, column.family), column.qualifier.bytes, 1,
                              keep);
        return {};
      case TraceEntryKind::kAppend: {
        ++store_.approximated;  // a read, and a put of what was appended
        ReplayFound ignored;
        CELLAR_TRY(get(entry, ignored));
        break;
      }
      default:
        break;
    }
    fill(entry, values, cells, room);
    if (!cells.empty()) session_->put({row, cells}, keep);
    return {};
  }

  // Peers delete rows. The delete of a column is imitated by a put of an empty value.
  Status erase(const TraceEntry& entry, Keep keep) {
    const bool whole = std::ranges::all_of(
        entry.columns, [](const TraceColumn& column) { return column.type == CellType::kDeleteFamily; });
    std::vector<CellIn> cells;
    if (whole) {
      for (const std::string& family : store_.names.of_table(entry.table)) cells.push_back({family, {}, {}});
      session_->erase_row({entry.row.bytes, cells}, keep);
      return {};
    }
    ++store_.approximated;
    for (const TraceColumn& column : entry.columns)
      cells.push_back({store_.names.of(entry.table, column.family), column.qualifier.bytes, {}});
    session_->put({entry.row.bytes, cells}, keep);
    return {};
  }

  PeerStore& store_;
  std::unique_ptr<Session> session_;
};

struct PeerResult {
  std::string peer;
  uint64_t round = 0;
  ReplayReport report;
  uint64_t approximated = 0;
};

std::string line_of(const PeerResult& result) {
  nlohmann::ordered_json line;
  line["kind"] = "replay";
  line["peer"] = result.peer;
  line["round"] = result.round;
  line["operations"] = result.report.operations;
  line["threads"] = result.report.threads;
  line["seconds"] = result.report.seconds;
  line["recorded_seconds"] = result.report.recorded_seconds;
  line["rows_read"] = result.report.found.rows;
  line["cells_read"] = result.report.found.cells;
  line["recorded_rows_read"] = result.report.recorded.rows;
  line["approximated"] = result.approximated;
  for (const auto& [kind, measured] : result.report.kinds) {
    nlohmann::ordered_json& each = line["kinds"][std::string(trace_kind_name(kind))];
    each["count"] = measured.replayed.size();
    each["p50_ns"] = time_at(measured.replayed, 50);
    each["p99_ns"] = time_at(measured.replayed, 99);
    each["max_ns"] = time_at(measured.replayed, 100);
    each["recorded_p50_ns"] = time_at(measured.recorded, 50);
    each["recorded_p99_ns"] = time_at(measured.recorded, 99);
  }
  return line.dump();
}

// Replays once on a fresh store.
PeerResult replay_on(const ReplaySettings& settings, const ReplayPlan& plan,
                     const std::vector<TraceOperation>& loaded, const std::string& name, uint64_t round) {
  const FamilyNames names(plan);
  const std::unique_ptr<Peer> peer = make_peer(name);
  const std::string path = settings.directory + "/" + name;
  std::filesystem::remove_all(path);
  peer->open({.path = path, .families = names.all(), .cache_bytes = kReplayCache, .create = true});
  PeerStore store{*peer, names, {}, {}};
  PeerResult result{name, round, {}, 0};
  {
    PeerTarget target(store);
    ReplayOptions options{.speed = settings.speed, .threads = settings.threads};
    ReplayValues values(options.seed, options.noise);
    ReplayFound ignored;
    for (const TraceOperation& each : loaded)
      if (!target.write(each, values, ignored).ok()) give_up("a row could not be loaded");
    peer->flush();
    peer->settle();
    store.approximated = 0;
    ::cellar::Result<ReplayReport> report = replay(
        plan, [&] { return std::make_unique<PeerTarget>(store); }, options, machine_replay_clock());
    if (!report.ok()) give_up(report.status().to_text());
    result.report = std::move(report).value();
  }
  result.approximated = store.approximated;
  peer->close();
  std::filesystem::remove_all(path);
  return result;
}

double median_rate(const std::vector<PeerResult>& results, const std::string& peer) {
  std::vector<double> rates;
  for (const PeerResult& each : results)
    if (each.peer == peer) rates.push_back(static_cast<double>(each.report.operations) / each.report.seconds);
  std::ranges::sort(rates);
  const size_t half = rates.size() / 2;
  return rates.size() % 2 == 1 ? rates[half] : (rates[half - 1] + rates[half]) / 2;
}

void print_table(const ReplaySettings& settings, const std::vector<PeerResult>& results) {
  std::fprintf(stderr, "\n%-16s %12s %8s %12s\n", "peer", "ops/s", "ratio", "rows read");
  const double first = median_rate(results, settings.peers.front());
  for (const std::string& peer : settings.peers) {
    const auto last = std::ranges::find(results, peer, &PeerResult::peer);
    const double rate = median_rate(results, peer);
    std::fprintf(stderr, "%-16s %12.0f %8.2f %12llu\n", peer.c_str(), rate, first / rate,
                 static_cast<unsigned long long>(last->report.found.rows));
    if (last->approximated != 0)
      std::fprintf(stderr, "%s imitated %llu operations: see docs/traces.md\n", peer.c_str(),
                   static_cast<unsigned long long>(last->approximated));
  }
}

// Threads of a replay may overtake each other, so only those of one thread must read the same.
bool read_the_same(const std::vector<PeerResult>& results) {
  return std::ranges::all_of(results, [&](const PeerResult& each) {
    return each.report.threads != 1 || each.approximated != 0 ||
           (each.report.found.rows == results.front().report.found.rows &&
            each.report.found.cells == results.front().report.found.cells);
  });
}

}  // namespace

int replay_on_peers(const ReplaySettings& settings) {
  const ::cellar::Result<ReplayPlan> plan = ReplayPlan::load(posix_file_system(), settings.trace, 0);
  if (!plan.ok()) give_up(plan.status().to_text());
  const ::cellar::Result<std::vector<TraceOperation>> loaded = plan->rows_to_load();
  if (!loaded.ok()) give_up(loaded.status().to_text());
  if (plan->items().empty()) give_up("the trace " + settings.trace + " has no operations");
  std::FILE* json = settings.json.empty() ? nullptr : std::fopen(settings.json.c_str(), "w");
  if (!settings.json.empty() && json == nullptr) give_up("cannot write " + settings.json);
  std::vector<PeerResult> results;
  for (uint64_t round = 0; round < settings.rounds; ++round) {
    for (size_t turn = 0; turn < settings.peers.size(); ++turn) {
      const std::string& peer = settings.peers[(turn + round) % settings.peers.size()];
      results.push_back(replay_on(settings, *plan, *loaded, peer, round));
      const std::string line = line_of(results.back());
      std::printf("%s\n", line.c_str());
      std::fflush(stdout);
      if (json != nullptr) std::fprintf(json, "%s\n", line.c_str());
    }
  }
  if (json != nullptr) std::fclose(json);
  print_table(settings, results);
  if (read_the_same(results)) return 0;
  std::fprintf(stderr, "error: the engines read different cells\n");
  return 1;
}

bool is_replay(int argc, const char* const* argv) {
  return std::any_of(argv + 1, argv + argc, [](std::string_view word) {
    return word == "--replay" || word.starts_with("--replay=");
  });
}

int replay_main(int argc, char** argv) {
  ReplaySettings settings;
  settings.peers = usual_peers();
  settings.directory = std::filesystem::temp_directory_path().string();
  CLI::App app{"Replays a trace of operations on Cellar and on other engines"};
  app.add_option("--replay", settings.trace, "the trace (docs/traces.md)")->required();
  app.add_option("--peers", settings.peers, "engines; ratios compare the first with the others")
      ->delimiter(',')
      ->capture_default_str();
  app.add_option("--rounds", settings.rounds, "number of rounds")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_option("--threads", settings.threads, "threads of the replay; 0: as recorded")
      ->check(CLI::Range(0u, kReplayThreadsMax));
  app.add_option("--speed", settings.speed, "1: as recorded; 2: twice as fast; 0: as fast as possible")
      ->check(CLI::Range(0.0, 1000.0));
  app.add_option("--dir", settings.directory, "a directory in which the driver creates and removes stores");
  app.add_option("--json", settings.json, "a file for the lines, in addition to standard output");
  CLI11_PARSE(app, argc, argv);
  for (const std::string& peer : settings.peers) {
    if (make_peer(peer) != nullptr) continue;
    std::fprintf(stderr, "cellar_driver: this build has no engine %s\n", peer.c_str());
    return 2;
  }
  settings.directory += fmt::format("/cellar_driver.{}", ::getpid());
  std::filesystem::create_directories(settings.directory);
  const int exit = replay_on_peers(settings);
  std::filesystem::remove_all(settings.directory);
  return exit;
}

}  // namespace cellar::bench
