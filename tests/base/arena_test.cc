// Goal: pieces are aligned and do not overlap, and a large piece wastes no block.
#include "base/arena.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "base/pages.h"
#include "base/random.h"
#include "base/recycled.h"

namespace cellar::testing {

TEST(Arena, PiecesAreAlignedAndTheirOwn) {
  Arena arena(4096);
  Random random(5);
  struct Piece {
    char* start;
    size_t bytes;
    char mark;
  };
  std::vector<Piece> pieces;
  for (int i = 0; i < 3000; ++i) {
    const size_t bytes = 1 + random.below(random.one_in(50) ? 9000 : 200);
    const size_t alignment = size_t{1} << random.below(7);
    char* start = arena.allocate(bytes, alignment);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(start) % alignment, 0U);
    pieces.push_back({start, bytes, static_cast<char>(random.next())});
    std::memset(start, pieces.back().mark, bytes);
  }
  for (const Piece& piece : pieces) {
    EXPECT_EQ(piece.start[0], piece.mark);
    EXPECT_EQ(piece.start[piece.bytes - 1], piece.mark);
  }
}

TEST(Arena, ALargePieceLeavesTheCurrentBlockInUse) {
  Arena arena(4096);
  char* first = arena.allocate(8);
  (void)arena.allocate(100'000);
  char* second = arena.allocate(8);
  EXPECT_EQ(second, first + 8);
}

// Blocks of 1 MiB are pages, which go back to the system: nobody asked the process to keep spare ones.
TEST(Arena, LargeBlocksAreGivenBack) {
  const uint64_t before = bytes_of_pages();
  {
    Arena arena(1 << 20);
    for (int i = 0; i < 64; ++i) {
      std::memset(arena.allocate(200 << 10), 1, 200 << 10);
      std::memset(arena.allocate(900 << 10), 2, 900 << 10);  // a block of its own
      std::memset(arena.allocate((1 << 20) + 1), 3, (1 << 20) + 1);
    }
    if (kKeepsMemory) {
      EXPECT_GE(bytes_of_pages(), before + (64 << 20));
    }
  }
  EXPECT_EQ(bytes_of_pages(), before);
}

}  // namespace cellar::testing
