// Goal: pieces are aligned and do not overlap, and a large piece wastes no block.
#include "base/arena.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "base/random.h"

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

}  // namespace cellar::testing
