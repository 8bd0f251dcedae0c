// ReadExplanation: sums and text.
#include "cellar/explanation.h"
#include "base/assert.h"

#include <fmt/format.h>

#include <array>
#include <utility>

namespace cellar {
namespace {

using PassedOver = ReadExplanation::PassedOver;

constexpr std::array kReasons = {
    std::pair{&PassedOver::newer, "newer than the read"},
    std::pair{&PassedOver::other_column, "in other columns"},
    std::pair{&PassedOver::expired, "expired with their family"},
    std::pair{&PassedOver::cell_expired, "expired by their own time to live"},
    std::pair{&PassedOver::markers, "delete markers"},
    std::pair{&PassedOver::hidden, "hidden by markers"},
    std::pair{&PassedOver::outside_times, "outside the time range"},
    std::pair{&PassedOver::overwritten, "overwritten"},
    std::pair{&PassedOver::over_versions, "older versions"},
    std::pair{&PassedOver::filtered, "refused by the filter"},
    std::pair{&PassedOver::rest_of_decided, "in decided rows or columns"},
};

}  // namespace

PassedOver& PassedOver::operator+=(const PassedOver& other) {
  for (const auto& [reason, text] : kReasons) this->*reason += other.*reason;
  return *this;
}

std::string_view outcome_name(ReadExplanation::Outcome outcome) {
  switch (outcome) {
    case ReadExplanation::Outcome::kRead:
      return "read";
    case ReadExplanation::Outcome::kNoSuchRow:
      return "no such row";
    case ReadExplanation::Outcome::kOutsideKeys:
      return "outside its keys";
    case ReadExplanation::Outcome::kOutsideTimes:
      return "outside its times";
    case ReadExplanation::Outcome::kExpired:
      return "expired";
    case ReadExplanation::Outcome::kBloomFilter:
      return "denied by its Bloom filter";
    case ReadExplanation::Outcome::kNotReached:
      return "not reached";
  }
  CELLAR_ASSERT(!"every Outcome has a name");
  return "?";
}

std::string to_text(const PassedOver& passed_over) {
  std::string text;
  for (const auto& [reason, what] : kReasons)
    if (const uint64_t cells = passed_over.*reason; cells != 0)
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", cells, what);
  return text.empty() ? "nothing" : text;
}

std::string to_text(const ReadExplanation& explanation) {
  std::string text;
  for (const ReadExplanation::Source& source : explanation.sources) {
    text += fmt::format("{}/{}: {}", source.family, source.name.empty() ? "memory" : source.name,
                        outcome_name(source.outcome));
    if (source.outcome == ReadExplanation::Outcome::kRead)
      text += fmt::format(", {} of {} cells taken, blocks {} disk / {} cache{}", source.cells_taken,
                          source.cells_met, source.cost.blocks_from_disk, source.cost.blocks_from_cache,
                          source.cost.rows_from_cache != 0 ? ", cached row" : "");
    text += "\n";
  }
  return text + "passed over: " + to_text(explanation.passed_over) + "\n";
}

}  // namespace cellar
