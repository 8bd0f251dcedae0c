// One fuzz target as a libFuzzer program; CELLAR_FUZZ_TARGET is its function. With --write-seeds DIR it
// writes what to begin with, and ends.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

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

namespace {

// Where the payloads of the file's blocks stand, as far as their headers agree; and its trailer.
std::vector<std::pair<size_t, size_t>> parts_of(std::string_view bytes) {
  std::vector<std::pair<size_t, size_t>> parts;
  size_t at = 0;
  while (const std::optional<cellar::fuzz::BlockPlace> block = cellar::fuzz::block_at(bytes, at)) {
    parts.emplace_back(at, block->payload - at);
    parts.emplace_back(block->payload, block->sums - block->payload);
    at = block->end;
  }
  if (at < bytes.size()) parts.emplace_back(at, std::min<size_t>(bytes.size() - at, 256));
  return parts;
}

}  // namespace

// libFuzzer's mutation. Every other time it mutates one part in its place, with all else where it was. Every
// other time the blocks' sums are made to agree again.
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned int seed) {
  const std::vector<std::pair<size_t, size_t>> parts = parts_of({reinterpret_cast<const char*>(data), size});
  if (seed % 2 != 0 && parts.size() > 1) {
    const auto [at, bytes] = parts[seed / 4 % parts.size()];
    if (bytes > 0) LLVMFuzzerMutate(data + at, bytes, bytes);
  } else {
    size = LLVMFuzzerMutate(data, size, max_size);
  }
  if (seed / 2 % 2 != 0) return size;
  std::string bytes(reinterpret_cast<const char*>(data), size);
  cellar::fuzz::mend_sums(bytes);
  std::memcpy(data, bytes.data(), size);
  return size;
}
