// Sampler: reads the accounts of the kernel and of the engine.
#include "bench/endurance/sample.h"

#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "bench/driver/meter.h"

namespace cellar::bench::endurance {
namespace {

using Json = nlohmann::ordered_json;

uint64_t own_bytes(const std::string& key) { return account("/proc/self/status", key) * 1024; }

uint64_t entries_of(const char* directory) {
  std::error_code error;
  uint64_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(directory, error))
    count += entry.exists(error) ? 1 : 0;
  return count;
}

Json json_of(const Times::Each& times) {
  Json json;
  for (size_t i = 0; i < times.size(); ++i) {
    const Histogram& each = times[i];
    if (each.total() == 0) continue;
    json[std::string(kOperationNames[i])] = {{"count", each.total()},
                                             {"p50_us", each.quantile(0.5) / 1e3},
                                             {"p99_us", each.quantile(0.99) / 1e3},
                                             {"p999_us", each.quantile(0.999) / 1e3},
                                             {"max_us", static_cast<double>(each.max()) / 1e3}};
  }
  return json;
}

double longest_ms(const Times::Each& times) {
  uint64_t longest = 0;
  for (const Histogram& each : times) longest = std::max(longest, each.max());
  return static_cast<double>(longest) / 1e6;
}

uint64_t count_of(const Times::Each& times) {
  uint64_t count = 0;
  for (const Histogram& each : times) count += each.total();
  return count;
}

void add_process(Json& json) {
  json["resident_bytes"] = own_bytes("VmRSS:");
  json["anonymous_bytes"] = own_bytes("RssAnon:");
  json["peak_resident_bytes"] = own_bytes("VmHWM:");
  json["descriptors"] = entries_of("/proc/self/fd");
  json["threads"] = entries_of("/proc/self/task");
}

void add_memory(Json& json, const EngineStatus& status) {
  json["memory_bytes"] = status.memory_bytes;
  json["memtable_bytes"] = status.memtable_bytes;
  json["memtable_held_bytes"] = status.memtable_held_bytes;
  json["memtable_spare_bytes"] = status.memtable_spare_bytes;
  json["cache_bytes"] = status.cache_used_bytes;
  json["reader_bytes"] = status.reader_bytes;
  json["job_bytes"] = status.job_bytes;
}

void add_space(Json& json, const Run& run, const Metrics& metrics) {
  uint64_t live = run.rows.alive() * run.rows.row_bytes(), runs = 0;
  for (const auto& waiting : run.waiting)
    live += waiting.load(std::memory_order_relaxed) *
            (Run::kEventBytes + kQualifier.size() + sizeof(int64_t) + 18);
  for (const TableInfo& table : metrics.tables) {
    for (const FamilyInfo& family : table.families) runs = std::max(runs, sorted_runs(family));
  }
  const uint64_t disk = bytes_on_disk(run.plan.directory);
  json["live_bytes"] = live;
  json["disk_bytes"] = disk;
  json["store_bytes"] = metrics.status.store_bytes;
  json["log_bytes"] = metrics.status.log_bytes;
  json["files"] = files_below(run.plan.directory);
  json["store_files"] = metrics.status.store_files;
  json["sorted_runs"] = runs;
  json["space_amplification"] = live == 0 ? 0 : static_cast<double>(disk) / static_cast<double>(live);
  json["write_amplification"] = metrics.write_amplification();
  json["bytes_written"] = metrics.bytes_written;
  json["bytes_read"] = metrics.bytes_read;
}

void add_stalls(Json& json, const Metrics& metrics) {
  for (const LatencyMetrics& stall : metrics.stalls)
    json["stalls"][stall.name] = {{"count", stall.count}, {"seconds", stall.sum}, {"max_seconds", stall.max}};
  json["flushes"] = metrics.status.flushes;
  json["compactions"] = metrics.status.compactions;
  json["files_dropped"] = metrics.status.files_dropped;
  json["health"] = metrics.status.health.to_text();
}

}  // namespace

Sampler::Sampler(Run& run) : run_(run), begin_ns_(steady_ns()), last_ns_(begin_ns_) {}

std::string Sampler::sample() {
  const int64_t now = steady_ns();
  Times::Each times{};
  for (const auto& each : run_.times) {
    const Times::Each taken = each->take();
    for (size_t i = 0; i < times.size(); ++i) times[i] += taken[i];
  }
  for (size_t i = 0; i < times.size(); ++i) whole_[i] += times[i];
  Json json = {{"kind", "sample"}, {"seconds", static_cast<double>(now - begin_ns_) / 1e9}};
  json["rate"] =
      static_cast<double>(count_of(times)) * 1e9 / static_cast<double>(std::max<int64_t>(now - last_ns_, 1));
  json["longest_ms"] = longest_ms(times);
  last_ns_ = now;
  const Metrics metrics = run_.engine->metrics();
  add_process(json);
  add_memory(json, metrics.status);
  add_space(json, run_, metrics);
  add_stalls(json, metrics);
  json["scanners"] = metrics.status.scanners;
  json["rows_scanned"] = run_.rows_scanned.load();
  json["operations"] = json_of(times);
  return json.dump();
}

std::string Sampler::end(double reopen_seconds) {
  Json json = {{"kind", "end"}, {"seconds", static_cast<double>(last_ns_ - begin_ns_) / 1e9}};
  json["count"] = count_of(whole_);
  json["longest_ms"] = longest_ms(whole_);
  json["whole_scans"] = run_.whole_scans.load();
  json["rows_scanned"] = run_.rows_scanned.load();
  json["rows_alive"] = run_.rows.alive();
  json["reopen_seconds"] = reopen_seconds;
  json["operations"] = json_of(whole_);
  return json.dump();
}

std::string context_line(const RunPlan& plan) {
  Json json = {{"kind", "context"}};
  json["processor"] = processor();
  json["processors"] = ::sysconf(_SC_NPROCESSORS_ONLN);
  json["rows"] = plan.rows;
  json["value_bytes"] = plan.value_bytes;
  json["seconds"] = plan.seconds;
  json["rate"] = plan.rate;
  json["writers"] = plan.writers;
  json["seed"] = plan.seed;
  json["event_ttl_s"] = plan.event_ttl_s;
  json["cache_bytes"] = plan.engine.cache_bytes;
  json["memtable_bytes_total"] = plan.engine.memtable_bytes_total;
  json["engine_options"] = to_text(plan.engine);
  json["family_options"] = to_text(plan.family);
  return json.dump();
}

}  // namespace cellar::bench::endurance
