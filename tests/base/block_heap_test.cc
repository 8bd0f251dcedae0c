// Goal: pieces are aligned and their own, and free memory goes back to the system in every order of frees.
// Method: sizes at the edges of rounding, random pieces that carry marks, and the heap's figures compared
// with those of the kernel. Two threads give back what the other one took.
#include "base/block_heap.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <limits>
#include <memory>
#include <new>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/pages.h"
#include "base/random.h"
#include "base/recycled.h"
#include "tests/support/address_space.h"

namespace cellar::testing {
namespace {

constexpr uint64_t kMib = 1 << 20;

// Returns how much memory of this process lies in huge pages.
uint64_t huge_page_bytes() {
  std::ifstream rollup("/proc/self/smaps_rollup");
  for (std::string word; rollup >> word;)
    if (uint64_t kib = 0; word == "AnonHugePages:" && rollup >> kib) return kib << 10;
  return 0;
}

// Returns the size of all mappings for which huge pages were asked for.
uint64_t advised_bytes() {
  std::ifstream maps("/proc/self/smaps");
  uint64_t bytes = 0, kib = 0;
  for (std::string line; std::getline(maps, line);) {
    std::istringstream words(line);
    std::string name;
    words >> name;
    if (name == "Size:") words >> kib;
    if (name == "VmFlags:" && line.find(" hg") != std::string::npos) bytes += kib << 10;
  }
  return bytes;
}

// Returns true if the system gives huge pages on request.
bool has_huge_pages() {
  if (kSanitized) return false;  // the regions come from its allocator
  const uint64_t before = huge_page_bytes();
  char* const pages = take_pages(4 * kMib, 4 * kMib);
  ::madvise(pages, 4 * kMib, MADV_HUGEPAGE);
  std::memset(pages, 1, 4 * kMib);
  const bool has = huge_page_bytes() >= before + 4 * kMib;
  return_pages(pages, 4 * kMib, 4 * kMib);
  return has;
}

struct Owned {
  char* start;
  size_t bytes;
  char mark;

