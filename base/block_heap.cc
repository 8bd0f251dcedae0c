// BlockHeap: lists of free pieces by size, whose neighbours are joined at once.
#include "base/block_heap.h"

#include <pthread.h>
#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <new>

#include "base/assert.h"
#include "base/pages.h"
#include "base/recycled.h"

namespace cellar {
namespace {

constexpr size_t kPageBytes = 4096;
constexpr size_t kStepBytes = 16;
constexpr unsigned kLinearBits = 9;  // sizes below 2^9 differ by a step
constexpr unsigned kLevelBits = 5;   // 2^5 sizes in each further power of two

constexpr uint64_t kInUse = 1;
constexpr uint64_t kMapped = 2;
constexpr uint64_t kHuge = 4;  // of the header at the end of a region: the system may use huge pages
constexpr uint64_t kMarks = kStepBytes - 1;

// The next region is asked for when so much is left of one. Reads of cold blocks fill that in some 1.5 ms. So
// pieces of a quarter of a region may come and go without a further one.
constexpr size_t kAskAtBytes = BlockHeap::kRegionBytes / 4 * 3;

constexpr int kReleasesMax = 16;  // of one call, which holds the lock
constexpr double kChargedShareMin = 0.5;

uintptr_t round_up(uintptr_t value, size_t step) { return (value + step - 1) / step * step; }
uintptr_t round_down(uintptr_t value, size_t step) { return value / step * step; }

// Returns how many bytes of whole pages may stay in free pieces, next to `used` bytes of pieces in use. The
// rest of kFreeBytesMin is for the remains of pages.
uint64_t dirty_max(uint64_t used) {
  return std::max(BlockHeap::kFreeBytesMin / 2, used / BlockHeap::kFreeShare);
}

}  // namespace

// The members after `previous_bytes` exist while the piece is free.
struct BlockHeap::Piece {
  uint64_t bytes_and_marks;  // the bytes are a multiple of kStepBytes
  uint64_t previous_bytes;   // of the piece before this one; 0: this one begins the region
  Piece* next;               // in the list
  Piece* previous;
  uintptr_t clean_begin;  // whole pages that take no memory; equal if there are none
  uintptr_t clean_end;

  size_t bytes() const { return bytes_and_marks & ~kMarks; }
  bool in_use() const { return (bytes_and_marks & kInUse) != 0; }
  bool is_mapped() const { return (bytes_and_marks & kMapped) != 0; }
  void* memory() { return reinterpret_cast<char*>(this) + kHeaderBytes; }
  Piece* after() { return reinterpret_cast<Piece*>(reinterpret_cast<char*>(this) + bytes()); }
  Piece* before() { return reinterpret_cast<Piece*>(reinterpret_cast<char*>(this) - previous_bytes); }
  Piece* end_of_region() {
    return reinterpret_cast<Piece*>(round_down(reinterpret_cast<uintptr_t>(this), kRegionBytes) +
                                    kRegionBytes - kHeaderBytes);
  }
  bool is_region() const { return bytes() == kRegionBytes - kHeaderBytes; }

