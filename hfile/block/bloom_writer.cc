// BloomWriter: fills chunks, folds the last, and lists them in the filter's meta block.
#include "hfile/block/bloom_writer.h"

#include <utility>

#include "base/assert.h"
#include "base/coding.h"

namespace cellar {
namespace {

constexpr uint32_t kCompoundFilterVersion = 3;

}  // namespace

void BloomKeys::add(std::string_view key) {
  CELLAR_DCHECK(ends_.empty() || ends_.back() == bytes_.size());
  bytes_.append(key);
  ends_.push_back(bytes_.size());
}

void BloomKeys::clear() {
  bytes_.clear();
  ends_.clear();
}

BloomWriter::BloomWriter(const BloomShape& shape, BloomHash hash, std::string comparator)
    : shape_(shape), hash_(hash), comparator_(std::move(comparator)) {}

void BloomWriter::take(BloomKeys& keys) {
  if (added_.count() > 0) taken_key_.assign(added_.last());
  keys.clear();
  std::swap(keys, added_);
}

void BloomWriter::write_key(std::string_view key) {
  if (full()) ready_.push_back(*std::exchange(current_, std::nullopt));
  if (!current_) current_.emplace(Chunk{std::string(key), BloomBits(shape_)});
  current_->bits.add(bloom_hashes(hash_, key));
  ++current_->keys;
  CELLAR_ASSERT(current_->keys <= shape_.keys_max);
}

Status BloomWriter::write(const BloomKeys& keys, BlockWriter& blocks) {
  for (size_t i = 0; i < keys.count(); ++i) write_key(keys.key(i));
  if (full()) ready_.push_back(*std::exchange(current_, std::nullopt));
  return write_ready(blocks);
}

Status BloomWriter::write_ready(BlockWriter& blocks) {
  for (Chunk& chunk : ready_) {
    chunk.bits.fold();
    keys_max_ += chunk.bits.keys_max();
    bytes_ += chunk.bits.bytes().size();
    CELLAR_TRY_ASSIGN(const BlockPlace place, blocks.write(BlockKind::kBloomChunk, chunk.bits.bytes()));
    index_.add(chunk.first_key, place);
  }
  ready_.clear();
  return {};
}

Status BloomWriter::write_rest(BlockWriter& blocks) {
  BloomKeys rest;
  take(rest);
  CELLAR_TRY(write(rest, blocks));
  if (current_) ready_.push_back(*std::exchange(current_, std::nullopt));
  return write_ready(blocks);
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

uint64_t BloomWriter::memory_bytes() const { return added_.memory_bytes() + (keys_ > 0 ? shape_.bytes : 0); }

}  // namespace cellar
