// BloomWriter: fills chunks, folds the last, and lists them in the filter's meta block.
#include "hfile/bloom_writer.h"

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
  if (current_ && current_->bits.full()) close_chunk();
  if (!current_) current_.emplace(Chunk{BloomBits(shape_), std::string(key)});
  current_->bits.add(bloom_hashes(hash_, key));
  last_key_.assign(key);
  ++keys_;
}

void BloomWriter::close_chunk() {
  current_->bits.fold();
  keys_max_ += current_->bits.keys_max();
  bytes_ += current_->bits.bytes().size();
  ready_.push_back(std::move(*current_));
  current_.reset();
}

Status BloomWriter::write_due_chunks(BlockWriter& blocks) {
  if (current_ && current_->bits.full()) close_chunk();
  while (!ready_.empty()) {
    const Chunk& chunk = ready_.front();
    CELLAR_TRY_ASSIGN(const BlockPlace place, blocks.write(BlockKind::kBloomChunk, chunk.bits.bytes()));
    index_.add(chunk.first_key, place);
    ready_.pop_front();
  }
  return {};
}

Status BloomWriter::close_chunks(BlockWriter& blocks) {
  if (current_) close_chunk();
  return write_due_chunks(blocks);
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

}  // namespace cellar
