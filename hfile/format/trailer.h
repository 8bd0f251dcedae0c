// Trailer: the fixed end of an HFile, which says where everything else is.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cellar/file_system.h"
#include "cellar/status.h"
#include "hfile/format/format.h"

namespace cellar {

// A page of block sums, as the trailer names it; see BlockSums.
struct BlockSumsPage {
  uint64_t covered_bytes = 0;  // of the blocks whose sums it holds
  uint32_t disk_bytes = 0;     // of the page itself
  uint32_t sum = 0;            // block_sum() of the page itself

  bool operator==(const BlockSumsPage&) const = default;
};

struct Trailer {
  uint32_t major_version = 3;
  uint32_t minor_version = 3;
  uint64_t file_info_offset = 0;
  uint64_t load_on_open_offset = 0;
  uint64_t uncompressed_data_index_bytes = 0;
  uint64_t total_uncompressed_bytes = 0;
  uint32_t data_index_count = 0;
  uint32_t meta_index_count = 0;
  uint64_t entry_count = 0;
  uint32_t data_index_levels = 1;
  int64_t first_data_block_offset = -1;  // -1: no data
  int64_t last_data_block_offset = -1;
  std::string comparator{kStandardComparator};
  uint32_t codec = 2;  // Compressor::id; 2: NONE
  std::string
      encryption_algorithm;  // of an encrypted file, else empty (readers refuse it before anybody sees this)

  // Sums that Cellar's own writer adds: of the load-on-open section, and with it of the trailer itself.
  std::optional<uint32_t> section_sum;
  // The pages of block sums, which Cellar's own writer adds together with section_sum. Files of HBase and of
  // older versions of Cellar have none, nor have files without blocks before the load-on-open section.
  std::vector<BlockSumsPage> block_sums;

  bool large = false;  // version 2, but with a trailer of version 3's size (relabelled files)

  uint64_t trailer_bytes() const { return major_version == 2 && !large ? kTrailerBytesV2 : kTrailerBytesV3; }
  bool has_checksums() const { return major_version != 2 || minor_version >= 1; }
  size_t block_header_bytes() const { return has_checksums() ? kBlockHeaderBytes : kBlockHeaderBytesV20; }
};

// Reads the trailer of a file. Checks its sum, if it has one, the offsets (in order, inside the file), the
// bounds of counts and levels, and the codec. Errors: kCorruption; kNotSupported for version 1, unknown
// versions, unknown codecs and encrypted files. A file that is no HFile at all gives kCorruption with place
// "trailer" and the message "not an HFile: …".
Result<Trailer> read_trailer(const ReadableFile& file);
// The same; `bytes` receives the trailer as it is stored.
Result<Trailer> read_trailer(const ReadableFile& file, std::string& bytes);
// True when the status says that the bytes are no HFile at all (too short, no trailer magic): the command
// line exits 3 then.
bool is_not_an_hfile(const Status& status);

// The trailer's bytes, trailer_bytes() many, version 3 (or 2 with minor 3).
std::string encode_trailer(const Trailer& trailer);

}  // namespace cellar
