// Goal: whatever number a field of a file holds, reading the file takes neither much memory nor a crash.
// Method: small files of several shapes. Numbers that hurt careless readers take the place of each byte and
// those after it. The sums of the blocks agree with them, so that no sum protects the reader.
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "base/random.h"
#include "tests/fuzz/fuzz_files.h"
#include "tests/fuzz/targets.h"
#include "tests/support/address_space.h"
#include "tests/support/test_scale.h"

namespace cellar::testing {
namespace {

constexpr size_t kMemoryBytesMax = 256 << 20;

struct Hostile {
  const char* name;
  size_t bytes;
  uint64_t number;
};

// Signs, limits of the types, and sizes far above those of the files.
constexpr std::array<Hostile, 14> kHostile = {{{"zero", 8, 0},
                                               {"one", 4, 1},
                                               {"minus one", 8, UINT64_MAX},
                                               {"the largest int64", 8, INT64_MAX},
                                               {"the smallest int64", 8, uint64_t{1} << 63},
                                               {"a size of 4 GiB", 8, uint64_t{1} << 32},
                                               {"minus one of 32 bits", 4, UINT32_MAX},
                                               {"the largest int32", 4, INT32_MAX},
                                               {"the smallest int32", 4, uint64_t{1} << 31},
                                               {"a size of 64 MiB", 4, 64 << 20},
                                               {"a size of 1 MiB", 4, 1 << 20},
                                               {"the largest int16", 2, INT16_MAX},
                                               {"minus one of 16 bits", 2, UINT16_MAX},
                                               {"a byte of ones", 1, UINT8_MAX}}};

void store_number(std::string& bytes, size_t at, const Hostile& hostile) {
  for (size_t i = 0; i < hostile.bytes; ++i)
    bytes[at + i] = static_cast<char>(hostile.number >> (8 * (hostile.bytes - 1 - i)));
}

std::vector<std::string> files() {
  HFileWriterOptions options;
  options.bloom = "row";
  options.compression = "none";
  options.block_bytes = 200;
  options.bloom_chunk_bytes = 64;
  options.tags = options.mvcc = true;
  std::vector<std::string> all = {fuzz::small_file(options, 12)};
  options.encoding = "fast_diff";
  options.bloom = "rowcol";
  options.compress_tags = true;
  all.push_back(fuzz::small_file(options, 12));
  options.encoding = "row_index";
  options.compress_tags = false;
  options.index_chunk_bytes = 64;  // several levels of the index
  options.index_entries_min = 2;
  options.block_bytes = 60;
  all.push_back(fuzz::small_file(options, 12));
  options.compression = "snappy";
  options.encoding = "prefix";
  all.push_back(fuzz::small_file(options, 12));
  return all;
}

TEST(HostileFields, AnyNumberAnywhereIsReadInBoundedMemory) {
  const uint64_t share = scaled(1000);  // of 1000 numbers
  uint64_t read = 0;
  Random random(from_environment("CELLAR_SEED", 1));
  for (const std::string& sound : files()) {
    for (size_t at = 0; at < sound.size(); ++at) {
      for (const Hostile& hostile : kHostile) {
        if (at + hostile.bytes > sound.size() || random.below(1000) >= share) continue;
        SCOPED_TRACE("byte " + std::to_string(at) + " of " + std::to_string(sound.size()) + ": " +
                     hostile.name);
        std::string bytes = sound;
        store_number(bytes, at, hostile);
        fuzz::mend_sums(bytes);
        const AddressSpace limit(kMemoryBytesMax);
        fuzz::fuzz_file(bytes);
        ++read;
      }
    }
  }
  EXPECT_GE(read, 300u);
  count(read, "files with a hostile number and sums that match, read within 256 MiB");
}

}  // namespace
}  // namespace cellar::testing
