// BlockHeap: memory for cached blocks, of which the process keeps little more than is in use.
//
// A general allocator mixes blocks with small objects that live long, and gives each thread an arena of its
// own. Freed blocks then lie between others and stay with the process: docs/decisions/blocks-have-a-heap.md.
// Here all pieces of all threads come from common regions. Neighbours that are free become one piece. Free
// pieces that are too many lose their pages, and empty regions that are too many are unmapped.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "base/mutex.h"

namespace cellar {

class RegionHelper;

// Any thread may call all functions, and give back what another one took.
//
// A piece begins with a header of kHeaderBytes, by which its neighbours are found. Sizes are rounded up to a
// multiple of 16 bytes, and above 512 bytes to a 32nd of a power of two. So every free piece of a list is
// large enough for the sizes of that list. Pieces above kPieceBytesMax are mapped on their own.
//
// A heap with kHugePagesFrom in use asks for huge pages for its further regions: reading a cached block then
// misses fewer address translations. Such a region takes its memory at once. It is fresh until as many bytes
// were taken from the heap. A region that gives pages back has small ones from then on.
//
// The system clears a huge page at its first use, for up to 5 ms. A heap with a RegionHelper asks it in time
// for the next region. The threads that read blocks then do not wait.
//
// Whole free pages that still take memory are at most a kFreeShare-th of the pieces in use, or half of
// kFreeBytesMin, and what is fresh. Each call gives back a few of them, so there may be more for a moment.
// The remains of pages between pieces come on top. charge_of() contains the share, and excess_of() tells what
// is beyond it, kFreeBytesMin and what is fresh.
//
// A forked child may use the heap of its parent, whatever the parent's threads did.
//
// Under AddressSanitizer the memory of shared() comes from its allocator, which finds uses after the end. The
// stats() of such a heap are 0.
class BlockHeap {
 public:
  static constexpr size_t kRegionBytes = 2 << 20;  // a huge page
  static constexpr size_t kPieceBytesMax = 512 << 10;
  static constexpr size_t kHeaderBytes = 16;
  static constexpr size_t kBytesMax = size_t{1} << 40;
  static constexpr uint64_t kFreeShare = 16;
  static constexpr uint64_t kFreeBytesMin = 2 << 20;
  static constexpr uint64_t kHugePagesFrom = 8 << 20;

  struct Stats {
    uint64_t in_use = 0;  // bytes of pieces, with headers and rounding
    // Bytes that the process has for them: pieces in use, and free memory whose pages are not given back.
    uint64_t resident = 0;
    uint64_t mapped = 0;      // bytes of regions and of pieces that are mapped on their own
    uint64_t free_pages = 0;  // bytes of whole free pages that still take memory
    uint64_t made_ready = 0;  // how often make_region_ready() has added a region
  };

  // Returns the heap of all caches of the process. It is never destroyed.
  static BlockHeap& shared();

  enum class Memory { kRegions, kAllocator };
  explicit BlockHeap(Memory memory = Memory::kRegions) : memory_(memory) {}
  BlockHeap(const BlockHeap&) = delete;
  BlockHeap& operator=(const BlockHeap&) = delete;
  // All pieces must have been given back.
  ~BlockHeap();

  // Returns how many bytes a piece for `bytes` (at most kBytesMax) takes.
  static size_t piece_bytes(size_t bytes);
  // Returns the same with the piece's share of the free memory that the heap may keep.
  static uint64_t charge_of(size_t bytes) {
    const size_t piece = piece_bytes(bytes);
    return piece > kPieceBytesMax ? piece : piece + piece / kFreeShare;
  }

  // Returns memory for `bytes` (at most kBytesMax), aligned to 16 bytes. Throws std::bad_alloc as operator
  // new does. May ask a RegionHelper for a region.
  void* take(size_t bytes);
  // Gives back what take() of this heap returned.
  void give_back(void* memory);

  // Adds an empty region whose memory is there, if the heap has none and asks for huge pages. Does nothing if
  // the system has no memory. Takes up to 5 ms, so this is work for a job.
  void make_region_ready();

  // Returns figures, each of its own moment. Takes no lock.
  Stats stats() const {
    return {.in_use = in_use_.load(std::memory_order_relaxed),
            .resident = resident_.load(std::memory_order_relaxed),
            .mapped = mapped_.load(std::memory_order_relaxed),
            .free_pages = free_pages_.load(std::memory_order_relaxed),
            .made_ready = made_ready_.load(std::memory_order_relaxed)};
  }
  // Returns how many bytes of charges fit into `bytes` of memory: all of them, unless the heap keeps more
  // free memory than the charges contain. Half of them always do, because the free memory may be between the
  // pieces of others. Takes no lock.
  uint64_t for_charges(uint64_t bytes) const;
  // Returns the memory that charges of so many bytes take beyond themselves; usually 0. Takes no lock.
  uint64_t excess_of(uint64_t charges) const;

