// CompactionSimulationCommand: options become a simulation, and its figures records.
#include "tools/simulate/simulate_compaction.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/plugins.h"
#include "cellar/compaction_policy.h"
#include "cellar/file_system.h"
#include "tools/frame/operands.h"
#include "tools/frame/progress.h"
#include "tools/simulate/simulation.h"

namespace cellar {
namespace {

constexpr uint64_t kKeyBytes = 40;  // of a cell without its value, such as a delete marker
constexpr uint64_t kCellsPerMemtableMax = 1 << 20;
constexpr const char* kResolution = "256";
constexpr const char* kWrites = "overwrite";
constexpr const char* kData = "3GiB";
constexpr const char* kCell = "600";

std::string or_default(const std::string& text, const char* otherwise) {
  return text.empty() ? otherwise : text;
}

// The text after --writes. make_simulated_writes() checks the values, except the reads.
Result<SimulatedPattern> parse_writes(const std::string& text, double& reads) {
  CELLAR_TRY_ASSIGN(const PluginParams params, PluginParams::parse(text));
  SimulatedPattern pattern;
  pattern.name = params.name();
  if (pattern.name == "zipf") pattern.skew = params.number("skew", pattern.skew);
  if (pattern.name == "insert" || pattern.name == "append") pattern.updates = params.number("updates", 0);
  pattern.deletes = params.number("deletes", 0);
  reads = params.number_within("reads", 0, 0, 1000);
  pattern.seed = params.count("seed", 1);
  CELLAR_TRY(params.finish());
  return pattern;
}

// The text after --device.
Result<SimulatedDevice> parse_device(const std::string& text) {
  CELLAR_TRY_ASSIGN(const PluginParams params, PluginParams::parse(text));
  SimulatedDevice device;
  if (params.name() == "instant") {
    CELLAR_TRY(params.finish());
    return device;
  }
  if (params.name() != "disk")
    return Status::invalid_argument(
               fmt::format("unknown device \"{}\"; known: instant, disk(write=400MiB, …)", params.name()))
        .hinting(nearest_hint(params.name(), {"instant", "disk"}));
  const auto rate = [&](std::string_view key, double otherwise) {
    const uint64_t bytes = params.bytes(key, static_cast<uint64_t>(otherwise));
    if (bytes == 0) params.complain(key, "a rate above 0");
    return static_cast<double>(bytes);
  };
  device.instant = false;
  device.write_rate = rate("write", device.write_rate);
  device.read_rate = rate("read", device.read_rate);
  device.merge_rate = rate("merge", device.merge_rate);
  device.put_rate = rate("put", device.put_rate);
  device.threads = params.count_within("threads", device.threads, 1, 64);
  device.cores = params.count_within("cores", device.cores, 1, 1024);
  CELLAR_TRY(params.finish());
  return device;
}

Result<double> number_of(const std::string& name, const std::string& text, double least) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0' || !(value >= least && value <= 1e9))
    return Status::invalid_argument(
        fmt::format("{}: invalid number \"{}\"; it must be from {} to 1000000000", name, text, least));
  return value;
}

void add(Records& records, const std::string& name, const SimulationResult& result, bool timed,
         int64_t micros) {
  records.text("policy", name);
  records.fraction("write", result.write_amplification).fraction("space", result.space_amplification);
  records.fraction("space_peak", result.space_peak).fraction("runs", result.runs_mean);
  records.count("runs_most", result.runs_most).count("files", result.files_end);
  records.count("compactions", result.compactions).count("moves", result.moves).count("drops", result.drops);
  records.size("debt_most", result.debt_most);
  const auto part = [](uint64_t amount, uint64_t of) {
    return of == 0 ? 0 : static_cast<double>(amount) / static_cast<double>(of);
  };
  records.fraction("read", part(result.bytes_read, result.bytes_put));
  records.size("compaction_mean",
               static_cast<uint64_t>(part(result.bytes_read + result.bytes_compacted, result.compactions)));
  records.size("compaction_most", result.compaction_most);
  records.fraction("markers", part(result.markers_end, result.deletes));
  records.fraction("marker_age_s", result.marker_age_seconds);
  if (timed) {
    records.fraction("stalled_s", result.stalled_seconds).fraction("longest_stall_s", result.longest_stall);
    records.fraction("slowed_s", result.slowed_seconds);
    const double rate = result.seconds > 0 ? static_cast<double>(result.bytes_put) / result.seconds : 0;
    records.size("put_per_s", static_cast<uint64_t>(rate));
  }
  records.count("flushes", result.flushes).micros(micros).add();
}

// Lines as the benchmark driver's, which cellar plot reads.
void write_series(std::ofstream& to, const std::string& name, const SimulationResult& result) {
  for (const SimulationSample& at : result.series) {
    const nlohmann::ordered_json line = {{"kind", "result"},
                                         {"workload", "simulate"},
                                         {"peer", name},
                                         {"policy", name},
                                         {"seconds", at.seconds},
                                         {"bytes_put", at.bytes_put},
                                         {"write", at.write_amplification},
                                         {"space", at.space_amplification},
                                         {"runs", at.runs},
                                         {"run_count", at.run_count},
                                         {"files", at.files},
                                         {"debt_bytes", at.debt_bytes},
                                         {"put_per_s", at.put_rate}};
    to << line.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace) << '\n';
  }
}

}  // namespace

