// Report: nlohmann::json for the lines, fmt for the table.
#include "bench/driver/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
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

std::vector<std::string> workloads_of(const std::vector<Measurement>& results) {
  std::vector<std::string> names;
  for (const Measurement& result : results) {
    if (std::ranges::find(names, result.workload) == names.end()) names.push_back(result.workload);
  }
  return names;
}

// Amplifications are left out where nothing was written, returned or kept.
void add_bytes(nlohmann::ordered_json& line, const Sample::Bytes& bytes, uint64_t disk_bytes) {
  const auto ratio = [&](const char* name, uint64_t part, uint64_t whole) {
    if (whole != 0) line[name] = static_cast<double>(part) / static_cast<double>(whole);
  };
  line["cell_bytes_put"] = bytes.put;
  line["cell_bytes_returned"] = bytes.returned;
  line["cell_bytes_live"] = bytes.live;
  line["file_bytes_written"] = bytes.to_files;
  if (bytes.from_files) line["file_bytes_read"] = *bytes.from_files;
  line["file_bytes_counted_by"] = bytes.counted_by;
  ratio("write_amplification", bytes.to_files, bytes.put);
  ratio("space_amplification", disk_bytes, bytes.live);
  if (bytes.from_files) ratio("read_amplification", *bytes.from_files, bytes.returned);
}

constexpr std::array kFigures = {
    "p50_us", "p99_us", "p999_us", "write_amplification", "space_amplification", "read_amplification"};

}  // namespace

std::string result_line(const Title& title, const Sample& sample, double settle_seconds, uint64_t disk_bytes,
                        uint64_t run_bytes) {
  const Cost& cost = sample.cost();
  const auto ops = static_cast<double>(sample.ops);
  const double seconds = sample.call_seconds > 0 ? sample.call_seconds : cost.seconds;
  const auto micros = [&](double fraction) { return sample.times.quantile(fraction) / 1e3; };
  nlohmann::ordered_json line;
  line["kind"] = "result";
  line["peer"] = title.peer;
  line["version"] = title.version;
  line["options"] = title.options;
  line["workload"] = title.workload;
  if (!sample.about.empty()) line["about"] = sample.about;
  line["round"] = title.round;
  line["unit"] = title.unit;
  line["ops"] = sample.ops;
  line["seconds"] = seconds;
  line["rate"] = seconds > 0 ? ops / seconds : 0;
  line["rate_settled"] = ops / (seconds + settle_seconds);
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
  if (sample.by_time) line["by_time"] = true;
  if (sample.bytes) add_bytes(line, *sample.bytes, disk_bytes);
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

Measurement parse_result(const std::string& line) {
  const auto json = nlohmann::json::parse(line);
  Measurement result;
  result.peer = json.at("peer");
  result.workload = json.at("workload");
  result.unit = json.at("unit");
  result.round = json.at("round");
  result.ops = json.at("ops");
  result.rate = json.at("rate");
  result.by_time = json.value("by_time", false);
  for (const char* figure : kFigures)
    if (json.contains(figure)) result.figures[figure] = json.at(figure);
  result.read.rows = json.at("rows");
  result.read.cells = json.at("cells");
  result.read.sum = std::stoull(json.at("sum").get<std::string>(), nullptr, 16);
  return result;
}

std::vector<std::string> disagreements(const std::vector<Measurement>& results) {
  std::map<std::string, const Measurement*> first;
  std::vector<std::string> sentences;
  for (const Measurement& result : results) {
    if (result.by_time) continue;
    const Measurement& other = *first.emplace(result.workload, &result).first->second;
    if (other.ops == result.ops && other.read == result.read) continue;
    const auto describe = [](const Measurement& one) {
      return fmt::format("{} in round {}: {} operations, {} rows, {} cells, sum {:016x}", one.peer, one.round,
                         one.ops, one.read.rows, one.read.cells, one.read.sum);
    };
    sentences.push_back(fmt::format("{}: {}; {}", result.workload, describe(other), describe(result)));
  }
  return sentences;
}

std::string table_of(const std::vector<Measurement>& results, const std::vector<std::string>& peers) {
  std::map<std::tuple<std::string, std::string, uint64_t>, double> rate;
  std::map<std::string, std::string> units;
  uint64_t rounds = 0;
  for (const Measurement& result : results) {
    rate[{result.workload, result.peer, result.round}] = result.rate;
    units[result.workload] = result.unit;
    rounds = std::max(rounds, result.round + 1);
  }
  std::string text = fmt::format("{:<20} {:<15}", "workload", "unit");
  const auto width = [](const std::string& title, size_t least) { return std::max(title.size(), least); };
  const auto title_of = [&](const std::string& peer) { return peers[0] + "/" + peer; };
  for (const std::string& peer : peers) text += fmt::format(" {:>{}}", peer, width(peer, 10));
  for (size_t i = 1; i < peers.size(); ++i)
    text += fmt::format(" {:>{}}", title_of(peers[i]), width(title_of(peers[i]), 16));
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
      text += fmt::format(" {:>{}}", rates.empty() ? "-" : short_rate(median(rates)), width(peer, 10));
      if (peer != peers[0])
        ratios += fmt::format(" {:>{}}", quotients.empty() ? "-" : fmt::format("{:.2f}", median(quotients)),
                              width(title_of(peer), 16));
    }
    text += ratios + '\n';
  }
  return text;
}

std::string amplifications_of(const std::vector<Measurement>& results,
                              const std::vector<std::string>& peers) {
  size_t width = 10;
  for (const std::string& peer : peers) width = std::max(width, peer.size());
  std::string text;
  for (const std::string& workload : workloads_of(results)) {
    for (const std::string& peer : peers) {
      std::vector<double> rates;
      std::map<std::string, std::vector<double>> figures;
      for (const Measurement& result : results) {
        if (result.workload != workload || result.peer != peer) continue;
        if (!result.figures.contains("space_amplification")) continue;
        rates.push_back(result.rate);
        for (const auto& [name, figure] : result.figures) figures[name].push_back(figure);
      }
      if (rates.empty()) continue;
      text += fmt::format("{:<16} {:<{}} {:>8}", workload, peer, width, short_rate(median(rates)));
      for (const char* name : kFigures)
        text +=
            fmt::format(" {:>8}", figures[name].empty() ? "-" : fmt::format("{:.2f}", median(figures[name])));
      text += '\n';
    }
  }
  if (text.empty()) return text;
  return fmt::format("{:<16} {:<{}} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8}\n", "workload", "engine", width,
                     "rate", "p50 us", "p99 us", "p99.9 us", "write", "space", "read") +
         text;
}

}  // namespace cellar::bench
