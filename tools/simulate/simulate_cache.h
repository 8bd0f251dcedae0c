// CacheSimulationCommand: `cellar simulate cache`: miss ratios of cache policies at several sizes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tools/frame/arguments.h"
#include "tools/frame/session.h"
#include "tools/simulate/cache_simulation.h"

namespace cellar {

// Parses "64m,1g", "1%,5%" and ranges that double, such as "1%..100%"; percentages are parts of
// `distinct_bytes`. Returns the sizes in ascending order, each once. kInvalidArgument names the part that is
// wrong.
Result<std::vector<uint64_t>> parse_cache_sizes(std::string_view text, uint64_t distinct_bytes);

// One thread. declare() binds the options to members, run() prints the answer.
class CacheSimulationCommand {
 public:
  void declare(Arguments& arguments);
  Status run(Session& session, const std::string& trace_path);
  // Returns whether none of the options was given.
  bool is_default() const { return policies_.empty() && sizes_ == kSizes && export_path_.empty(); }

 private:
  struct Answer {
    std::string policy;
    uint64_t capacity_bytes = 0;
    CacheCounts counts;
  };
  Result<std::vector<std::string>> chosen_policies() const;
  Result<std::vector<Answer>> simulate(const CacheTrace& trace, const std::vector<std::string>& policies,
                                       const std::vector<uint64_t>& sizes) const;
  Status write_export(const CacheTrace& trace) const;
  static void talk_of(Session& session, const CacheTrace& trace);
  static void print_table(Session& session, const CacheTrace& trace, const std::vector<Answer>& answers);
  static void print_records(Session& session, const CacheTrace& trace, const std::vector<Answer>& answers);

  std::string policies_;
  static constexpr std::string_view kSizes = "1%..100%";
  std::string sizes_ = std::string(kSizes);
  std::string export_path_;
};

}  // namespace cellar