void CompactionSimulationCommand::declare(Arguments& arguments) {
  arguments
      .option_list("--policy", texts_.policies, "POLICY",
                   "a compaction policy; can be repeated; default: all of them")
      .option("--writes", texts_.writes, "WRITES",
              "overwrite, zipf(skew=0.99), insert or append(updates=0), after the load; each takes "
              "deletes=0, reads=0 and seed=1 (overwrite)")
      .option("--data", texts_.data, "SIZE", "bytes of cells that are loaded first, each row once (3GiB)")
      .option("--times", texts_.times, "FACTOR",
              "bytes put, in multiples of the data (10) or of the TRACE (1)")
      .option("--table", texts_.table, "TABLE", "with a TRACE: the table whose writes count")
      .option("--memtable-bytes", texts_.memtable, "SIZE", "size at which memtables are flushed (64MiB)")
      .option("--cell-bytes", texts_.cell, "SIZE", "size of a cell: it gives the number of rows (600)")
      .option("--resolution", texts_.resolution, "COUNT", "simulated cells in a memtable (256)")
      .option_count("--versions", texts_.versions, "versions that are kept (1)")
      .option("--ttl", texts_.ttl, "DURATION", "time to live; the time is that of the device (none)")
      .option_count("--files-stop", texts_.files_stop, "sorted runs at which writers wait (16)")
      .option("--device", texts_.device, "DEVICE",
              "disk(write=400MiB, read=800MiB, merge=250MiB, put=200MiB, threads=2, cores=2), per second; "
              "instant: nothing takes time (instant)")
      .option("--series", texts_.series, "FILE", "write the store over time to FILE, for cellar plot");
}

Status CompactionSimulationCommand::run(Session& session, const std::string& trace) {
  SimulationOptions options;
  SimulatedPattern pattern;
  RecordedHistory history;
  CELLAR_TRY(read_options(options));
  if (trace.empty()) {
    CELLAR_TRY(read_pattern(options, pattern));
  } else {
    CELLAR_TRY(refuse_for_trace());
    CELLAR_TRY_ASSIGN(history, read_recorded_history(posix_file_system(), trace, texts_.table));
    CELLAR_TRY(read_trace(history, options));
  }
  CELLAR_TRY_ASSIGN(const auto policies, make_policies());
  std::ofstream series;
  if (!texts_.series.empty()) {
    series.open(texts_.series, std::ios::binary | std::ios::trunc);
    if (!series) return Status::io_error("cannot be created").at(texts_.series);
  }
  Records records(session.out(), session.format(), "cellar.simulate/1", "policies");
  Progress progress(session, "simulate", options.bytes_put * policies.size());
  uint64_t done = 0;
  for (const auto& [name, policy] : policies) {
    std::unique_ptr<SimulatedWrites> writes;
    if (trace.empty()) {
      CELLAR_TRY_ASSIGN(writes, make_simulated_writes(pattern));
    } else {
      writes = make_recorded_writes(history);
    }
    const int64_t begun_us = progress.micros();
    const auto shown = [&, at = name](uint64_t put) {
      progress.show({.done = done + put,
                     .total = options.bytes_put * policies.size(),
                     .unit = Progress::Unit::kBytes,
                     .at = at});
      return !session.stopping();
    };
    Result<SimulationResult> result = simulate(*policy, *writes, options, shown);
    if (session.stopping()) return interrupted_status("the policies that were done are printed");
    if (!result.ok()) return result.status().with_context(name);
    done += options.bytes_put;
    add(records, name, *result, !options.device.instant, progress.micros() - begun_us);
    if (series.is_open()) write_series(series, name, *result);
  }
  records.finish();
  if (!series.is_open()) return {};
  series.close();
  return series ? Status() : Status::io_error("could not be written").at(texts_.series);
}

Result<CompactionSimulationCommand::Named> CompactionSimulationCommand::make_policies() const {
  register_compaction_plugins();
  std::vector<std::string> texts = texts_.policies;
  if (texts.empty()) {
    texts = Registry<CompactionPolicy>::instance().names();
    std::erase(texts, "none");
  }
  Named policies;
  for (const std::string& text : texts) {
    CELLAR_TRY_ASSIGN(std::unique_ptr<CompactionPolicy> policy,
                      for_argument("--policy", Registry<CompactionPolicy>::instance().make(text)));
    policies.emplace_back(text, std::move(policy));
  }
  return policies;
}

