// BloomWriter: fills chunks, folds the last, and lists them in the filter's meta block.
#include "hfile/block/bloom_writer.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/coding.h"

namespace cellar {
namespace {

constexpr uint32_t kCompoundFilterVersion = 3;

}  // namespace

BloomWriter::BloomWriter(const BloomShape& shape, BloomHash hash, std::string comparator)
    : shape_(shape), hash_(hash), comparator_(std::move(comparator)) {}

void BloomWriter::add(std::string_view key) {
  if (keys_ > 0 && key == last_key_) return;
  if (full()) close_chunk();
  if (!current_) begin_chunk(key);
  current_->keys.push_back(bloom_hashes(hash_, key));
  last_key_.assign(key);
  ++keys_;
}

// After a full chunk, the next one is likely to be full as well.
void BloomWriter::begin_chunk(std::string_view key) {
  current_.emplace(BloomChunk{std::string(key), {}});
  if (keys_ != 0) current_->keys.reserve(shape_.keys_max);
}

void BloomWriter::close_chunk() {
  ready_.push_back(std::move(*current_));
  current_.reset();
}

void BloomWriter::take_due(std::vector<BloomChunk>& chunks) {
  if (full()) close_chunk();
  std::ranges::move(ready_, std::back_inserter(chunks));
  ready_.clear();
}

void BloomWriter::take_rest(std::vector<BloomChunk>& chunks) {
  if (current_) close_chunk();
  take_due(chunks);
}

Status BloomWriter::write(const std::vector<BloomChunk>& chunks, BlockWriter& blocks) {
  for (const BloomChunk& chunk : chunks) {
    BloomBits bits(shape_);
    for (const BloomHashes& key : chunk.keys) bits.add(key);
    bits.fold();
    keys_max_ += bits.keys_max();
    bytes_ += bits.bytes().size();
    CELLAR_TRY_ASSIGN(const BlockPlace place, blocks.write(BlockKind::kBloomChunk, bits.bytes()));
    index_.add(chunk.first_key, place);
  }
  return {};
}

std::string BloomWriter::meta_payload() const {
  std::string payload;
  append_be32(payload, kCompoundFilterVersion);
  append_be64(payload, bytes_);
  append_be32(payload, shape_.hashes);
  append_be32(payload, static_cast<uint32_t>(hash_));
  append_be64(payload, keys_);
  append_be64(payload, keys_max_);
  append_be32(payload, static_cast<uint32_t>(index_.count()));
  append_hadoop_vint(payload, static_cast<int64_t>(comparator_.size()));
  payload.append(comparator_);
  index_.append_root(payload);
  return payload;
}

uint64_t BloomWriter::memory_bytes() const {
  uint64_t keys = current_ ? current_->keys.capacity() : 0;
  for (const BloomChunk& chunk : ready_) keys += chunk.keys.capacity();
  CELLAR_DCHECK(!current_ || current_->keys.size() <= shape_.keys_max);
  return keys * sizeof(BloomHashes);
}

}  // namespace cellar
