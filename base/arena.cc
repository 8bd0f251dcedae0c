// Slow path of Arena: allocates new blocks.
#include "base/arena.h"

#include <new>

#include "base/assert.h"

namespace cellar {

namespace {

constexpr size_t kAlignmentMax = 64;

struct FreeBlock {
  void operator()(char* block) const { ::operator delete (block, std::align_val_t{kAlignmentMax}); }
};

}  // namespace

struct Arena::Impl {
  std::vector<std::unique_ptr<char, FreeBlock>> blocks;

  char* add(size_t block_bytes) {
    blocks.emplace_back(static_cast<char*>(::operator new (block_bytes, std::align_val_t{kAlignmentMax})));
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