Status CompactionSimulationCommand::read_options(SimulationOptions& options) const {
  CELLAR_TRY_ASSIGN(options.memtable_bytes, for_argument("--memtable-bytes", parse_size(texts_.memtable)));
  CELLAR_TRY_ASSIGN(options.device, for_argument("--device", parse_device(texts_.device)));
  if (!texts_.ttl.empty()) {
    CELLAR_TRY_ASSIGN(options.ttl_ms, for_argument("--ttl", parse_duration_ms(texts_.ttl)));
  }
  if (texts_.versions == 0 || texts_.versions > INT32_MAX || texts_.files_stop == 0 ||
      texts_.files_stop > 100000)
    return Status::invalid_argument(
        "--versions and --files-stop must be at least 1, and --files-stop at "
        "most 100000");
  options.versions = static_cast<uint32_t>(texts_.versions);
  options.files_stop = static_cast<uint32_t>(texts_.files_stop);
  options.files_slow = std::max<uint32_t>(1, options.files_stop * 3 / 4);
  return {};
}

Status CompactionSimulationCommand::read_pattern(SimulationOptions& options,
                                                 SimulatedPattern& pattern) const {
  if (!texts_.table.empty())
    return Status::invalid_argument("--table is for a trace of operations")
        .hinting("simulate compaction TRACE");
  const std::string writes = or_default(texts_.writes, kWrites);
  CELLAR_TRY_ASSIGN(pattern, for_argument("--writes", parse_writes(writes, options.reads)));
  CELLAR_TRY_ASSIGN(const uint64_t data, for_argument("--data", parse_size(or_default(texts_.data, kData))));
  CELLAR_TRY_ASSIGN(const uint64_t cell,
                    for_argument("--cell-bytes", parse_size(or_default(texts_.cell, kCell))));
  CELLAR_TRY_ASSIGN(const double times, number_of("--times", or_default(texts_.times, "10"), 0));
  CELLAR_TRY_ASSIGN(const double wanted,
                    number_of("--resolution", or_default(texts_.resolution, kResolution), 0));
  const auto resolution = static_cast<uint64_t>(wanted);
  if (resolution == 0 || resolution > kCellsPerMemtableMax || cell == 0 ||
      options.memtable_bytes / resolution == 0)
    return Status::invalid_argument(
               fmt::format("--resolution {}: a memtable of {} bytes has at least 1 and at most {} cells",
                           resolution, options.memtable_bytes,
                           std::min(kCellsPerMemtableMax, options.memtable_bytes)))
        .hinting("a cell of --cell-bytes has at least 1 byte");
  const uint64_t simulated_cell = options.memtable_bytes / resolution;
  options.cells_per_memtable = resolution;
  options.marker_bytes = std::max<uint64_t>(1, simulated_cell * std::min(kKeyBytes, cell) / cell);
  pattern.rows = std::max<uint64_t>(1, data / simulated_cell);
  pattern.rows_per_row = std::max<uint64_t>(1, simulated_cell / cell);
  options.bytes_skipped = pattern.rows * simulated_cell;
  const double put = static_cast<double>(options.bytes_skipped) * (1 + times);
  if (put > 1e18) return Status::invalid_argument("--times: the history has more than 10^18 bytes");
  options.bytes_put = static_cast<uint64_t>(put);
  return {};
}

Status CompactionSimulationCommand::refuse_for_trace() const {
  const std::pair<const char*, bool> own[] = {{"--writes", !texts_.writes.empty()},
                                              {"--data", !texts_.data.empty()},
                                              {"--cell-bytes", !texts_.cell.empty()},
                                              {"--resolution", !texts_.resolution.empty()}};
  for (const auto& [name, given] : own)
    if (given)
      return Status::invalid_argument(fmt::format("{} has no meaning with a trace: it decides that", name));
  return {};
}

// A simulated cell is a write of the trace, or stands for as many as were not recorded.
Status CompactionSimulationCommand::read_trace(const RecordedHistory& history,
                                               SimulationOptions& options) const {
  const uint64_t cell = history.write_bytes() * history.sample;
  options.cells_per_memtable = options.memtable_bytes / cell;
  if (options.cells_per_memtable == 0 || options.cells_per_memtable > kCellsPerMemtableMax)
    return Status::invalid_argument(
        fmt::format("--memtable-bytes {}: a memtable must have from 1 to {} writes of {} bytes",
                    options.memtable_bytes, kCellsPerMemtableMax, cell));
  CELLAR_TRY_ASSIGN(const double times, number_of("--times", or_default(texts_.times, "1"), 0));
  const double put =
      static_cast<double>(history.writes * (options.memtable_bytes / options.cells_per_memtable)) * times;
  if (put < 1 || put > 1e18)
    return Status::invalid_argument("--times: the history must have from 1 to 10^18 bytes");
  options.bytes_put = static_cast<uint64_t>(put);
  return {};
}

}  // namespace cellar
