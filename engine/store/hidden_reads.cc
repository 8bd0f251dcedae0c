// HiddenReads: a short list of tallies, ascending by rows.
#include "engine/store/hidden_reads.h"

#include <algorithm>

namespace cellar {
namespace {

void join(HiddenReads::Tally& into, const HiddenReads::Tally& other) {
  constexpr uint64_t kMost = UINT64_MAX / 4;
  into.cells = std::min(into.cells, kMost) + std::min(other.cells, kMost);
  if (other.first_row < into.first_row) into.first_row = other.first_row;
  if (other.last_row > into.last_row) into.last_row = other.last_row;
  into.call_at = std::min(into.call_at, other.call_at);
}

}  // namespace

HiddenReads::Tally& HiddenReads::added(Tally tally) {
  const auto begin =
      std::ranges::find_if(tallies_, [&](const Tally& each) { return each.last_row >= tally.first_row; });
  auto end = begin;
  bool joined = false;
  for (; end != tallies_.end() && end->first_row <= tally.last_row; ++end, joined = true) {
    if (!joined) tally.call_at = UINT64_MAX;
    join(tally, *end);
  }
  auto at = tallies_.insert(tallies_.erase(begin, end), std::move(tally));
  CELLAR_ASSERT(tallies_.size() <= kTalliesMax + 1);
  if (tallies_.size() <= kTalliesMax) return *at;
  size_t least = 0;
  for (size_t i = 1; i + 1 < tallies_.size(); ++i)
    if (tallies_[i].cells + tallies_[i + 1].cells < tallies_[least].cells + tallies_[least + 1].cells)
      least = i;
  const auto added_at = static_cast<size_t>(at - tallies_.begin());
  join(tallies_[least], tallies_[least + 1]);
  tallies_.erase(tallies_.begin() + static_cast<std::ptrdiff_t>(least) + 1);
  return tallies_[added_at > least ? added_at - 1 : added_at];
}

}  // namespace cellar
