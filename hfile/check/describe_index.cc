// describe: the index, entry by entry, and the chunks of the Bloom filters.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "hfile/check/describe_parts.h"

namespace cellar {

using Parts = FileParts;

namespace {

// The walk through the tree, each node before what it leads to.
class IndexWalk {
 public:
  IndexWalk(const IndexReader& index, uint64_t list_max, HFileDescription& out)
      : index_(index), list_max_(list_max), out_(out) {}

  Status run() {
    node(index_.root(), 0);
    return failure_;
  }

 private:
  void node(const IndexNode& at, uint32_t level) {
    for (uint32_t i = 0; i < at.size(); ++i) {
      if (out_.index.size() >= list_max_) {
        out_.index_complete = false;
        return;
      }
      HFileIndexLine line;
      line.level = level;
      line.entry = i;
      line.leads_to = kind_below(level);
      line.offset = at.child_offset(i);
      line.disk_bytes = at.child_disk_bytes(i);
      line.key = at.key(i);
      out_.index.push_back(std::move(line));
      if (at.children_are_data()) continue;
      const Result<const IndexNode*> child = index_.child(at, i, level, nullptr);
      if (child.ok()) {
        node(**child, level + 1);
        continue;
      }
      out_.index.back().trouble = child.status().message();
      out_.index_complete = false;
      if (failure_.ok()) failure_ = child.status();
    }
  }

  std::string_view kind_below(uint32_t level) const {
    const BlockKind kind = level + 1 == index_.levels()   ? BlockKind::kData
                           : level + 2 == index_.levels() ? BlockKind::kLeafIndex
                                                          : BlockKind::kIntermediateIndex;
    return kBlockKindNames[static_cast<size_t>(kind)];
  }

  const IndexReader& index_;
  const uint64_t list_max_;
  HFileDescription& out_;
  Status failure_;
};

uint64_t bits_set_in(std::string_view bytes) {
  uint64_t bits = 0;
  for (const char c : bytes) bits += static_cast<uint64_t>(std::popcount(static_cast<uint8_t>(c)));
  return bits;
}

// From the share of bits that are set: a key sets `hashes` of them, wherever they fall.
void estimate(uint32_t hashes, HFileBloomChunk& chunk) {
  const double bits = static_cast<double>(chunk.bytes) * 8;
  const double set = static_cast<double>(chunk.bits_set);
  chunk.false_positives = std::pow(set / bits, hashes);
  const double full = std::min(set, bits - 0.5);  // where all are set any number of keys will do
  chunk.keys_estimated = static_cast<uint64_t>(std::llround(-bits / hashes * std::log1p(-full / bits)));
}

}  // namespace

Status describe_index(const Parts& parts, uint64_t list_max, HFileDescription& out) {
  return IndexWalk(*parts.index, list_max, out).run();
}

void describe_chunks(const BloomReader* bloom, uint64_t list_max, HFileBloomLine& out) {
  if (bloom == nullptr) return;
  for (uint32_t i = 0; i < bloom->chunks(); ++i) {
    if (out.chunk_list.size() >= list_max) {
      out.chunks_left_out = bloom->chunks() - i;
      return;
    }
    HFileBloomChunk chunk;
    chunk.offset = bloom->chunk_offset(i);
    chunk.disk_bytes = bloom->chunk_disk_bytes(i);
    chunk.first_key = bloom->chunk_key(i);
    const Result<std::string_view> bits = bloom->chunk(i, nullptr);
    if (bits.ok()) {
      chunk.bytes = bits->size();
      chunk.bits_set = bits_set_in(*bits);
      estimate(bloom->facts().hashes, chunk);
    } else {
      chunk.trouble = bits.status().message();
    }
    out.chunk_list.push_back(std::move(chunk));
  }
}

}  // namespace cellar
