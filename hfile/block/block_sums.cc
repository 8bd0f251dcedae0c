// BlockSums: pages written at the end of a file's blocks, read back when the first of their blocks is.
#include "hfile/block/block_sums.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/checksum.h"
#include "base/coding.h"

namespace cellar {
namespace {

constexpr size_t kEntryBytesMin = 1 + sizeof(uint32_t);

}  // namespace

uint32_t block_sum(uint64_t offset, std::string_view disk, size_t checksum_bytes) {
  char place[8];
  store_be64(place, offset);
  const uint32_t sum = crc32c({place, sizeof place});
  if (checksum_bytes == 0) return crc32c(disk, sum);
  return crc32c(disk.substr(disk.size() - checksum_bytes), crc32c(disk.substr(0, kBlockHeaderBytes), sum));
}

Result<std::vector<BlockSumsWriter::Page>> BlockSumsWriter::pages() const {
  const size_t page_blocks = std::max(kPageBlocksMin, (blocks_.size() + kPagesMax - 1) / kPagesMax);
  std::vector<Page> pages;
  for (size_t first = 0; first < blocks_.size(); first += page_blocks) {
    const size_t end = std::min(blocks_.size(), first + page_blocks);
    Page& page = pages.emplace_back();
    for (size_t i = first; i < end; ++i) {
      append_varint(page.payload, blocks_[i].disk_bytes);
      append_le32(page.payload, blocks_[i].sum);
      page.covered_bytes += blocks_[i].disk_bytes;
    }
    if (page.payload.size() > kBlockPayloadBytesMax)
      return Status::limit(fmt::format("the file has too many blocks ({}) for their sums", blocks_.size()));
  }
  return pages;
}

BlockSums::BlockSums(const std::vector<BlockSumsPage>& pages, uint64_t load_on_open_offset)
    : limit_(load_on_open_offset), pages_(std::make_unique<std::atomic<const Page*>[]>(pages.size())) {
  for (const BlockSumsPage& page : pages) {
    const uint64_t first = end_of_blocks_;
    end_of_blocks_ += page.covered_bytes;
    places_.push_back({first, end_of_blocks_, 0, page.disk_bytes, page.sum});
  }
  uint64_t offset = end_of_blocks_;
  for (Place& place : places_) {
    place.offset = offset;
    offset += place.disk_bytes;
  }
}

BlockSums::~BlockSums() {
  for (size_t i = 0; i < places_.size(); ++i) delete pages_[i].load(std::memory_order_relaxed);
}

Result<BlockSums::Written> BlockSums::at(uint64_t offset, const BlockSumsSource& source) const {
  if (offset >= limit_) return Written{.covered = false};
  if (offset >= end_of_blocks_) {
    const auto place = std::ranges::find(places_, offset, &Place::offset);
    if (place == places_.end()) return Written{.begins = false};
    return Written{.sum = place->sum};
  }
  const auto place = std::ranges::upper_bound(places_, offset, {}, &Place::end_of_blocks);
  CELLAR_TRY_ASSIGN(const Page* const page, this->page(static_cast<size_t>(place - places_.begin()), source));
  const auto found = std::ranges::lower_bound(page->offsets, offset);
  if (found == page->offsets.end() || *found != offset) return Written{.begins = false};
  return Written{.sum = page->sums[static_cast<size_t>(found - page->offsets.begin())]};
}

Result<const BlockSums::Page*> BlockSums::page(size_t i, const BlockSumsSource& source) const {
  const Page* known = pages_[i].load(std::memory_order_acquire);
  if (known != nullptr) return known;
  const Place& place = places_[i];
  CELLAR_TRY_ASSIGN(std::unique_ptr<Page> page, load(place, source));
  const uint64_t bytes =
      sizeof(Page) + page->offsets.capacity() * sizeof(uint64_t) + page->sums.capacity() * sizeof(uint32_t);
  if (meter_ != nullptr && !meter_->charge(bytes))
    return meter_->refusal("the sums of the file's blocks").at(source.place(place.offset));
  if (!pages_[i].compare_exchange_strong(known, page.get(), std::memory_order_acq_rel)) {
    if (meter_ != nullptr) meter_->release(bytes);
    return known;
  }
  return page.release();
}

Result<std::unique_ptr<BlockSums::Page>> BlockSums::load(const Place& place,
                                                         const BlockSumsSource& source) const {
  CELLAR_TRY_ASSIGN(Block* const block, source.read_page(place.offset, place.disk_bytes, limit_));
  const Pin pin(block);
  const auto damaged = [&] {
    return Status::corruption("the sums of the file's blocks are malformed").at(source.place(place.offset));
  };
  if (block->kind() != BlockKind::kMeta) return damaged();
  auto page = std::make_unique<Page>();
  const uint64_t covered_bytes = place.end_of_blocks - place.first_block;
  const size_t blocks_max =
      std::min<uint64_t>(block->payload().size() / kEntryBytesMin, covered_bytes / kBlockHeaderBytes);
  page->offsets.reserve(blocks_max);
  page->sums.reserve(blocks_max);
  uint64_t offset = place.first_block;
  for (ByteReader in(block->payload()); !in.empty();) {
    uint64_t disk_bytes = 0;
    uint32_t sum = 0;
    if (!in.take_varint(disk_bytes) || !in.take_le32(sum) || disk_bytes < kBlockHeaderBytes ||
        disk_bytes > place.end_of_blocks - offset)
      return damaged();
    page->offsets.push_back(offset);
    page->sums.push_back(sum);
    offset += disk_bytes;
  }
  page->offsets.shrink_to_fit();
  page->sums.shrink_to_fit();
  if (offset != place.end_of_blocks) return damaged();
  return page;
}

}  // namespace cellar
