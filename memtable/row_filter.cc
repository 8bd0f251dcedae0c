// RowFilter: segments and bits.
#include "memtable/row_filter.h"

#include "base/assert.h"

namespace cellar {

namespace {

constexpr uint64_t kFirstRows = 1024;
constexpr uint64_t kGrowth = 4;
constexpr uint64_t kBitsPerRow = 16;
constexpr uint64_t kBlockBits = 256;

// Odd factors that pick one bit per word from the same 32 bits of the hash (from the split block Bloom
// filter).
constexpr std::array<uint32_t, 8> kFactors = {0x47b6137bU, 0x44974d91U, 0x8824ad5bU, 0xa2b7289dU,
                                              0x705495c7U, 0x2df1424bU, 0x9efc4947U, 0x5c6bfb31U};

uint32_t bit_of(uint64_t hash, size_t word) {
  return uint32_t{1} << ((static_cast<uint32_t>(hash) * kFactors[word]) >> 27);
}

}  // namespace

RowFilter::Segment::Segment(uint64_t rows_max_)
    : rows_max(rows_max_),
      blocks((rows_max_ * kBitsPerRow + kBlockBits - 1) / kBlockBits),
      words(std::make_unique<std::atomic<uint32_t>[]>(8 * blocks)) {
  CELLAR_ASSERT(rows_max > 0 && blocks <= UINT32_MAX);  // block_of() multiplies by 32 bits of the hash
}

bool RowFilter::Segment::contains(uint64_t hash) const {
  const std::atomic<uint32_t>* block = &words[8 * block_of(hash)];
  for (size_t i = 0; i < kFactors.size(); ++i) {
    if ((block[i].load(std::memory_order_relaxed) & bit_of(hash, i)) == 0) return false;
  }
  return true;
}

bool RowFilter::Segment::set(uint64_t hash) {
  std::atomic<uint32_t>* block = &words[8 * block_of(hash)];
  uint32_t added = 0;
  for (size_t i = 0; i < kFactors.size(); ++i) {
    // Only one thread writes, so a load and a store suffice; no locked instruction is needed. No branch: it
    // could not be predicted.
    const uint32_t before = block[i].load(std::memory_order_relaxed);
    const uint32_t after = before | bit_of(hash, i);
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
