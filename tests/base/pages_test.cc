// Goal: pages are aligned as asked for. Blocks wait for the next memtable while somebody asks for them, and
// go back to the system afterwards.
#include "base/pages.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include "base/recycled.h"
#include "tests/support/address_space.h"

namespace cellar::testing {

// AddressSanitizer gets all memory back at once.
constexpr uint64_t kKept = kKeepsMemory ? SparePages::kBlockBytes : 0;  // of a block

// Returns how many pages of a block are in memory.
size_t resident_pages(char* block) {
  std::vector<unsigned char> resident(SparePages::kBlockBytes / 4096);
  EXPECT_EQ(::mincore(block, SparePages::kBlockBytes, resident.data()), 0);
  return static_cast<size_t>(
      std::ranges::count_if(resident, [](unsigned char page) { return (page & 1) != 0; }));
}

TEST(Pages, TheyAreAlignedAndGoBack) {
  const uint64_t before = bytes_of_pages();
  for (size_t alignment = kPagesAlignment; alignment <= 16 << 20; alignment *= 4) {
    std::vector<char*> blocks;
    for (size_t i = 0; i < 5; ++i) {
      const size_t bytes = 4096 * (3 * i + 1);
      blocks.push_back(take_pages(bytes, alignment));
      EXPECT_EQ(reinterpret_cast<uintptr_t>(blocks.back()) % alignment, 0u) << alignment;
      std::memset(blocks.back(), 1, bytes);
    }
    for (size_t i = 0; i < 5; ++i) return_pages(blocks[i], 4096 * (3 * i + 1), alignment);
    EXPECT_EQ(bytes_of_pages(), before);
  }
}

TEST(Pages, TheRestOfAnAlignedMappingGoesBack) {
  if (!kKeepsMemory) GTEST_SKIP() << "the memory comes from the allocator of a sanitizer";
  constexpr size_t kBytes = 64 << 10, kAlignment = 16 << 20;
  const uint64_t before = mapped_bytes();
  std::vector<char*> blocks;
  for (int i = 0; i < 20; ++i) blocks.push_back(take_pages(kBytes, kAlignment));
  EXPECT_LE(mapped_bytes(), before + 20 * kBytes + (1 << 20));
  for (char* const block : blocks) return_pages(block, kBytes, kAlignment);
  EXPECT_LE(mapped_bytes(), before + (1 << 20));
}

TEST(SparePages, ABlockIsTakenAgainWhileSomebodyAsksForIt) {
  const uint64_t before = bytes_of_pages();
  {
    const SparePages user(SparePages::kBlockBytes);
    const uint64_t uses = SparePages::uses();
    char* const block = take_pages(SparePages::kBlockBytes);
    return_pages(block, SparePages::kBlockBytes);
    EXPECT_EQ(SparePages::bytes(), kKept);
    char* const again = take_pages(SparePages::kBlockBytes);
    EXPECT_EQ(again == block, kKeepsMemory);
    EXPECT_EQ(SparePages::bytes(), 0u);
    return_pages(again, SparePages::kBlockBytes);
    char* const larger = take_pages(SparePages::kBlockBytes + 1);
    return_pages(larger, SparePages::kBlockBytes + 1);
    EXPECT_EQ(bytes_of_pages(), before + kKept) << "only blocks of one size are kept";
    EXPECT_EQ(SparePages::uses(), uses + (kKeepsMemory ? 3 : 0));
    SparePages::release();
    EXPECT_EQ(bytes_of_pages(), before);
  }
  EXPECT_EQ(bytes_of_pages(), before);
}

TEST(SparePages, TheyHaveALimitAndLeaveWithTheirUser) {
  const uint64_t before = bytes_of_pages();
  auto user = std::make_unique<SparePages>(UINT64_MAX);
  std::vector<char*> blocks;
  while (blocks.size() < SparePages::kBytesMax / SparePages::kBlockBytes + 5)
    blocks.push_back(take_pages(SparePages::kBlockBytes));
  for (char* const block : blocks) return_pages(block, SparePages::kBlockBytes);
  constexpr uint64_t kAll = kKept * (SparePages::kBytesMax / SparePages::kBlockBytes);
  EXPECT_EQ(SparePages::bytes(), kAll);
  EXPECT_EQ(bytes_of_pages(), before + kAll);
  user.reset();
  EXPECT_EQ(bytes_of_pages(), before);
  return_pages(take_pages(SparePages::kBlockBytes), SparePages::kBlockBytes);
  EXPECT_EQ(SparePages::bytes(), 0u) << "nobody asks for it any more";
}

TEST(SparePages, TheSumOfWhatIsAskedForIsKept) {
  const auto kept_of_8 = [] {
    std::vector<char*> blocks(8);
    for (char*& block : blocks) block = take_pages(SparePages::kBlockBytes);
    for (char* const block : blocks) return_pages(block, SparePages::kBlockBytes);
    return SparePages::bytes();
  };
  const SparePages none(SparePages::kBlockBytes - 1);
  EXPECT_EQ(kept_of_8(), 0u);
  const SparePages two(2 * SparePages::kBlockBytes);
  {
    const SparePages three(3 * SparePages::kBlockBytes);
    EXPECT_EQ(kept_of_8(), 5 * kKept);
  }
  EXPECT_EQ(SparePages::bytes(), 2 * kKept);
  EXPECT_EQ(kept_of_8(), 2 * kKept);
}

TEST(SparePages, BlocksAreMadeReadyWithinTheLimit) {
  const uint64_t before = bytes_of_pages();
  SparePages::make_ready(UINT64_MAX);
  EXPECT_EQ(SparePages::bytes(), 0u) << "nobody asks for it";
  const SparePages user(4 * SparePages::kBlockBytes);
  SparePages::make_ready(SparePages::kBlockBytes + 1);
  EXPECT_EQ(SparePages::bytes(), 2 * kKept);
  SparePages::make_ready(2 * SparePages::kBlockBytes);
  EXPECT_EQ(SparePages::bytes(), 2 * kKept);
  SparePages::make_ready(UINT64_MAX);
  EXPECT_EQ(SparePages::bytes(), 4 * kKept);
  EXPECT_EQ(bytes_of_pages(), before + 4 * kKept);
  char* const block = take_pages(SparePages::kBlockBytes);
  if (kKeepsMemory) {
    EXPECT_EQ(resident_pages(block), SparePages::kBlockBytes / 4096);
  }
  return_pages(block, SparePages::kBlockBytes);
  SparePages::release();
  EXPECT_EQ(bytes_of_pages(), before);
}

// Threads take and return blocks; each block has one owner at a time. All of a thread's blocks are marked
// before the first one is looked at.
TEST(SparePages, ThreadsNeverShareABlock) {
  const SparePages user(SparePages::kBytesMax);
  std::vector<std::thread> threads;
  for (char mark = 1; mark <= 4; ++mark) {
    threads.emplace_back([mark] {
      std::vector<char*> blocks(8);
      for (int round = 0; round < 100; ++round) {
        for (char*& block : blocks) block = take_pages(SparePages::kBlockBytes);
        for (char* const block : blocks) std::memset(block, mark, 4096);
        if (round % 16 == 0) SparePages::release();
        for (char* const block : blocks) {
          EXPECT_EQ(std::count(block, block + 4096, mark), 4096);
          return_pages(block, SparePages::kBlockBytes);
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// A fork waits for threads that use the blocks, and the child goes on with them.
TEST(SparePages, AForkedChildMayUseThem) {
  const SparePages user(SparePages::kBytesMax);
  std::atomic<bool> over = false;
  std::thread other;
  // AddressSanitizer does not support a fork while other threads run: its locks stay locked in the child.
  if (kKeepsMemory) {
    other = std::thread([&] {
      while (!over) return_pages(take_pages(SparePages::kBlockBytes), SparePages::kBlockBytes);
    });
  }
  for (int i = 0; i < 50; ++i) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      alarm(20);  // a lock that nobody gives back would hold it for ever
      return_pages(take_pages(SparePages::kBlockBytes), SparePages::kBlockBytes);
      _exit(0);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  }
  over = true;
  if (other.joinable()) other.join();
}

}  // namespace cellar::testing
