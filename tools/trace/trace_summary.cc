// TraceSummary: counts, and the fit of a Zipf distribution.
#include "tools/trace/trace_summary.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <tuple>

namespace cellar {

void RateOverTime::add(int64_t start_ns) {
  auto at = static_cast<size_t>(start_ns / stretch_ns_);
  while (at >= kStretchesMax) {
    for (size_t i = 0; i < counts_.size(); ++i) {
      const uint64_t count = counts_[i];
      counts_[i] = 0;
      counts_[i / 2] += count;
    }
    counts_.resize((counts_.size() + 1) / 2);
    stretch_ns_ *= 2;
    at = static_cast<size_t>(start_ns / stretch_ns_);
  }
  if (at >= counts_.size()) counts_.resize(at + 1);
  ++counts_[at];
}

void RowPopularity::add(const std::string& table, const std::string& row) {
  ++accesses_;
  std::pair<std::string, std::string> key(table, row);
  if (counts_.size() >= kRowsMax && !counts_.contains(key)) {
    ++others_;
    return;
  }
  ++counts_[std::move(key)];
}

std::vector<RowPopularity::Top> RowPopularity::top(size_t count) const {
  std::vector<Top> all;
  const auto before = [](const Top& a, const Top& b) {
    if (a.count != b.count) return a.count > b.count;
    return std::tie(a.table, a.row) < std::tie(b.table, b.row);
  };
  for (const auto& [key, times] : counts_) {
    all.push_back({key.first, key.second, times});
    std::ranges::push_heap(all, before);  // the least frequent is first
    if (all.size() <= count) continue;
    std::ranges::pop_heap(all, before);
    all.pop_back();
  }
  std::ranges::sort(all, before);
  return all;
}

// The derivative of the likelihood in the exponent falls, so that its zero is found by halving.
double RowPopularity::zipf_exponent() const {
  constexpr size_t kLeast = 10;
  std::vector<uint64_t> counts;
  for (const auto& [key, times] : counts_) counts.push_back(times);
  std::ranges::sort(counts, std::greater<>());
  counts.resize(std::min(counts.size(), kFittedMax));
  if (counts.size() < kLeast) return 0;
  double total = 0;
  double logs = 0;
  for (size_t i = 0; i < counts.size(); ++i) {
    total += static_cast<double>(counts[i]);
    logs += static_cast<double>(counts[i]) * std::log(static_cast<double>(i + 1));
  }
  const double wanted = logs / total;  // the mean of log(rank)
  double low = 0;
  double high = 5;
  for (int step = 0; step < 40; ++step) {
    const double exponent = (low + high) / 2;
    double sum = 0;
    double weighted = 0;
    for (size_t i = 0; i < counts.size(); ++i) {
      const double log_rank = std::log(static_cast<double>(i + 1));
      const double weight = std::exp(-exponent * log_rank);
      sum += weight;
      weighted += weight * log_rank;
    }
    (weighted / sum > wanted ? low : high) = exponent;
  }
  return (low + high) / 2;
}

void TraceSummary::add(const TraceOperation& operation) {
  if (operations == 0) first_ns = operation.start_ns;
  first_ns = std::min(first_ns, operation.start_ns);
  last_ns = std::max(last_ns, operation.start_ns + static_cast<int64_t>(operation.duration_ns));
  ++operations;
  ++threads[operation.thread];
  rate.add(operation.start_ns);
  TraceKindSummary& kind = kinds[operation.kind];
  ++kind.operations;
  kind.failed += operation.code != Code::kOk ? 1 : 0;
  kind.in_transactions += operation.in_transaction ? 1 : 0;
  kind.entries += operation.entries.size();
  kind.rows += operation.rows;
  kind.cells += operation.cells;
  kind.bytes += operation.bytes;
  kind.nanoseconds.add(static_cast<int64_t>(operation.duration_ns));
  for (const TraceEntry& entry : operation.entries) add_entry(entry);
  if (operation.kind == TraceKind::kScan) add_scan(operation.scan);
}

void TraceSummary::add_entry(const TraceEntry& entry) {
  popularity.add(entry.table, entry.row.bytes);
  row_bytes.add(entry.row.size);
  const bool reads = entry.kind == TraceEntryKind::kGet || entry.kind == TraceEntryKind::kCheck;
  TraceTableSummary& table = tables[entry.table];
  ++(reads ? table.reads : table.writes);
  for (const TraceColumn& column : entry.columns) {
    TraceFamilySummary& family = families[{entry.table, column.family}];
    ++(reads ? family.columns_read : family.columns_written);
    if (reads || is_delete(column.type)) continue;
    family.bytes_written += column.value_bytes;
    value_bytes.add(static_cast<int64_t>(column.value_bytes));
  }
}

void TraceSummary::add_scan(const TraceScan& scan) {
  ++tables[scan.table].reads;
  if (!scan.start.bytes.empty()) row_bytes.add(scan.start.size);
  for (const TraceColumn& column : scan.columns) ++families[{scan.table, column.family}].columns_read;
}

}  // namespace cellar