 private:
  struct Piece;
  static constexpr size_t kSizesPerLevel = 32;
  static constexpr size_t kLevels = 14;
  struct List {
    Piece* first = nullptr;
    Piece* last = nullptr;
  };

  static size_t list_of(size_t bytes);
  friend class RegionHelper;
  void* take_mapped(size_t bytes);
  void* take_free(size_t bytes, bool& asks);
  void ask_for_region();
  char* free_piece(Piece* piece);
  bool has_too_much() const CELLAR_REQUIRES(mutex_);
  Piece* find(size_t bytes) CELLAR_REQUIRES(mutex_);
  enum class Pages : uint8_t { kLater, kThere };  // there at their first use, or at once
  void add_region(Pages pages) CELLAR_REQUIRES(growth_);
  bool has_huge_pages() const { return in_use_.load(std::memory_order_relaxed) >= kHugePagesFrom; }
  void cut(Piece* piece, size_t bytes) CELLAR_REQUIRES(mutex_);
  Piece* join(Piece* piece, Piece* after) CELLAR_REQUIRES(mutex_);
  void put(Piece* piece) CELLAR_REQUIRES(mutex_);
  void take_out(Piece* piece) CELLAR_REQUIRES(mutex_);
  void release_pages() CELLAR_REQUIRES(mutex_);
  bool release_pages_of(Piece* piece) CELLAR_REQUIRES(mutex_);
  void publish() CELLAR_REQUIRES(mutex_);
  void lock_for_fork();
  void unlock_after_fork();
  void forget_helpers();

  const Memory memory_;
  Mutex growth_;  // held by the thread that adds a region; taken before mutex_
  Mutex mutex_;
  std::array<List, kLevels * kSizesPerLevel> lists_ CELLAR_GUARDED_BY(mutex_);
  std::array<uint32_t, kLevels> filled_ CELLAR_GUARDED_BY(mutex_) = {};  // a bit for each list with pieces
  uint64_t regions_ CELLAR_GUARDED_BY(mutex_) = 0;
  uint64_t empty_regions_ CELLAR_GUARDED_BY(mutex_) = 0;  // without a piece in use
  uint64_t used_ CELLAR_GUARDED_BY(mutex_) = 0;           // bytes of pieces in use in regions
  uint64_t fresh_ CELLAR_GUARDED_BY(mutex_) = 0;  // bytes of regions with huge pages, less what was taken
  uint64_t clean_ CELLAR_GUARDED_BY(mutex_) = 0;  // bytes of free pages without memory
  uint64_t dirty_ CELLAR_GUARDED_BY(mutex_) = 0;  // bytes of other whole pages of free pieces
  uint64_t alone_ CELLAR_GUARDED_BY(mutex_) = 0;  // bytes of pieces that are mapped on their own
  bool keeps_pages_ CELLAR_GUARDED_BY(mutex_) = false;  // the system takes no pages back
  std::atomic<uint64_t> in_use_{0};
  std::atomic<uint64_t> resident_{0};
  std::atomic<uint64_t> mapped_{0};
  std::atomic<uint64_t> free_pages_{0};
  std::atomic<uint64_t> made_ready_{0};
  std::atomic<double> charged_share_{1};  // of the resident memory
  Mutex helpers_mutex_;                   // taken before the locks of what helpers call
  std::vector<const RegionHelper*> helpers_ CELLAR_GUARDED_BY(helpers_mutex_);
};

// RegionHelper: while it lives, the heap calls `ask` when its next region is to be made. `ask` sees to it
// that another thread calls make_region_ready() soon. The thread that takes memory makes the call. It holds
// no lock of the lists. Calls come one at a time, at most once for each region. A forked child has no
// helpers, because it has no other threads.
class RegionHelper {
 public:
  // Borrows the heap.
  RegionHelper(BlockHeap& heap, std::function<void()> ask);
  RegionHelper(const RegionHelper&) = delete;
  RegionHelper& operator=(const RegionHelper&) = delete;
  // Returns when no call is under way.
  ~RegionHelper();

 private:
  friend class BlockHeap;
  BlockHeap& heap_;
  const std::function<void()> ask_;
};

}  // namespace cellar
