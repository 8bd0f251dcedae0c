// RowFilter: segments and bits.
#include "memtable/row_filter.h"

#include "base/assert.h"

namespace cellar {

namespace {

constexpr uint64_t kFirstRows = 1024;
constexpr uint64_t kGrowth = 4;
constexpr uint64_t kBitsPerRow = 16;

// Odd factors that pick one bit of each 32 from the same 32 bits of the hash (from the split block Bloom
// filter). A word has two of these bits, so that four loads read a block.
constexpr std::array<uint32_t, 8> kFactors = {0x47b6137bU, 0x44974d91U, 0x8824ad5bU, 0xa2b7289dU,
                                              0x705495c7U, 0x2df1424bU, 0x9efc4947U, 0x5c6bfb31U};

uint64_t bits_of(uint64_t hash, size_t word) {
  const auto bit = [hash](uint32_t factor) { return (static_cast<uint32_t>(hash) * factor) >> 27; };
  return uint64_t{1} << bit(kFactors[2 * word]) | uint64_t{1} << 32 << bit(kFactors[2 * word + 1]);
}

}  // namespace

RowFilter::Segment::Segment(uint64_t rows_max_)
    : rows_max(rows_max_),
      blocks((rows_max_ * kBitsPerRow + kBlockBits - 1) / kBlockBits),
      words(std::make_unique<std::atomic<uint64_t>[]>(kBlockWords * blocks)) {
  CELLAR_ASSERT(rows_max > 0 && blocks <= UINT32_MAX);  // block_of() multiplies by 32 bits of the hash
}

bool RowFilter::Segment::contains(uint64_t hash) const {
  const std::atomic<uint64_t>* block = &words[kBlockWords * block_of(hash)];
  for (size_t i = 0; i < kBlockWords; ++i) {
    if ((~block[i].load(std::memory_order_relaxed) & bits_of(hash, i)) != 0) return false;
  }
  return true;
}

bool RowFilter::Segment::set(uint64_t hash) {
  std::atomic<uint64_t>* block = &words[kBlockWords * block_of(hash)];
  uint64_t added = 0;
  for (size_t i = 0; i < kBlockWords; ++i) {
    // Only one thread writes, so a load and a store suffice; no locked instruction is needed. No branch: it
    // could not be predicted.
    const uint64_t before = block[i].load(std::memory_order_relaxed);
    const uint64_t after = before | bits_of(hash, i);
    block[i].store(after, std::memory_order_relaxed);
    added |= before ^ after;
  }
  return added != 0;
}

RowFilter::~RowFilter() {
  for (const auto& segment : segments_) delete segment.load(std::memory_order_relaxed);
}

void RowFilter::grow() {
  CELLAR_ASSERT(used_ < kSegmentsMax);
  const Segment* last = used_ == 0 ? nullptr : segments_[used_ - 1].load(std::memory_order_relaxed);
  CELLAR_ASSERT(last == nullptr || rows_ == last->rows_max);  // only a full segment gets a successor
  auto segment = std::make_unique<Segment>(last == nullptr ? kFirstRows : last->rows_max * kGrowth);
  bytes_.store(bytes() + sizeof(Segment) + segment->blocks * (kBlockBits / 8), std::memory_order_relaxed);
  segments_[used_].store(segment.release(), std::memory_order_release);
  ++used_;
  rows_ = 0;
}

void RowFilter::add(Hashed row) {
  if (used_ == 0) grow();
  Segment* last = segments_[used_ - 1].load(std::memory_order_relaxed);
  if (rows_ == last->rows_max) {
    // Rows of full segments are not added again: frequent rows must not fill the new segment.
    for (size_t i = used_; i-- > 0;) {
      if (segments_[i].load(std::memory_order_relaxed)->contains(row.hash)) return;
    }
    grow();
    last = segments_[used_ - 1].load(std::memory_order_relaxed);
  }
  CELLAR_ASSERT(rows_ < last->rows_max);
  if (last->set(row.hash)) ++rows_;  // else the row was written again, or has the same bits
}

bool RowFilter::find(std::string_view row) const {
  const uint64_t hash = hash64(row);
  for (const auto& each : segments_) {
    const Segment* segment = each.load(std::memory_order_acquire);
    if (segment == nullptr) return false;
    if (segment->contains(hash)) return true;
  }
  return false;
}

}  // namespace cellar
