// Slow path of Arena: allocates new blocks.
#include "base/arena.h"

#include <new>

#include "base/assert.h"
#include "base/pages.h"

namespace cellar {

namespace {

constexpr size_t kAlignmentMax = 64;

// Blocks from this size on are pages of their own.
constexpr size_t kPagesMin = 1 << 20;

struct FreeBlock {
  size_t bytes = 0;
  void operator()(char* block) const {
    if (bytes >= kPagesMin) return return_pages(block, bytes);
    ::operator delete (block, std::align_val_t{kAlignmentMax});
  }
};

}  // namespace

struct Arena::Impl {
  std::vector<std::unique_ptr<char, FreeBlock>> blocks;

  char* add(size_t block_bytes) {
    char* const block =
        block_bytes >= kPagesMin
            ? take_pages(block_bytes)
            : static_cast<char*>(::operator new (block_bytes, std::align_val_t{kAlignmentMax}));
    blocks.emplace_back(block, FreeBlock{block_bytes});
    return blocks.back().get();
  }
};

Arena::Arena(size_t block_bytes) : block_bytes_(block_bytes), impl_(std::make_unique<Impl>()) {
  CELLAR_ASSERT(block_bytes >= kAlignmentMax);
}

Arena::~Arena() = default;

char* Arena::allocate_slowly(size_t bytes, size_t alignment) {
  CELLAR_ASSERT(bytes > 0 && alignment <= kAlignmentMax && (alignment & (alignment - 1)) == 0);
  // A large allocation gets a block of its own, so that the rest of the current block is not wasted.
  if (bytes > block_bytes_ / 4) return impl_->add(bytes);
  at_ = impl_->add(block_bytes_);
  end_ = at_ + block_bytes_;
  char* start = at_;
  at_ += bytes;
  return start;
}

}  // namespace cellar