  static Owned take(BlockHeap& heap, size_t bytes, char mark = 1) {
    const Owned owned{static_cast<char*>(heap.take(bytes)), bytes, mark};
    std::memset(owned.start, mark, bytes);
    return owned;
  }
  bool is_whole() const {
    return std::all_of(start, start + bytes, [this](char byte) { return byte == mark; });
  }
};

void shuffle(std::vector<Owned>& pieces, Random& random) {
  for (size_t i = pieces.size(); i > 1; --i) std::swap(pieces[i - 1], pieces[random.below(i)]);
}

TEST(BlockHeap, APieceIsLittleLargerThanItsBytes) {
  size_t before = 0;
  for (size_t bytes = 1; bytes < 3 * BlockHeap::kPieceBytesMax; bytes += 1 + bytes / 500) {
    const size_t piece = BlockHeap::piece_bytes(bytes);
    const size_t whole = bytes + BlockHeap::kHeaderBytes;
    EXPECT_GE(piece, whole);
    EXPECT_LE(piece,
              std::max<size_t>(whole + whole / 32 + 15, 48) + (piece > BlockHeap::kPieceBytesMax ? 4095 : 0));
    EXPECT_EQ(piece % 16, 0u);
    EXPECT_GE(piece, before);
    // A size that is rounded is not rounded again.
    EXPECT_EQ(BlockHeap::piece_bytes(piece - BlockHeap::kHeaderBytes), piece);
    EXPECT_LE(BlockHeap::charge_of(bytes), piece + piece / BlockHeap::kFreeShare);
    before = piece;
  }
}

TEST(BlockHeap, SizesAtTheEdgesOfRounding) {
  BlockHeap heap;
  std::vector<Owned> pieces;
  for (size_t power = 16; power <= 4 * BlockHeap::kPieceBytesMax; power *= 2) {
    for (const size_t edge : {power, power + power / 32, power + power / 2}) {
      for (int off = -17; off <= 17; ++off) {
        const size_t bytes = edge - BlockHeap::kHeaderBytes + static_cast<size_t>(off);
        if (off < 0 && edge < BlockHeap::kHeaderBytes + 17) continue;
        if (power > 64 << 10 && off % 8 != 0) continue;  // few of the large ones
        pieces.push_back(Owned::take(heap, bytes, static_cast<char>(pieces.size())));
        EXPECT_EQ(reinterpret_cast<uintptr_t>(pieces.back().start) % 16, 0u);
      }
    }
  }
  uint64_t sum = 0;
  for (const Owned& piece : pieces) sum += BlockHeap::piece_bytes(piece.bytes);
  // The rest of a region that is too small for a piece belongs to the piece before it.
  EXPECT_GE(heap.stats().in_use, sum);
  EXPECT_LE(heap.stats().in_use, sum + 48 * pieces.size());
  Random random(3);
  shuffle(pieces, random);
  for (const Owned& piece : pieces) {
    ASSERT_TRUE(piece.is_whole()) << piece.bytes;
    heap.give_back(piece.start);
  }
  EXPECT_EQ(heap.stats().in_use, 0u);
  EXPECT_LE(heap.stats().resident, BlockHeap::kFreeBytesMin);
}

TEST(BlockHeap, RandomPiecesKeepTheirBytes) {
  BlockHeap heap;
  Random random(11);
  std::vector<Owned> pieces;
  for (int step = 0; step < 40'000; ++step) {
    if (pieces.size() < 50 || (pieces.size() < 1500 && random.one_in(2))) {
      const size_t bytes = 1 + random.below(uint64_t{1} << random.below(random.one_in(20) ? 20 : 16));
      pieces.push_back(Owned::take(heap, bytes, static_cast<char>(random.next())));
    } else {
      std::swap(pieces[random.below(pieces.size())], pieces.back());
      ASSERT_TRUE(pieces.back().is_whole()) << step;
      heap.give_back(pieces.back().start);
      pieces.pop_back();
    }
    const BlockHeap::Stats stats = heap.stats();
    ASSERT_LE(stats.in_use, stats.resident) << step;
    ASSERT_LE(stats.resident, stats.mapped) << step;
  }
  for (const Owned& piece : pieces) {
    ASSERT_TRUE(piece.is_whole());
    heap.give_back(piece.start);
  }
}

TEST(BlockHeap, NeighboursThatAreFreeBecomeOnePiece) {
  BlockHeap heap;
  Random random(2);
  std::vector<Owned> pieces;
  for (int i = 0; i < 200; ++i) pieces.push_back(Owned::take(heap, 15'000));
  const Owned last = Owned::take(heap, 100);  // so that the region is not empty
  const uint64_t mapped = heap.stats().mapped;
  shuffle(pieces, random);
  for (const Owned& piece : pieces) heap.give_back(piece.start);
  for (size_t i = 0; i < 6; ++i) pieces[i] = Owned::take(heap, 500'000);
  EXPECT_EQ(heap.stats().mapped, mapped) << "no other region is needed";
  for (size_t i = 0; i < 6; ++i) heap.give_back(pieces[i].start);
  heap.give_back(last.start);
}

TEST(BlockHeap, EmptyRegionsAndLargePiecesGoBack) {
  const uint64_t before = bytes_of_pages();
  {
    BlockHeap heap;
    Random random(4);
    std::vector<Owned> pieces;
    for (int i = 0; i < 2'000; ++i) pieces.push_back(Owned::take(heap, 10'000 + random.below(20'000)));
    for (int i = 0; i < 8; ++i) pieces.push_back(Owned::take(heap, (1 << 20) + random.below(1 << 20)));
    EXPECT_GT(heap.stats().mapped, 40 * kMib);
    if (kKeepsMemory) {  // else the regions come from the allocator of a sanitizer
      EXPECT_GT(bytes_of_pages(), before + 40 * kMib);
    }
    shuffle(pieces, random);
    for (const Owned& piece : pieces) heap.give_back(piece.start);
    EXPECT_LE(heap.stats().mapped, BlockHeap::kRegionBytes) << "one region stays";
    EXPECT_LE(bytes_of_pages(), before + BlockHeap::kRegionBytes);
  }
  EXPECT_EQ(bytes_of_pages(), before);
}

// The freed pieces lie between others that are in use, so that no region is empty.
TEST(BlockHeap, PagesOfFreePiecesGoBack) {
  BlockHeap heap;
  Random random(6);
  std::vector<Owned> pieces;
  const uint64_t before = anonymous_bytes();
  for (int i = 0; i < 4'000; ++i) pieces.push_back(Owned::take(heap, 17'000));
  const uint64_t full = heap.stats().resident;
  EXPECT_GT(full, 64 * kMib);
  // A sanitizer takes memory of its own, which hides what the heap takes.
  const auto compare_with_kernel = [&](const BlockHeap::Stats& stats) {
    if (kSanitized) return;
    EXPECT_NEAR(static_cast<double>(anonymous_bytes() - before), static_cast<double>(stats.resident),
                2.0 * kMib);
  };
  compare_with_kernel(heap.stats());
  shuffle(pieces, random);
  for (size_t i = 0; i < 2'000; ++i) heap.give_back(pieces[i].start);
  const BlockHeap::Stats half = heap.stats();
  EXPECT_LT(half.in_use, full * 52 / 100);
  // Up to two parts of pages are left of each run of free pieces: a quarter of the pieces' size.
  EXPECT_LT(half.resident, full * 66 / 100);
  compare_with_kernel(half);
  for (size_t i = 2'000; i < 4'000; ++i) {
    ASSERT_TRUE(pieces[i].is_whole());
    heap.give_back(pieces[i].start);
  }
  EXPECT_LE(heap.stats().resident, BlockHeap::kFreeBytesMin);
  compare_with_kernel(heap.stats());
}

// A region of huge pages takes all its memory at once. The heap counts it, and releases none of it for the
// first pieces that are given back.
TEST(BlockHeap, RegionsOfALargeHeapHaveHugePages) {
  BlockHeap heap;
  Random random(7);
  std::vector<Owned> pieces;
  const uint64_t huge_before = huge_page_bytes();
  const uint64_t advised_before = advised_bytes();
  const bool compared = has_huge_pages();
  if (!compared) std::puts("huge pages were not compared: this system or sanitizer gives none");
  while (heap.stats().in_use < BlockHeap::kHugePagesFrom) pieces.push_back(Owned::take(heap, 17'000));
  EXPECT_EQ(huge_page_bytes(), huge_before) << "a small heap takes no more than it uses";
  while (heap.stats().in_use < 64 * kMib) {
    pieces.push_back(Owned::take(heap, 17'000));
    const BlockHeap::Stats stats = heap.stats();
    ASSERT_LE(stats.resident, stats.in_use + BlockHeap::kRegionBytes + kMib / 2);
    ASSERT_EQ(heap.excess_of(64 * kMib), 0u) << "a fresh region takes no room from the blocks";
    if (!random.one_in(10)) continue;
    std::swap(pieces[random.below(pieces.size())], pieces.back());
    heap.give_back(pieces.back().start);
    pieces.pop_back();
  }
  if (compared) {
    EXPECT_GE(huge_page_bytes(), huge_before + 40 * kMib);
  }
  shuffle(pieces, random);
  while (pieces.size() > 1'000) {
    heap.give_back(pieces.back().start);
    pieces.pop_back();
  }
  EXPECT_LT(heap.stats().free_pages, kMib + BlockHeap::kRegionBytes);
  if (compared) {
    EXPECT_LT(huge_page_bytes(), huge_before + 24 * kMib);
    EXPECT_LE(advised_bytes(), advised_before + BlockHeap::kRegionBytes)
        << "the system could fill them again";
  }
  for (const Owned& piece : pieces) {
    ASSERT_TRUE(piece.is_whole());
    heap.give_back(piece.start);
  }
  EXPECT_LE(heap.stats().resident, BlockHeap::kRegionBytes);
}

// ---- Regions that are made ready ----

// The helper that makes the region at once, on the thread that asks.
struct HelperAtOnce {
  explicit HelperAtOnce(BlockHeap& of) : heap(of) {}
  BlockHeap& heap;
  int asked = 0;
  const RegionHelper helper{heap, [this] {
                              ++asked;
                              heap.make_region_ready();
                            }};
};

void fill(BlockHeap& heap, std::vector<Owned>& pieces, uint64_t until) {
  while (heap.stats().in_use < until) pieces.push_back(Owned::take(heap, 17'000));
}

TEST(BlockHeap, AHelperMakesTheNextRegionReady) {
  BlockHeap heap;
  std::vector<Owned> pieces;
  {
    const HelperAtOnce helps(heap);
    fill(heap, pieces, BlockHeap::kHugePagesFrom - 100'000);
    EXPECT_EQ(helps.asked, 0) << "a small heap takes no more than it uses";
    uint64_t most_free = 0;
    for (uint64_t until = BlockHeap::kHugePagesFrom; until < 64 * kMib; until += 20'000) {
      fill(heap, pieces, until);
      const BlockHeap::Stats stats = heap.stats();
      most_free = std::max(most_free, stats.resident - stats.in_use);
      if (until < BlockHeap::kHugePagesFrom + 2 * BlockHeap::kRegionBytes) continue;
      ASSERT_GE(stats.mapped - stats.in_use, BlockHeap::kRegionBytes / 4 * 3) << until;
    }
    EXPECT_EQ(heap.stats().made_ready, static_cast<uint64_t>(helps.asked)) << "once for each region";
    EXPECT_NEAR(helps.asked, 28, 2);
    EXPECT_LE(most_free, 2 * BlockHeap::kRegionBytes + kMib);
    EXPECT_EQ(heap.excess_of(64 * kMib), 0u) << "a ready region takes no room from the blocks";
  }
  const uint64_t made = heap.stats().made_ready;
  fill(heap, pieces, 80 * kMib);
  EXPECT_EQ(heap.stats().made_ready, made) << "the helper is gone";
  for (const Owned& piece : pieces) {
    ASSERT_TRUE(piece.is_whole());
    heap.give_back(piece.start);
  }
  EXPECT_LE(heap.stats().resident, BlockHeap::kRegionBytes + BlockHeap::kFreeBytesMin / 2);
}

// The pages of a region that was made ready are there before its first piece. The first store brings a huge
// page, but only one small page.
void expect_ready_memory() {
  BlockHeap heap;
  std::vector<Owned> pieces;
  fill(heap, pieces, BlockHeap::kHugePagesFrom + kMib);
  const uint64_t mapped = heap.stats().mapped;
  const uint64_t before = anonymous_bytes();
  heap.make_region_ready();
  EXPECT_EQ(heap.stats().mapped, mapped + BlockHeap::kRegionBytes);
  EXPECT_GE(anonymous_bytes(), before + BlockHeap::kRegionBytes * 9 / 10);
  heap.make_region_ready();
  EXPECT_EQ(heap.stats().mapped, mapped + BlockHeap::kRegionBytes) << "one empty region is enough";
  EXPECT_EQ(heap.stats().made_ready, 1u);
  for (const Owned& piece : pieces) heap.give_back(piece.start);
}

TEST(BlockHeap, AReadyRegionHasItsMemory) {
  if (kSanitized) GTEST_SKIP() << "the regions come from the sanitizer's allocator";
  expect_ready_memory();
  ASSERT_EQ(::prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0), 0);  // for a system without huge pages
  expect_ready_memory();
  EXPECT_EQ(::prctl(PR_SET_THP_DISABLE, 0, 0, 0, 0), 0);
}

TEST(BlockHeap, BlocksThatComeAndGoAskForNoFurtherRegions) {
  BlockHeap heap;
  const HelperAtOnce helps(heap);
  std::vector<Owned> pieces;
  fill(heap, pieces, 32 * kMib);
  const int asked = helps.asked;
  for (int i = 0; i < 1'000; ++i) {
    const Owned block = Owned::take(heap, 17'000 + static_cast<size_t>(i) % 7 * 1'000);
    heap.give_back(block.start);
    if (i % 50 == 0) pieces.push_back(Owned::take(heap, 17'000));  // at all places in a region
  }
  EXPECT_LE(helps.asked, asked + 1);
  for (const Owned& piece : pieces) heap.give_back(piece.start);
}

TEST(BlockHeap, AHelperMayComeAndGoWhileThreadsTakeMemory) {
  BlockHeap heap;
  std::atomic<bool> stop = false;
  std::vector<std::jthread> threads;
  for (int i = 0; i < 2; ++i)
    threads.emplace_back([&] {
      std::vector<Owned> pieces;
      while (!stop || pieces.size() < 2'000) {
        pieces.push_back(Owned::take(heap, 17'000));
        if (pieces.size() < 2'000) continue;
        for (const Owned& piece : pieces) heap.give_back(piece.start);
        if (stop) return;
        pieces.clear();
      }
      for (const Owned& piece : pieces) heap.give_back(piece.start);
    });
  for (int i = 0; i < 200; ++i) {
    const auto alive = std::make_shared<std::atomic<bool>>(true);
    {
      const RegionHelper helper(heap, [&heap, alive] {
        EXPECT_TRUE(alive->load());
        heap.make_region_ready();
      });
      std::this_thread::yield();
    }
    alive->store(false);
  }
  stop = true;
  threads.clear();
  EXPECT_EQ(heap.stats().in_use, 0u);
}

TEST(BlockHeap, AForkedChildHasNoHelpers) {
  BlockHeap& heap = BlockHeap::shared();
  int asked = 0;
  const RegionHelper helper(heap, [&] { ++asked; });
  std::vector<void*> pieces;
  const auto grow = [&] {
    for (int i = 0; i < 1'000; ++i) pieces.push_back(heap.take(17'000));
  };
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(20);
    grow();
    ::_exit(asked);
  }
  int ended = 1;
  EXPECT_EQ(::waitpid(child, &ended, 0), child);
  EXPECT_EQ(ended, 0);
  grow();
  EXPECT_EQ(asked > 0, kKeepsMemory) << "the parent still has it";
  for (void* piece : pieces) heap.give_back(piece);
}

// Regions that are empty except for a tiny piece lie in the list of empty ones.
TEST(BlockHeap, AnEmptyRegionIsToldFromANearlyEmptyOne) {
  BlockHeap heap;
  std::vector<Owned> tiny, large;
  for (int region = 0; region < 30; ++region) {
    tiny.push_back(Owned::take(heap, 16));
    for (int i = 0; i < 4; ++i) large.push_back(Owned::take(heap, 500'000));
  }
  const uint64_t full = heap.stats().mapped;
  for (const Owned& piece : large) heap.give_back(piece.start);
  for (size_t i = 0; i < tiny.size(); i += 2) heap.give_back(tiny[i].start);
  EXPECT_LE(heap.stats().mapped, full / 2 + 4 * BlockHeap::kRegionBytes);
  for (size_t i = 1; i < tiny.size(); i += 2) {
    EXPECT_TRUE(tiny[i].is_whole());
    heap.give_back(tiny[i].start);
  }
  EXPECT_LE(heap.stats().mapped, 2 * BlockHeap::kRegionBytes);
}

// Free pieces of 6 KiB have a whole page or none, by chance, and lie in one list.
TEST(BlockHeap, PagesGoBackFromAListWhoseOtherPiecesHaveNone) {
  BlockHeap heap;
  std::vector<Owned> pieces;
  for (int i = 0; i < 1'200; ++i) pieces.push_back(Owned::take(heap, 5'900));
  for (size_t i = 0; i < pieces.size(); i += 2) heap.give_back(pieces[i].start);
  const BlockHeap::Stats stats = heap.stats();
  EXPECT_GT(stats.free_pages, 0u);
  EXPECT_LE(stats.free_pages, BlockHeap::kFreeBytesMin / 2 + 8'192);
  for (size_t i = 1; i < pieces.size(); i += 2) heap.give_back(pieces[i].start);
}

// A process forks while other threads are within the heap. The child uses it.
TEST(BlockHeap, AForkedChildUsesIt) {
  BlockHeap& heap = BlockHeap::shared();
  std::atomic<bool> stop = false;
  const auto work = [&] {
    while (!stop) heap.give_back(heap.take(5'000));
  };
  std::vector<std::thread> threads;
  // Sanitizers do not support a fork while other threads run.
  for (int i = 0; i < (kSanitized ? 0 : 3); ++i) threads.emplace_back(work);
  for (int i = 0; i < 100; ++i) {
    const pid_t child = ::fork();
    if (child == 0) {
      ::alarm(20);  // a child that waits for ever is killed
      heap.give_back(heap.take(5'000));
      ::_exit(0);
    }
    int ended = 1;
    EXPECT_EQ(::waitpid(child, &ended, 0), child);
    EXPECT_EQ(ended, 0) << "fork " << i;
    if (ended != 0) break;
  }
  stop = true;
  for (std::thread& each : threads) each.join();
}

// Blocks of one size are replaced by blocks of many sizes, within a budget.
void replace_within(uint64_t budget, int steps) {
  BlockHeap heap;
  Random random(8);
  std::vector<Owned> pieces;
  uint64_t charges = 0;
  for (int step = 0; step < steps; ++step) {
    pieces.push_back(
        Owned::take(heap, step < steps / 2 ? 16'400 + random.below(1'200) : 600 + random.below(40'000)));
    charges += BlockHeap::charge_of(pieces.back().bytes);
    while (charges > heap.for_charges(budget)) {
      std::swap(pieces[random.below(pieces.size())], pieces.back());
      charges -= BlockHeap::charge_of(pieces.back().bytes);
      heap.give_back(pieces.back().start);
      pieces.pop_back();
    }
    const uint64_t fresh = budget > BlockHeap::kHugePagesFrom ? BlockHeap::kRegionBytes : 0;
    ASSERT_LE(heap.stats().resident, budget + BlockHeap::kFreeBytesMin + fresh + 200'000) << step;
  }
  EXPECT_GT(charges, budget / 16 * 15) << "evicting for free memory would empty the cache";
  for (const Owned& piece : pieces) heap.give_back(piece.start);
}

TEST(BlockHeap, ChargesContainWhatABusyHeapTakes) {
  replace_within(16 * kMib, 60'000);
  replace_within(64 * kMib, 60'000);
}

TEST(BlockHeap, RemainsOfPagesBeyondTheShareAreExcess) {
  BlockHeap heap;
  Random random(9);
  std::vector<Owned> pieces;
  for (int i = 0; i < 100'000; ++i) pieces.push_back(Owned::take(heap, 300));
  EXPECT_EQ(heap.excess_of(1000), 0u);
  EXPECT_EQ(heap.for_charges(1000), 1000u);
  shuffle(pieces, random);
  for (size_t i = 0; i < 50'000; ++i) heap.give_back(pieces[i].start);
  const BlockHeap::Stats stats = heap.stats();
  const uint64_t charges = stats.in_use + stats.in_use / BlockHeap::kFreeShare;
  EXPECT_GT(heap.excess_of(charges), charges / 2) << "half of each page is in use";
  EXPECT_NEAR(static_cast<double>(charges + heap.excess_of(charges)),
              static_cast<double>(stats.resident - BlockHeap::kFreeBytesMin),
              0.1 * static_cast<double>(charges));
  EXPECT_LE(heap.for_charges(1'000'000) + heap.excess_of(heap.for_charges(1'000'000)), 1'000'000u);
  for (size_t i = 50'000; i < 100'000; ++i) heap.give_back(pieces[i].start);
  EXPECT_EQ(heap.excess_of(1000), 0u);
}

TEST(BlockHeap, ThreadsGiveBackWhatOthersTook) {
  BlockHeap heap;
  std::array<std::atomic<Owned*>, 64> shared{};
  const auto work = [&](uint64_t seed) {
    Random random(seed);
    for (int step = 0; step < 20'000; ++step) {
      auto* const mine =
          new Owned(Owned::take(heap, 1 + random.below(40'000), static_cast<char>(random.next())));
      Owned* const other = shared[random.below(shared.size())].exchange(mine);
      if (other == nullptr) continue;
      ASSERT_TRUE(other->is_whole());
      heap.give_back(other->start);
      delete other;
    }
  };
  { const std::jthread first(work, 1), second(work, 2); }
  for (auto& each : shared)
    if (Owned* const left = each.load(); left != nullptr) {
      heap.give_back(left->start);
      delete left;
    }
  EXPECT_EQ(heap.stats().in_use, 0u);
}

TEST(BlockHeap, WithoutMemoryItThrowsAsNewDoesAndGoesOn) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer needs the address space";
  BlockHeap heap;
  std::vector<Owned> pieces;
  pieces.reserve(10'000);
  {
    const AddressSpace space(64 << 20);
    EXPECT_THROW((void)heap.take(100 << 20), std::bad_alloc);
    EXPECT_THROW(while (pieces.size() < pieces.capacity()) pieces.push_back(Owned::take(heap, 100'000)),
                 std::bad_alloc);
    heap.give_back(pieces.back().start);
    pieces.back() = Owned::take(heap, 100'000);
  }
  pieces.push_back(Owned::take(heap, 100'000));
  for (const Owned& piece : pieces) heap.give_back(piece.start);
  EXPECT_EQ(heap.stats().in_use, 0u);
}

TEST(BlockHeap, WithoutMemoryNoRegionIsMadeReady) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer needs the address space";
  BlockHeap heap;
  std::vector<Owned> pieces;
  pieces.reserve(10'000);
  fill(heap, pieces, BlockHeap::kHugePagesFrom + kMib);
  const uint64_t mapped = heap.stats().mapped;
  {
    const AddressSpace space(0);
    heap.make_region_ready();
  }
  EXPECT_EQ(heap.stats().mapped, mapped);
  EXPECT_EQ(heap.stats().made_ready, 0u);
  heap.make_region_ready();
  EXPECT_EQ(heap.stats().made_ready, 1u);
  for (const Owned& piece : pieces) heap.give_back(piece.start);
}

}  // namespace
}  // namespace cellar::testing