  // The whole pages after the members of a free piece.
  uintptr_t pages_begin() const { return round_up(reinterpret_cast<uintptr_t>(this + 1), kPageBytes); }
  uintptr_t pages_end() const { return round_down(reinterpret_cast<uintptr_t>(this) + bytes(), kPageBytes); }
  uint64_t page_bytes() const { return pages_end() > pages_begin() ? pages_end() - pages_begin() : 0; }
  uint64_t clean_bytes() const { return clean_end - clean_begin; }
  uint64_t dirty_bytes() const { return page_bytes() - clean_bytes(); }
  // Sets the clean pages to those of [begin, end) that lie in this piece.
  void set_clean(uintptr_t begin, uintptr_t end) {
    clean_begin = std::max(begin, pages_begin());
    clean_end = std::max(clean_begin, std::min(end, pages_end()));
    if (clean_begin == clean_end) clean_begin = clean_end = 0;
  }
};

BlockHeap& BlockHeap::shared() {
  // Blocks may outlive all objects with static lifetime. A fork waits for the lock, which the child inherits.
  static BlockHeap* const heap = [] {
    static auto* const made = new BlockHeap(kKeepsMemory ? Memory::kRegions : Memory::kAllocator);
    pthread_atfork([] { made->lock_for_fork(); }, [] { made->unlock_after_fork(); },
                   [] {
                     made->forget_helpers();
                     made->unlock_after_fork();
                   });
    return made;
  }();
  return *heap;
}

void BlockHeap::lock_for_fork() CELLAR_NO_THREAD_SAFETY_ANALYSIS {
  helpers_mutex_.lock();
  growth_.lock();
  mutex_.lock();
}
void BlockHeap::unlock_after_fork() CELLAR_NO_THREAD_SAFETY_ANALYSIS {
  mutex_.unlock();
  growth_.unlock();
  helpers_mutex_.unlock();
}
void BlockHeap::forget_helpers() CELLAR_NO_THREAD_SAFETY_ANALYSIS { helpers_.clear(); }

BlockHeap::~BlockHeap() {
  const MutexLock lock(mutex_);
  CELLAR_ASSERT(used_ == 0 && alone_ == 0 && regions_ == empty_regions_);
  for (List& list : lists_)
    while (list.first != nullptr) {
      Piece* const region = list.first;
      take_out(region);
      return_pages(reinterpret_cast<char*>(region), kRegionBytes, kRegionBytes);
    }
}

size_t BlockHeap::piece_bytes(size_t bytes) {
  const size_t whole = std::max(bytes + kHeaderBytes, sizeof(Piece));
  if (whole > kPieceBytesMax) return round_up(whole, kPageBytes);
  const auto bits = static_cast<unsigned>(std::bit_width(whole - 1));
  return round_up(whole, bits <= kLinearBits ? kStepBytes : size_t{1} << (bits - 1 - kLevelBits));
}

// The list of free pieces of this size, none of which is smaller than the list's least size.
size_t BlockHeap::list_of(size_t bytes) {
  if (bytes < size_t{1} << kLinearBits) return bytes / kStepBytes;
  const auto bits = static_cast<unsigned>(std::bit_width(bytes)) - 1;
  const size_t list =
      size_t{bits - kLinearBits + 1} * kSizesPerLevel + (bytes >> (bits - kLevelBits)) % kSizesPerLevel;
  CELLAR_DCHECK(list < kLevels * kSizesPerLevel);
  return list;
}

// ---- Lists ----

// Pieces with pages that were used lie first: they are taken before those that cost page faults, and
// release_pages() finds them. A piece that is too small for a page has none of both.
void BlockHeap::put(Piece* piece) {
  CELLAR_DCHECK(!piece->in_use() && piece->bytes() % kStepBytes == 0);
  clean_ += piece->clean_bytes();
  dirty_ += piece->dirty_bytes();
  if (piece->is_region()) ++empty_regions_;
  const size_t at = list_of(piece->bytes());
  List& list = lists_[at];
  const bool first = piece->dirty_bytes() > 0 || piece->bytes() < kPageBytes;
  piece->next = first ? list.first : nullptr;
  piece->previous = first ? nullptr : list.last;
  (piece->next != nullptr ? piece->next->previous : list.last) = piece;
  (piece->previous != nullptr ? piece->previous->next : list.first) = piece;
  filled_[at / kSizesPerLevel] |= uint32_t{1} << at % kSizesPerLevel;
}

void BlockHeap::take_out(Piece* piece) {
  CELLAR_DCHECK(!piece->in_use());
  clean_ -= piece->clean_bytes();
  dirty_ -= piece->dirty_bytes();
  if (piece->is_region()) --empty_regions_;
  const size_t at = list_of(piece->bytes());
  List& list = lists_[at];
  (piece->next != nullptr ? piece->next->previous : list.last) = piece->previous;
  (piece->previous != nullptr ? piece->previous->next : list.first) = piece->next;
  if (list.first == nullptr) filled_[at / kSizesPerLevel] &= ~(uint32_t{1} << at % kSizesPerLevel);
}

// Takes the first piece of the least size that is large enough out of its list; null if the lists have none.
BlockHeap::Piece* BlockHeap::find(size_t bytes) {
  const size_t least = list_of(bytes);
  size_t level = least / kSizesPerLevel;
  uint32_t bits = filled_[level] >> least % kSizesPerLevel << least % kSizesPerLevel;
  while (bits == 0) {
    if (++level == kLevels) return nullptr;
    bits = filled_[level];
  }
  Piece* const piece = lists_[level * kSizesPerLevel + static_cast<size_t>(std::countr_zero(bits))].first;
  CELLAR_DCHECK(piece->bytes() >= bytes);
  take_out(piece);
  return piece;
}

// ---- Pieces ----

// A region is a free piece, and a header after it that is in use and has no bytes. The system fills a huge
// page with zeros at its first use, for up to 5 ms. Nobody waits for that with the lock of the lists.
void BlockHeap::add_region(Pages pages) {
  const bool huge = has_huge_pages();
  char* const region = take_pages(kRegionBytes, kRegionBytes);
  ::madvise(region, kRegionBytes, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
  if (pages == Pages::kThere) touch_pages(region, kRegionBytes);
  auto* const piece = reinterpret_cast<Piece*>(region);
  piece->bytes_and_marks = kRegionBytes - kHeaderBytes;
  piece->previous_bytes = 0;
  piece->set_clean(0, huge ? 0 : UINTPTR_MAX);
  piece->after()->bytes_and_marks = kInUse | (huge ? kHuge : 0);
  piece->after()->previous_bytes = piece->bytes();
  const MutexLock lock(mutex_);
  ++regions_;
  if (huge) fresh_ += kRegionBytes;
  put(piece);
  publish();
}

// Makes a free piece, in no list, `bytes` long. The rest becomes a piece of its own, if it is large enough.
void BlockHeap::cut(Piece* piece, size_t bytes) {
  const size_t left = piece->bytes() - bytes;
  if (left < sizeof(Piece)) return;
  piece->bytes_and_marks = bytes;
  Piece* const rest = piece->after();
  rest->bytes_and_marks = left;
  rest->previous_bytes = bytes;
  rest->set_clean(piece->clean_begin, piece->clean_end);
  rest->after()->previous_bytes = left;
  put(rest);
}

// Makes one piece of two neighbours, in no list. It knows the larger part of their clean pages.
BlockHeap::Piece* BlockHeap::join(Piece* piece, Piece* after) {
  CELLAR_DCHECK(piece->after() == after && !piece->in_use() && !after->in_use());
  const Piece* const cleaner = piece->clean_bytes() >= after->clean_bytes() ? piece : after;
  const uintptr_t begin = cleaner->clean_begin, end = cleaner->clean_end;
  piece->bytes_and_marks += after->bytes();
  piece->after()->previous_bytes = piece->bytes();
  piece->set_clean(begin, end);
  return piece;
}

void* BlockHeap::take_mapped(size_t bytes) {
  auto* const piece = reinterpret_cast<Piece*>(take_pages(bytes));
  piece->bytes_and_marks = bytes | kInUse | kMapped;
  const MutexLock lock(mutex_);
  alone_ += bytes;
  publish();
  return piece->memory();
}

void* BlockHeap::take(size_t bytes) {
  CELLAR_ASSERT(bytes <= kBytesMax);
  if (memory_ == Memory::kAllocator) return ::operator new(bytes);
  const size_t wanted = piece_bytes(bytes);
  if (wanted > kPieceBytesMax) return take_mapped(wanted);
  bool asks = false;
  void* memory = take_free(wanted, asks);
  if (memory == nullptr) {
    const MutexLock turn(growth_);  // other threads take the rest of the region
    memory = take_free(wanted, asks);
    while (memory == nullptr) {
      add_region(Pages::kLater);
      memory = take_free(wanted, asks);
    }
  }
  if (asks) ask_for_region();
  return memory;
}

// Sets `asks` if the next region is to be asked for.
void* BlockHeap::take_free(size_t bytes, bool& asks) {
  const MutexLock lock(mutex_);
  Piece* const piece = find(bytes);
  if (piece == nullptr) return nullptr;
  const size_t before = piece->bytes();
  cut(piece, bytes);
  asks = before >= kAskAtBytes && before - piece->bytes() < kAskAtBytes && empty_regions_ == 0 &&
         has_huge_pages();
  used_ += piece->bytes();
  fresh_ -= std::min<uint64_t>(fresh_, piece->bytes());
  piece->bytes_and_marks |= kInUse;
  publish();
  return piece->memory();
}

void BlockHeap::give_back(void* memory) {
  if (memory_ == Memory::kAllocator) return ::operator delete(memory);
  auto* piece = reinterpret_cast<Piece*>(static_cast<char*>(memory) - kHeaderBytes);
  CELLAR_ASSERT(piece->in_use());
  if (piece->is_mapped()) {
    const size_t bytes = piece->bytes();
    return_pages(reinterpret_cast<char*>(piece), bytes);
    const MutexLock lock(mutex_);
    alone_ -= bytes;
    return publish();
  }
  if (char* const region = free_piece(piece)) return_pages(region, kRegionBytes, kRegionBytes);
}

bool BlockHeap::has_too_much() const { return dirty_ > dirty_max(used_) + fresh_; }

// Frees a piece of a region. Returns a region if it is to be unmapped, which needs no lock.
char* BlockHeap::free_piece(Piece* piece) {
  const MutexLock lock(mutex_);
  CELLAR_ASSERT(used_ >= piece->bytes() && piece->after()->previous_bytes == piece->bytes());
  used_ -= piece->bytes();
  piece->bytes_and_marks = piece->bytes();
  piece->set_clean(0, 0);
  if (Piece* const after = piece->after(); !after->in_use()) {
    take_out(after);
    join(piece, after);
  }
  if (Piece* const before = piece->before(); piece->previous_bytes != 0 && !before->in_use()) {
    take_out(before);
    piece = join(before, piece);
  }
  const bool partly_clean = piece->is_region() && piece->clean_bytes() > 0;
  put(piece);
  // A whole region goes first. One stays for the next block.
  if (empty_regions_ > 1 && (partly_clean || has_too_much())) {
    piece = lists_[list_of(kRegionBytes - kHeaderBytes)].first;
    while (!piece->is_region()) piece = piece->next;  // nearly empty regions are in this list, too
    take_out(piece);
    --regions_;
    publish();
    return reinterpret_cast<char*>(piece);
  }
  if (has_too_much() && !keeps_pages_) release_pages();
  publish();
  return nullptr;
}

// ---- Regions that are made ready ----

RegionHelper::RegionHelper(BlockHeap& heap, std::function<void()> ask) : heap_(heap), ask_(std::move(ask)) {
  CELLAR_ASSERT(ask_ != nullptr);
  const MutexLock lock(heap_.helpers_mutex_);
  heap_.helpers_.push_back(this);
}

RegionHelper::~RegionHelper() {
  const MutexLock lock(heap_.helpers_mutex_);
  std::erase(heap_.helpers_, this);
}

void BlockHeap::ask_for_region() {
  const MutexLock lock(helpers_mutex_);
  if (!helpers_.empty()) helpers_.front()->ask_();
}

void BlockHeap::make_region_ready() {
  const MutexLock turn(growth_);
  {
    const MutexLock lock(mutex_);
    if (empty_regions_ > 0 || !has_huge_pages()) return;
  }
  try {
    add_region(Pages::kThere);
    made_ready_.fetch_add(1, std::memory_order_relaxed);
  } catch (const std::bad_alloc&) {  // the reader that needs the memory finds out
  }
}

// ---- Pages ----

// Gives back pages of the largest pieces until half of what may be kept is left, or of a few pieces. A call
// frees one piece at most, so the next ones catch up. Small pieces are taken again sooner.
void BlockHeap::release_pages() {
  const uint64_t enough = dirty_max(used_) / 2 + fresh_;
  int left = kReleasesMax;
  for (size_t level = kLevels; level-- > 0;) {
    for (uint32_t bits = filled_[level]; bits != 0;) {
      const auto at = static_cast<size_t>(std::bit_width(bits)) - 1;
      bits &= ~(uint32_t{1} << at);
      const List& list = lists_[level * kSizesPerLevel + at];
      while (list.first != nullptr && list.first->dirty_bytes() > 0) {
        if (dirty_ <= enough || left-- == 0) return;
        keeps_pages_ = !release_pages_of(list.first);
        if (keeps_pages_) return;
      }
    }
  }
}

// Gives back the pages of a piece, which moves to the end of its list. Returns false if the system refuses.
bool BlockHeap::release_pages_of(Piece* piece) {
  const uintptr_t begin = piece->pages_begin();
  Piece* const end = piece->end_of_region();
  if ((end->bytes_and_marks & kHuge) != 0) {  // else the system may make a huge page of these pages again
    char* const region = reinterpret_cast<char*>(end) + kHeaderBytes - kRegionBytes;
    if (::madvise(region, kRegionBytes, MADV_NOHUGEPAGE) != 0) return false;
    end->bytes_and_marks &= ~kHuge;
  }
  if (::madvise(reinterpret_cast<void*>(begin), piece->page_bytes(), MADV_DONTNEED) != 0) return false;
  take_out(piece);
  piece->set_clean(begin, piece->pages_end());
  put(piece);
  CELLAR_DCHECK(piece->dirty_bytes() == 0);
  return true;
}

void BlockHeap::publish() {
  CELLAR_DCHECK(used_ + clean_ <= regions_ * kRegionBytes);
  const uint64_t mapped = regions_ * kRegionBytes + alone_;
  in_use_.store(used_ + alone_, std::memory_order_relaxed);
  resident_.store(mapped - clean_, std::memory_order_relaxed);
  mapped_.store(mapped, std::memory_order_relaxed);
  free_pages_.store(dirty_, std::memory_order_relaxed);
  // The share is of one moment. kFreeBytesMin and what is fresh are not charged.
  const uint64_t charged = used_ + used_ / kFreeShare + alone_;
  const uint64_t not_charged = kFreeBytesMin + fresh_;
  const uint64_t resident = std::max(mapped - clean_, not_charged) - not_charged;
  const bool all = resident <= charged || charged == 0;
  charged_share_.store(all ? 1 : static_cast<double>(charged) / static_cast<double>(resident),
                       std::memory_order_relaxed);
}

// ---- What charges contain ----

uint64_t BlockHeap::for_charges(uint64_t bytes) const {
  const double share = charged_share_.load(std::memory_order_relaxed);
  CELLAR_ASSERT(share > 0 && share <= 1);
  if (share == 1) return bytes;
  return std::min(bytes,
                  static_cast<uint64_t>(static_cast<double>(bytes) * std::max(share, kChargedShareMin)));
}

uint64_t BlockHeap::excess_of(uint64_t charges) const {
  const double share = charged_share_.load(std::memory_order_relaxed);
  CELLAR_ASSERT(share > 0 && share <= 1);
  return static_cast<uint64_t>(static_cast<double>(charges) * (1 / share - 1));
}

}  // namespace cellar
