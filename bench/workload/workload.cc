// Workload: the texts of mixes and lengths, and the workloads that have names.
#include "bench/workload/workload.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "cellar/plugin.h"

namespace cellar::bench {
namespace {

constexpr std::array<std::string_view, kOperations> kNames = {"read",   "update", "rmw",
                                                              "insert", "scan",   "delete"};

std::optional<uint64_t> whole_number(std::string_view text) {
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

Mix mix_of(std::string_view text) { return Mix::parse(text).value(); }

Workload ycsb(const char* letter, const char* about, std::string_view mix, SkewKind skew = SkewKind::kZipf) {
  return {.name = "ycsb_" + std::string(letter), .about = about, .mix = mix_of(mix), .skew = {.kind = skew}};
}

std::vector<Workload> make_workloads() {
  std::vector<Workload> all = {
      ycsb("a", "YCSB's A: half reads, half updates, popular rows first", "read=50,update=50"),
      ycsb("b", "YCSB's B: 95 % reads, 5 % updates, popular rows first", "read=95,update=5"),
      ycsb("c", "YCSB's C: reads, popular rows first", "read=100"),
      ycsb("d", "YCSB's D: 95 % reads of the newest rows, 5 % inserts", "read=95,insert=5",
           SkewKind::kLatest),
      ycsb("e", "YCSB's E: 95 % short scans from popular rows on, 5 % inserts", "scan=95,insert=5"),
      ycsb("f", "YCSB's F: half reads, half reads that are followed by a write", "read=50,rmw=50"),
      {.name = "update_zipf",
       .about = "popular rows are overwritten again and again",
       .mix = mix_of("update=95,read=5"),
       .ops_per_row = 4},
      {.name = "delete_heavy",
       .about = "rows come and go; scans pass the delete markers",
       .mix = mix_of("insert=40,delete=40,read=10,scan=10"),
       .skew = {.kind = SkewKind::kUniform},
       .ops_per_row = 1},
      {.name = "time_series",
       .about = "samples arrive in the order of time, and the newest window of a series is read; older ones "
                "expire",
       .mix = mix_of("insert=90,scan=10"),
       .skew = {.kind = SkewKind::kUniform},
       .shape = Shape::kTimeSeries,
       .ops_per_row = 0.5},
      {.name = "bulk_then_read",
       .about = "reads of rows that were loaded in key order, all rows alike",
       .mix = mix_of("read=100"),
       .skew = {.kind = SkewKind::kUniform}},
      {.name = "mix",
       .about = "half reads, half updates, or as the options say",
       .mix = mix_of("read=50,update=50"),
       .skew = {.kind = SkewKind::kUniform}},
  };
  for (Workload& each : all)
    if (each.mix.percent(Operation::kScan) > 50) each.ops_per_row /= 10;
  return all;
}

}  // namespace

std::string_view operation_name(Operation operation) { return kNames[static_cast<size_t>(operation)]; }

Result<Mix> Mix::parse(std::string_view text) {
  const auto fault = [&](const std::string& why) {
    return Status::invalid_argument("invalid mix \"" + std::string(text) + "\": " + why)
        .hinting("give percentages that sum to 100: read=50,update=30,insert=10,scan=10,rmw=0,delete=0");
  };
  Mix mix;
  mix.percents_ = {};
  std::array<bool, kOperations> seen = {};
  uint64_t sum = 0;
  for (std::string_view rest = text; !rest.empty();) {
    const size_t comma = rest.find(',');
    const std::string_view part = rest.substr(0, comma);
    rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
    const size_t equals = part.find('=');
    if (equals == std::string_view::npos) return fault("\"" + std::string(part) + "\" has no =");
    const auto found = std::ranges::find(kNames, part.substr(0, equals));
    if (found == kNames.end())
      return fault("unknown operation \"" + std::string(part.substr(0, equals)) + "\"");
    const auto index = static_cast<size_t>(found - kNames.begin());
    if (std::exchange(seen[index], true)) return fault(std::string(*found) + " occurs twice");
    const std::optional<uint64_t> percent = whole_number(part.substr(equals + 1));
    if (!percent || *percent > 100) return fault(std::string(*found) + " is no whole number from 0 to 100");
    mix.percents_[index] = static_cast<uint32_t>(*percent);
    sum += *percent;
  }
  if (sum != 100) return fault("the sum is " + std::to_string(sum));
  return mix;
}

std::string Mix::to_text() const {
  std::string text;
  for (size_t i = 0; i < kOperations; ++i) {
    if (percents_[i] == 0) continue;
    text += (text.empty() ? "" : ",") + std::string(kNames[i]) + "=" + std::to_string(percents_[i]);
  }
  return text;
}

Operation Mix::draw(Random& random) const {
  auto dice = static_cast<uint32_t>(random.below(100));
  for (size_t i = 0; i + 1 < kOperations; ++i) {
    if (dice < percents_[i]) return static_cast<Operation>(i);
    dice -= percents_[i];
  }
  return Operation::kDelete;
}

Result<Lengths> Lengths::parse(std::string_view text, uint64_t limit, std::string_view what) {
  constexpr std::string_view kFixed = "fixed:", kUniform = "uniform:";
  std::string_view least = text, most = text;
  if (text.starts_with(kFixed)) least = most = text.substr(kFixed.size());
  if (text.starts_with(kUniform)) {
    const std::string_view both = text.substr(kUniform.size());
    const size_t dash = both.find('-');
    least = both.substr(0, dash);
    most = dash == std::string_view::npos ? std::string_view() : both.substr(dash + 1);
  }
  const std::optional<uint64_t> low = whole_number(least), high = whole_number(most);
  if (!low || !high || *low == 0 || *low > *high || *high > limit) {
    return Status::invalid_argument("invalid " + std::string(what) + " \"" + std::string(text) + "\"")
        .hinting("give fixed:100 or uniform:50-150, with numbers from 1 to " + std::to_string(limit));
  }
  return Lengths{*low, *high};
}

std::string Lengths::to_text() const {
  if (least == most) return "fixed:" + std::to_string(least);
  return "uniform:" + std::to_string(least) + "-" + std::to_string(most);
}

uint64_t Workload::total_ops(uint64_t rows) const {
  const auto by_rows = static_cast<uint64_t>(ops_per_row * static_cast<double>(rows));
  const uint64_t wanted = ops != 0 ? ops : std::max<uint64_t>(by_rows, 100);
  return std::max<uint64_t>(wanted / threads, 1) * threads;
}

std::string Workload::to_text() const {
  std::string text = "mix=" + mix.to_text() + " skew=" + bench::to_text(skew) +
                     " value_bytes=" + value_bytes.to_text() + " scan_length=" + scan_length.to_text() +
                     " threads=" + std::to_string(threads) + " seed=" + std::to_string(seed);
  if (seconds > 0) text += " seconds=" + std::to_string(seconds);
  return text;
}

bool WorkloadChanges::any() const {
  return mix || skew || value_bytes || scan_length || ops || seconds || threads || seed;
}

Workload WorkloadChanges::apply(Workload workload) const {
  workload.mix = mix.value_or(workload.mix);
  workload.skew = skew.value_or(workload.skew);
  workload.value_bytes = value_bytes.value_or(workload.value_bytes);
  workload.scan_length = scan_length.value_or(workload.scan_length);
  workload.ops = ops.value_or(workload.ops);
  workload.seconds = seconds.value_or(workload.seconds);
  workload.threads = threads.value_or(workload.threads);
  workload.seed = seed.value_or(workload.seed);
  return workload;
}

const std::vector<Workload>& known_workloads() {
  static const std::vector<Workload> all = make_workloads();
  return all;
}

Result<Workload> find_workload(std::string_view name) {
  std::vector<std::string> names;
  for (const Workload& each : known_workloads()) {
    if (each.name == name) return each;
    names.push_back(each.name);
  }
  return Status::not_found("unknown workload \"" + std::string(name) + "\"")
      .hinting(nearest_hint(name, names));
}

}  // namespace cellar::bench
