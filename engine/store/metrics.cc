// Metrics: bounds of latencies, and amplification.
#include "cellar/metrics.h"

#include <algorithm>
#include <array>

#include "base/assert.h"

namespace cellar {

std::span<const double> latency_bounds() {
  static constexpr std::array kBounds = {1e-6, 2.5e-6, 5e-6, 1e-5, 2.5e-5, 5e-5, 1e-4, 2.5e-4, 5e-4,
                                         1e-3, 2.5e-3, 5e-3, 1e-2, 2.5e-2, 5e-2, 0.1,  0.25,   0.5,
                                         1.0,  2.5,    5.0,  10.0, 25.0,   50.0, 100.0};
  static_assert(std::ranges::is_sorted(kBounds));
  return kBounds;
}

uint64_t sorted_runs(const FamilyInfo& family) {
  std::vector<uint64_t> runs;
  uint64_t alone = 0;
  for (const StoreFileInfo& file : family.files) {
    if (file.run == 0)
      ++alone;
    else
      runs.push_back(file.run);
  }
  std::ranges::sort(runs);
  // Not std::ranges::unique, whose answer clang 14 cannot take.
  const auto distinct = static_cast<uint64_t>(std::unique(runs.begin(), runs.end()) - runs.begin());
  CELLAR_ASSERT(alone + runs.size() == family.files.size());
  return alone + distinct;
}

double Metrics::write_amplification() const {
  double put = 0;
  double written = 0;
  for (const TableInfo& table : tables)
    for (const FamilyInfo& family : table.families) {
      put += static_cast<double>(family.bytes_put);
      written += static_cast<double>(family.bytes_flushed + family.bytes_compacted);
    }
  return put == 0 ? 0 : (put + written) / put;
}

double Metrics::read_amplification() const {
  uint64_t most = 0;
  for (const TableInfo& table : tables)
    for (const FamilyInfo& family : table.families)
      most = std::max(most, sorted_runs(family) + family.memtables);
  return static_cast<double>(most);
}

double Metrics::space_amplification() const {
  double all = 0;
  double largest_runs = 0;
  for (const TableInfo& table : tables)
    for (const FamilyInfo& family : table.families) {
      std::map<uint64_t, uint64_t> runs;
      uint64_t largest = 0;
      for (const StoreFileInfo& file : family.files) {
        all += static_cast<double>(file.bytes);
        largest = std::max(largest, file.run == 0 ? file.bytes : runs[file.run] += file.bytes);
      }
      largest_runs += static_cast<double>(largest);
    }
  CELLAR_ASSERT(largest_runs <= all);
  return largest_runs == 0 ? 0 : all / largest_runs;
}

}  // namespace cellar
