// SimulatedWrites: patterns made by a seeded generator.
#include "tools/simulate/simulated_writes.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/random.h"
#include "base/zipf.h"
#include "cellar/plugin.h"

namespace cellar {
namespace {

constexpr uint64_t kRowsMax = uint64_t{1} << 31;

// Scatters numbers over all rows: an odd factor makes a permutation.
uint32_t scattered(uint32_t number) { return number * 0x9e3779b1u; }

class PatternWrites final : public SimulatedWrites {
 public:
  explicit PatternWrites(const SimulatedPattern& pattern)
      : pattern_(pattern),
        random_(pattern.seed),
        read_random_(pattern.seed + 1),
        zipf_(pattern.rows * pattern.rows_per_row, pattern.skew),
        grows_(pattern.name == "insert" || pattern.name == "append"),
        ascends_(pattern.name == "append") {}

  SimulatedWrite next() override {
    if (written_ < pattern_.rows) return write(written_++, false);
    const bool marker = pattern_.deletes > 0 && random_.unit() < pattern_.deletes;
    const bool update = grows_ && pattern_.updates > 0 && random_.unit() < pattern_.updates;
    if (grows_ && !marker && !update) return write(written_++, false);
    if (pattern_.name != "zipf") return write(random_.below(written_), marker);
    return write(zipf_(random_) / pattern_.rows_per_row, marker);
  }

  SimulatedWrite next_read() override {
    const bool skewed = pattern_.name == "zipf";
    const uint64_t number =
        skewed ? zipf_(read_random_) / pattern_.rows_per_row : read_random_.below(written_);
    return write(std::min(number, written_ - 1), false);
  }

 private:
  SimulatedWrite write(uint64_t number, bool marker) const {
    const auto low = static_cast<uint32_t>(number);
    return {.number = low, .row = ascends_ ? low : scattered(low), .marker = marker};
  }

  const SimulatedPattern pattern_;
  Random random_;
  Random read_random_;
  Zipf zipf_;
  const bool grows_;
  const bool ascends_;
  uint64_t written_ = 0;  // rows
};

}  // namespace

std::vector<std::string> simulated_patterns() { return {"append", "insert", "overwrite", "zipf"}; }

Result<std::unique_ptr<SimulatedWrites>> make_simulated_writes(const SimulatedPattern& pattern) {
  const std::vector<std::string> names = simulated_patterns();
  if (std::ranges::find(names, pattern.name) == names.end())
    return Status::invalid_argument(fmt::format("unknown pattern of writes \"{}\"; known: {}", pattern.name,
                                                fmt::join(names, ", ")))
        .hinting(nearest_hint(pattern.name, names));
  if (pattern.rows == 0 || pattern.rows > kRowsMax)
    return Status::invalid_argument(
               fmt::format("a simulation of {} rows: it can have from 1 to {}", pattern.rows, kRowsMax))
        .hinting("choose a lower resolution");
  if (!(pattern.skew > 0 && pattern.skew <= 10))
    return Status::invalid_argument(fmt::format("skew {}: it must be above 0 and at most 10", pattern.skew));
  if (!(pattern.deletes >= 0 && pattern.deletes < 1))
    return Status::invalid_argument(
        fmt::format("deletes {}: the part of the writes must be from 0 to below 1", pattern.deletes));
  if (!(pattern.updates >= 0 && pattern.updates <= 1))
    return Status::invalid_argument(
        fmt::format("updates {}: the part of the writes must be from 0 to 1", pattern.updates));
  return {std::make_unique<PatternWrites>(pattern)};
}

}  // namespace cellar
