// Goal: sparse bytes answer as a plain string would.
#include "base/sparse_bytes.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/random.h"

namespace cellar::testing {

TEST(SparseBytes, AgreesWithAString) {
  Random random(9);
  SparseBytes sparse;
  std::string plain;
  for (int i = 0; i < 400; ++i) {
    const uint64_t kind = random.below(4);
    const uint64_t offset = random.below(200'000);
    if (kind == 0) {
      sparse.resize(offset);
      plain.resize(offset);
    } else {
      const std::string piece(random.below(3000), random.one_in(3) ? '\0' : static_cast<char>(random.next()));
      const uint64_t at = kind == 1 ? plain.size() : offset;
      sparse.write(at, piece);
      plain.resize(std::max<size_t>(plain.size(), at + piece.size()));
      plain.replace(at, piece.size(), piece);
    }
    ASSERT_EQ(sparse.size(), plain.size());
    if (plain.empty()) continue;
    const uint64_t from = random.below(plain.size());
    const uint64_t bytes = random.below(plain.size() - from + 1);
    ASSERT_EQ(sparse.read(from, bytes), plain.substr(from, bytes));
  }
  ASSERT_EQ(sparse.read(0, sparse.size()), plain);
}

TEST(SparseBytes, WhatWasCutComesBackAsZeros) {
  SparseBytes bytes;
  bytes.append("abcdef");
  bytes.resize(3);
  bytes.resize(6);
  EXPECT_EQ(bytes.read(0, 6), std::string("abc\0\0\0", 6));
  bytes.resize(uint64_t{1} << 36);
  EXPECT_EQ(bytes.read((uint64_t{1} << 36) - 2, 2), std::string(2, '\0'));
}

}  // namespace cellar::testing
