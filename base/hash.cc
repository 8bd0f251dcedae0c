// HBase's three Bloom hashes, bit for bit, and a folded-multiply hash for tables in memory.
#include "base/hash.h"

#include <bit>
#include <cstring>

#include "base/coding.h"

namespace cellar {

namespace {

// Returns the byte as Java sees it: sign-extended. HBase's MurmurHash relies on that for its tail.
uint32_t java_byte(char c) { return static_cast<uint32_t>(static_cast<int32_t>(static_cast<int8_t>(c))); }
uint32_t plain_byte(char c) { return static_cast<uint8_t>(c); }

struct JenkinsState {
  uint32_t a, b, c;

  void mix() {
    a -= c, a ^= std::rotl(c, 4), c += b;
    b -= a, b ^= std::rotl(a, 6), a += c;
    c -= b, c ^= std::rotl(b, 8), b += a;
    a -= c, a ^= std::rotl(c, 16), c += b;
    b -= a, b ^= std::rotl(a, 19), a += c;
    c -= b, c ^= std::rotl(b, 4), b += a;
  }

  void finish() {
    c ^= b, c -= std::rotl(b, 14);
    a ^= c, a -= std::rotl(c, 11);
    b ^= a, b -= std::rotl(a, 25);
    c ^= b, c -= std::rotl(b, 16);
    a ^= c, a -= std::rotl(c, 4);
    b ^= a, b -= std::rotl(a, 14);
    c ^= b, c -= std::rotl(b, 24);
  }
};

__extension__ typedef unsigned __int128 Product;

uint64_t fold(uint64_t a, uint64_t b) {
  const auto product = static_cast<Product>(a) * b;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

// Odd constants with half their bits set, from the digits of pi.
constexpr uint64_t kPi0 = 0x243f6a8885a308d3;
constexpr uint64_t kPi1 = 0x13198a2e03707345;
constexpr uint64_t kPi2 = 0xa4093822299f31d1;

}  // namespace

uint32_t jenkins_hash(std::string_view bytes, uint32_t seed) {
  const uint32_t start = 0xdeadbeef + static_cast<uint32_t>(bytes.size()) + seed;
  JenkinsState state{start, start, start};
  const char* at = bytes.data();
  size_t left = bytes.size();
  for (; left > 12; left -= 12, at += 12) {
    state.a += load_le32(at);
    state.b += load_le32(at + 4);
    state.c += load_le32(at + 8);
    state.mix();
  }
  if (left == 0) return state.c;
  char tail[12] = {};  // the last 1 to 12 bytes, then zeros: equals the sums of lookup3's switch
  std::memcpy(tail, at, left);
  state.a += load_le32(tail);
  state.b += load_le32(tail + 4);
  state.c += load_le32(tail + 8);
  state.finish();
  return state.c;
}

uint32_t murmur_hash(std::string_view bytes, uint32_t seed) {
  constexpr uint32_t kMultiplier = 0x5bd1e995;
  uint32_t h = seed ^ static_cast<uint32_t>(bytes.size());
  const char* at = bytes.data();
  size_t left = bytes.size();
  for (; left >= 4; left -= 4, at += 4) {
    uint32_t k = load_le32(at);
    k *= kMultiplier;
    k ^= k >> 24;
    k *= kMultiplier;
    h *= kMultiplier;
    h ^= k;
  }
  if (left >= 3) h ^= java_byte(at[2]) << 16;
  if (left >= 2) h ^= java_byte(at[1]) << 8;
  if (left >= 1) {
    h ^= java_byte(at[0]);
    h *= kMultiplier;
  }
  h ^= h >> 13;
  h *= kMultiplier;
  h ^= h >> 15;
  return h;
}

uint32_t murmur3_hash(std::string_view bytes, uint32_t seed) {
  constexpr uint32_t kFirst = 0xcc9e2d51;
  constexpr uint32_t kSecond = 0x1b873593;
  uint32_t h = seed;
  const char* at = bytes.data();
  size_t left = bytes.size();
  for (; left >= 4; left -= 4, at += 4) {
    h ^= std::rotl(load_le32(at) * kFirst, 15) * kSecond;
    h = std::rotl(h, 13) * 5 + 0xe6546b64;
  }
  uint32_t k = 0;
  if (left >= 3) k ^= plain_byte(at[2]) << 16;
  if (left >= 2) k ^= plain_byte(at[1]) << 8;
  if (left >= 1) {
    k ^= plain_byte(at[0]);
    h ^= std::rotl(k * kFirst, 15) * kSecond;
  }
  h ^= static_cast<uint32_t>(bytes.size());
  h ^= h >> 16;
  h *= 0x85ebca6b;
  h ^= h >> 13;
  h *= 0xc2b2ae35;
  h ^= h >> 16;
  return h;
}

uint32_t bloom_hash(BloomHash kind, std::string_view bytes, uint32_t seed) {
  switch (kind) {
    case BloomHash::kJenkins:
      return jenkins_hash(bytes, seed);
    case BloomHash::kMurmur:
      return murmur_hash(bytes, seed);
    case BloomHash::kMurmur3:
      return murmur3_hash(bytes, seed);
  }
  return 0;
}

uint64_t hash64(std::string_view bytes) {
  const char* at = bytes.data();
  size_t left = bytes.size();
  uint64_t h = kPi0 ^ bytes.size();
  for (; left > 16; left -= 16, at += 16) h = fold(load_le64(at) ^ kPi1, load_le64(at + 8) ^ h);
  // 0 to 16 bytes are left; two overlapping words cover them without a loop.
  uint64_t low = 0;
  uint64_t high = 0;
  if (left >= 8) {
    low = load_le64(at);
    high = load_le64(at + left - 8);
  } else if (left >= 4) {
    low = load_le32(at);
    high = load_le32(at + left - 4);
  } else if (left > 0) {
    low = plain_byte(at[0]) << 16 | plain_byte(at[left / 2]) << 8 | plain_byte(at[left - 1]);
  }
  return fold(kPi2 ^ bytes.size(), fold(low ^ kPi1, high ^ h));
}

}  // namespace cellar
