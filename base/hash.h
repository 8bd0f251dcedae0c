// The hash functions of HBase's Bloom filters, bit for bit (org.apache.hadoop.hbase.util.MurmurHash,
// MurmurHash3, JenkinsHash), signed quirks included. Also a fast 64-bit hash for Cellar's tables in
// memory.
#pragma once

#include <cstdint>
#include <string_view>

namespace cellar {

// Values as stored in a Bloom filter's meta block.
enum class BloomHash : uint32_t { kJenkins = 0, kMurmur = 1, kMurmur3 = 2 };

uint32_t jenkins_hash(std::string_view bytes, uint32_t seed);
uint32_t murmur_hash(std::string_view bytes, uint32_t seed);
uint32_t murmur3_hash(std::string_view bytes, uint32_t seed);
uint32_t bloom_hash(BloomHash kind, std::string_view bytes, uint32_t seed);

// Returns a hash for tables in memory. Its values are stored nowhere and may change between versions.
uint64_t hash64(std::string_view bytes);

}  // namespace cellar
