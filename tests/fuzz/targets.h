// Fuzz targets: each takes any bytes, and must neither crash nor hang nor take memory without bound. A
// target's comment states its further assertions; a failed assertion ends the process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cellar::fuzz {

// A whole file: opened, described, verified to the last level, scanned, searched, salvaged. If verification
// found nothing, cells of a scan without an error must be in order.
void fuzz_file(std::string_view input);
// The payload of one data block: the first byte chooses encoding, tags and sequences.
void fuzz_block(std::string_view input);
// A compressed body: the first byte chooses the codec, the next three the size that it claims to have. The
// rest is also compressed, and must come back.
void fuzz_codec(std::string_view input);
// The payload of one block of the load-on-open section of a file that is sound otherwise, sums included. The
// first byte chooses a file with a filter of rows or of columns. It also chooses the block: root index, meta
// index, file info or a filter.
void fuzz_section(std::string_view input);

struct Target {
  const char* name;
  void (*run)(std::string_view input);
};
const std::vector<Target>& targets();
// Inputs to begin with, made by Cellar's own writer; files of HBase's are better where they are at hand.
std::vector<std::string> seeds_of(const Target& target);

// Where a block's parts stand in a file.
struct BlockPlace {
  size_t payload = 0;
  size_t sums = 0;
  size_t end = 0;
};
// The block at `at`; none where its header does not agree with itself and with what follows.
std::optional<BlockPlace> block_at(std::string_view bytes, size_t at);

// Changes `bytes` so that the sums of its blocks agree again, as far as it has blocks: mutations then get
// past them.
void mend_sums(std::string& bytes);

}  // namespace cellar::fuzz
