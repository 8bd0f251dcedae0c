// Report: nlohmann::json for the lines, fmt for the table.
#include "bench/driver/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

namespace cellar::bench {
namespace {

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::ranges::sort(values);
  const size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

// "187k", "1.29M", "358".
std::string short_rate(double rate) {
  if (rate >= 9.995e5) return fmt::format("{:.2f}M", rate / 1e6);
  if (rate >= 9.995e3) return fmt::format("{:.0f}k", rate / 1e3);
  if (rate >= 999.5) return fmt::format("{:.2f}k", rate / 1e3);
  return fmt::format("{:.0f}", rate);
}

std::vector<std::string> workloads_of(const std::vector<Result>& results) {
  std::vector<std::string> names;
  for (const Result& result : results) {
    if (std::ranges::find(names, result.workload) == names.end()) names.push_back(result.workload);
  }
  return names;
}

}  // namespace

std::string result_line(const std::string& peer, const std::string& version, const std::string& workload,
                        const std::string& unit, uint64_t round, const Sample& sample, double settle_seconds,
                        uint64_t disk_bytes, uint64_t run_bytes) {
  const Cost& cost = sample.cost();
  const auto ops = static_cast<double>(sample.ops);
  const auto micros = [&](double fraction) { return sample.times.quantile(fraction) / 1e3; };
  nlohmann::ordered_json line;
  line["kind"] = "result";
  line["peer"] = peer;
  line["version"] = version;
  line["workload"] = workload;
  line["round"] = round;
  line["unit"] = unit;
  line["ops"] = sample.ops;
  line["seconds"] = cost.seconds;
  line["rate"] = cost.seconds > 0 ? ops / cost.seconds : 0;
  line["rate_settled"] = ops / (cost.seconds + settle_seconds);
  line["calls"] = sample.times.total();
  line["p50_us"] = micros(0.5);
  line["p90_us"] = micros(0.9);
  line["p99_us"] = micros(0.99);
  line["p999_us"] = micros(0.999);
  line["max_us"] = static_cast<double>(sample.times.max()) / 1e3;
  line["cpu_us_per_op"] = ops > 0 ? cost.cpu_seconds * 1e6 / ops : 0;
  line["settle_seconds"] = settle_seconds;
  line["bytes_written"] = cost.bytes_written;
  line["bytes_on_disk"] = disk_bytes;
  line["bytes_of_runs"] = run_bytes;
  line["peak_rss_bytes"] = cost.peak_memory;
  line["foreign_cpu_seconds"] = cost.foreign_seconds;
  if (sample.bytes_live != 0) line["bytes_live"] = sample.bytes_live;
  for (const Sample::Window& each : sample.windows)
    line["windows"].push_back({{"seconds", each.seconds},
                               {"ops", each.ops},
                               {"longest_ms", each.longest_ms},
                               {"bytes_on_disk", each.disk_bytes}});
  line["rows"] = sample.tally.rows;
  line["cells"] = sample.tally.cells;
  line["sum"] = fmt::format("{:016x}", sample.tally.sum);
  return line.dump();
}

Result parse_result(const std::string& line) {
  const auto json = nlohmann::json::parse(line);
  Result result;
  result.peer = json.at("peer");
  result.workload = json.at("workload");
  result.unit = json.at("unit");
  result.round = json.at("round");
  result.ops = json.at("ops");
  result.rate = json.at("rate");
  result.read.rows = json.at("rows");
  result.read.cells = json.at("cells");
  result.read.sum = std::stoull(json.at("sum").get<std::string>(), nullptr, 16);
  return result;
}

std::vector<std::string> disagreements(const std::vector<Result>& results) {
  std::map<std::string, const Result*> first;
  std::vector<std::string> sentences;
  for (const Result& result : results) {
    const Result& other = *first.emplace(result.workload, &result).first->second;
    if (other.ops == result.ops && other.read == result.read) continue;
    const auto describe = [](const Result& one) {
      return fmt::format("{} in round {}: {} operations, {} rows, {} cells, sum {:016x}", one.peer, one.round,
                         one.ops, one.read.rows, one.read.cells, one.read.sum);
    };
    sentences.push_back(fmt::format("{}: {}; {}", result.workload, describe(other), describe(result)));
  }
  return sentences;
}

std::string table_of(const std::vector<Result>& results, const std::vector<std::string>& peers) {
  std::map<std::tuple<std::string, std::string, uint64_t>, double> rate;
  std::map<std::string, std::string> units;
  uint64_t rounds = 0;
  for (const Result& result : results) {
    rate[{result.workload, result.peer, result.round}] = result.rate;
    units[result.workload] = result.unit;
    rounds = std::max(rounds, result.round + 1);
  }
  std::string text = fmt::format("{:<20} {:<15}", "workload", "unit");
  for (const std::string& peer : peers) text += fmt::format(" {:>10}", peer);
  for (size_t i = 1; i < peers.size(); ++i) text += fmt::format(" {:>16}", peers[0] + "/" + peers[i]);
  text += '\n';
  for (const std::string& workload : workloads_of(results)) {
    text += fmt::format("{:<20} {:<15}", workload, units[workload]);
    std::string ratios;
    for (const std::string& peer : peers) {
      std::vector<double> rates, quotients;
      for (uint64_t round = 0; round < rounds; ++round) {
        const auto mine = rate.find({workload, peer, round});
        const auto ours = rate.find({workload, peers[0], round});
        if (mine == rate.end()) continue;
        rates.push_back(mine->second);
        if (ours != rate.end() && mine->second > 0) quotients.push_back(ours->second / mine->second);
      }
      text += fmt::format(" {:>10}", rates.empty() ? "-" : short_rate(median(rates)));
      if (peer != peers[0])
        ratios += fmt::format(" {:>16}", quotients.empty() ? "-" : fmt::format("{:.2f}", median(quotients)));
    }
    text += ratios + '\n';
  }
  return text;
}

}  // namespace cellar::bench
