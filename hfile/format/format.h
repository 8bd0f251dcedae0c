// The fixed numbers of HBase's store file format, and the caps put on bytes from outside.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "hfile/format/caps.h"

namespace cellar {

enum class BlockKind : uint8_t {
  kData,               // DATABLK*
  kEncodedData,        // DATABLKE
  kLeafIndex,          // IDXLEAF2
  kBloomChunk,         // BLMFBLK2
  kMeta,               // METABLKc
  kIntermediateIndex,  // IDXINTE2
  kRootIndex,          // IDXROOT2
  kFileInfo,           // FILEINF2
  kBloomMeta,          // BLMFMET2
  kDeleteBloomMeta,    // DFBLMET2
};
constexpr size_t kBlockKinds = 10;

constexpr std::string_view kBlockMagics[kBlockKinds] = {"DATABLK*", "DATABLKE", "IDXLEAF2", "BLMFBLK2",
                                                        "METABLKc", "IDXINTE2", "IDXROOT2", "FILEINF2",
                                                        "BLMFMET2", "DFBLMET2"};
constexpr std::string_view kBlockKindNames[kBlockKinds] = {"data",       "data",
                                                           "leaf index", "bloom chunk",
                                                           "meta",       "intermediate index",
                                                           "root index", "file info",
                                                           "bloom meta", "delete-family bloom meta"};

// Returns true if the block holds cells.
constexpr bool is_data(BlockKind kind) { return kind == BlockKind::kData || kind == BlockKind::kEncodedData; }

constexpr std::string_view kTrailerMagic = "TRABLK\"$";
constexpr size_t kBlockHeaderBytes = 33;     // v3, and v2 from minor 1
constexpr size_t kBlockHeaderBytesV20 = 24;  // v2 minor 0: no checksums
constexpr size_t kTrailerBytesV1 = 60;
constexpr size_t kTrailerBytesV2 = 212;
constexpr size_t kTrailerBytesV3 = 4096;

enum class ChecksumType : uint8_t { kNull = 0, kCrc32 = 1, kCrc32c = 2 };
constexpr uint32_t kBytesPerChecksum = 16384;

constexpr std::string_view kStandardComparator = "org.apache.hadoop.hbase.KeyValue$KVComparator";

}  // namespace cellar
