// One fuzz target as a libFuzzer program; CELLAR_FUZZ_TARGET is its function. With --write-seeds DIR it
// writes what to begin with, and ends.
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>

#include "tests/fuzz/targets.h"

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  if (*argc != 3 || std::strcmp((*argv)[1], "--write-seeds") != 0) return 0;
  int number = 0;
  for (const cellar::fuzz::Target& target : cellar::fuzz::targets()) {
    if (target.run != cellar::fuzz::CELLAR_FUZZ_TARGET) continue;
    for (const std::string& seed : cellar::fuzz::seeds_of(target)) {
      std::ofstream file((*argv)[2] + ("/own-" + std::to_string(number++)), std::ios::binary);
      file.write(seed.data(), static_cast<std::streamsize>(seed.size()));
    }
  }
  std::exit(0);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  cellar::fuzz::CELLAR_FUZZ_TARGET({reinterpret_cast<const char*>(data), size});
  return 0;
}

// libFuzzer's mutation; every other time the blocks' sums are made to agree again.
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned int seed) {
  size = LLVMFuzzerMutate(data, size, max_size);
  if (seed % 2 != 0) return size;
  std::string bytes(reinterpret_cast<const char*>(data), size);
  cellar::fuzz::mend_sums(bytes);
  std::memcpy(data, bytes.data(), size);
  return size;
}
