// Caps for untrusted bytes: every length from a file is compared with one of them before it is used.
#pragma once

#include <cstddef>
#include <cstdint>

namespace cellar {

// Blocks. A reader's option may lower or raise what one may hold when decompressed.
constexpr uint64_t kBlockDiskBytesMax = 256u << 20;
constexpr uint64_t kBlockPayloadBytesMax = 64u << 20;

// The index: levels, and one block of it. HBase's are 128 KiB; a foreign root of one level may be large.
constexpr uint32_t kIndexDepthMax = 16;
constexpr size_t kIndexBlockBytesMax = 32u << 20;

// The limit of a flat key. Row and family at their limits leave the rest to the qualifier.
constexpr size_t kKeyBytesMax = (64u << 10) + 32767;

constexpr uint64_t kFileInfoBytesMax = 16u << 20;
constexpr uint64_t kFileInfoEntriesMax = 65536;
constexpr size_t kComparatorBytesMax = 1024;
constexpr size_t kMetaNameBytesMax = 1024;

constexpr uint64_t kBloomChunkBytesMax = 4u << 20;
constexpr uint32_t kBloomHashesMax = 32;  // more: the filter is ignored, not refused

// The memory that an open file may hold permanently: this and a quarter of its size.
constexpr uint64_t kOpenFileBytesMax = 128u << 20;

}  // namespace cellar
