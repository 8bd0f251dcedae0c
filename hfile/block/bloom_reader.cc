// BloomReader: the meta block of a compound filter, its chunk index, and the chunks themselves.
#include "hfile/block/bloom_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/bytes.h"
#include "base/coding.h"
#include "bloom/bloom_bits.h"
#include "cell/cell_codec.h"
#include "cell/cell_order.h"
#include "hfile/format/row_words.h"

namespace cellar {

namespace {

constexpr uint32_t kBloomVersion = 3;

Status damaged(std::string message) { return Status::corruption("bloom filter: " + std::move(message)); }

CellView flat_view(std::string_view key) {
  CellView view;
  parse_flat_key(key.data(), key.size(), view);
  return view;
}

}  // namespace

Result<std::unique_ptr<BloomReader>> BloomReader::parse(std::string_view payload, const BlockReader* blocks,
                                                        MemoryMeter* meter, uint64_t limit, bool flat_keys) {
  std::unique_ptr<BloomReader> reader(new BloomReader(blocks, meter, limit, flat_keys));
  BloomFacts& facts = reader->facts_;
  ByteReader in(payload);
  uint32_t version = 0;
  uint32_t hash = 0;
  int64_t name_size = 0;
  std::string_view name;
  if (!in.take_be32(version)) return damaged("meta block too short");
  if (version != kBloomVersion)
    return Status::not_supported(fmt::format("bloom filter of version {}", version));
  if (!in.take_be64(facts.bytes) || !in.take_be32(facts.hashes) || !in.take_be32(hash) ||
      !in.take_be64(facts.keys) || !in.take_be64(facts.keys_max) || !in.take_be32(facts.chunks) ||
      !in.take_hadoop_vint(name_size)) {
    return damaged("meta block too short");
  }
  if (name_size < 0 || static_cast<uint64_t>(name_size) > kComparatorBytesMax ||
      !in.take_bytes(static_cast<size_t>(name_size), name)) {
    return damaged(fmt::format("comparator name of {} bytes", name_size));
  }
  if (hash > static_cast<uint32_t>(BloomHash::kMurmur3)) {
    return Status::not_supported(fmt::format("bloom filter with hash type {}", hash));
  }
  if (facts.hashes == 0 || facts.hashes > kBloomHashesMax) {
    return Status::not_supported(fmt::format("bloom filter with {} hashes", facts.hashes));
  }
  facts.hash = static_cast<BloomHash>(hash);
  facts.comparator = name;
  CELLAR_TRY(reader->parse_chunk_index(in.rest()));
  if (!meter->charge(reader->entries_.size() * 32 + reader->keys_.size())) {
    return meter->refusal("the chunk index of the file's bloom filter");
  }
  return reader;
}

Status BloomReader::parse_chunk_index(std::string_view bytes) {
  constexpr size_t kEntryBytesMin = 13;
  if (facts_.chunks > bytes.size() / kEntryBytesMin)
    return damaged(fmt::format("{} chunks do not fit", facts_.chunks));
  entries_.reserve(facts_.chunks);
  ByteReader in(bytes);
  for (uint32_t i = 0; i < facts_.chunks; ++i) {
    uint64_t offset = 0;
    uint32_t disk_bytes = 0;
    int64_t key_size = 0;
    std::string_view key;
    if (!in.take_be64(offset) || !in.take_be32(disk_bytes) || !in.take_hadoop_vint(key_size) ||
        key_size < 0 || !in.take_bytes(static_cast<size_t>(key_size), key)) {
      return damaged(fmt::format("chunk index ends inside entry {}", i));
    }
    if (offset >= limit_ || disk_bytes == 0 || disk_bytes > limit_ - offset) {
      return damaged(fmt::format("chunk {} lies outside its section", i));
    }
    CellView view;
    if (flat_keys_ && !parse_flat_key(key.data(), key.size(), view)) {
      return damaged(fmt::format("chunk {} has a malformed key", i));
    }
    if (i > 0) {
      const bool ascends =
          flat_keys_ ? compare_keys(flat_view(chunk_key(i - 1)), view) < 0 : chunk_key(i - 1) < key;
      if (!ascends) return damaged(fmt::format("key of chunk {} does not ascend", i));
    }
    keys_ += key;
    entries_.push_back({offset, disk_bytes, static_cast<uint32_t>(keys_.size())});
  }
  if (!in.empty()) return damaged(fmt::format("{} trailing bytes after the chunk index", in.left()));
  loaded_ = std::make_unique<std::atomic<const Block*>[]>(entries_.size());
  if (flat_keys_ || entries_.empty()) return {};
  words_ = RowWords(entries_.size(), [this](size_t i) { return chunk_key(static_cast<uint32_t>(i)); });
  return {};
}

BloomReader::~BloomReader() {
  for (uint32_t i = 0; i < chunks() && loaded_ != nullptr; ++i) {
    if (const Block* block = loaded_[i].load(std::memory_order_relaxed); block != nullptr)
      block->drop_pins(1);
  }
}

std::string_view BloomReader::chunk_key(uint32_t i) const {
  const uint32_t begin = i == 0 ? 0 : entries_[i - 1].key_end;
  return {keys_.data() + begin, entries_[i].key_end - begin};
}

int64_t BloomReader::chunk_of(std::string_view key) const {
  size_t low = 0;
  size_t high = entries_.size();
  CellView probe;
  if (flat_keys_ && !parse_flat_key(key.data(), key.size(), probe)) return -1;
  if (!flat_keys_ && high > 0) {
    const WordRange range = words_.narrow(key);
    low = range.low;
    high = range.high;
  }
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    const std::string_view first = chunk_key(static_cast<uint32_t>(middle));
    const bool at_or_before = flat_keys_ ? compare_keys(flat_view(first), probe) <= 0 : first <= key;
    if (at_or_before) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return static_cast<int64_t>(low) - 1;
}

void BloomReader::expect_in_place(std::span<const uint64_t> offsets) {
  all_chunks_.assign(offsets.begin(), offsets.end());
}

Status BloomReader::check_place(uint64_t offset) const {
  if (all_chunks_.empty()) return {};
  CELLAR_TRY_ASSIGN(const BlockHeader header, blocks_->read_header(offset, limit_));
  const auto at = std::ranges::lower_bound(all_chunks_, offset);
  const int64_t before = at == all_chunks_.begin() ? -1 : static_cast<int64_t>(*std::prev(at));
  if (header.previous_offset == before) return {};
  return blocks_->corruption(
      offset, fmt::format("bloom chunk names offset {} as its predecessor, where it should be {}",
                          header.previous_offset, before));
}

Result<const Block*> BloomReader::load(uint32_t i, ReadStats* stats) const {
  const Entry& entry = entries_[i];
  CELLAR_TRY_ASSIGN(Block* const block,
                    blocks_->read(entry.offset, entry.disk_bytes, limit_, nullptr, stats));
  Pin pin(block);
  const std::string_view bits = block->payload();
  CELLAR_TRY(check_place(entry.offset));
  if (block->kind() != BlockKind::kBloomChunk) return blocks_->corruption(entry.offset, "not a bloom chunk");
  if (bits.empty() || bits.size() > kBloomChunkBytesMax) {
    return blocks_->corruption(entry.offset, fmt::format("bloom chunk of {} bytes", bits.size()));
  }
  if (!meter_->charge(block->charge_bytes())) {
    return meter_->refusal("the file's bloom filter").at(blocks_->place(entry.offset));
  }
  const Block* expected = nullptr;
  if (!loaded_[i].compare_exchange_strong(expected, block, std::memory_order_acq_rel)) {
    meter_->release(block->charge_bytes());
    return expected;
  }
  block->add_pins(1);  // the reader's own
  return block;
}

Result<std::string_view> BloomReader::chunk(uint32_t i, ReadStats* stats) const {
  const Block* block = loaded_[i].load(std::memory_order_acquire);
  if (block != nullptr) {
    if (stats != nullptr) stats->blocks_from_cache += 1;
    return block->payload();
  }
  CELLAR_TRY_ASSIGN(block, load(i, stats));
  return block->payload();
}

Result<bool> BloomReader::test(std::string_view key, ReadStats* stats) const {
  const int64_t i = chunk_of(key);
  if (i < 0) return false;
  CELLAR_TRY_ASSIGN(const std::string_view bits, chunk(static_cast<uint32_t>(i), stats));
  return bloom_may_contain(bits, facts_.hashes, bloom_hashes(facts_.hash, key));
}

bool BloomReader::may_contain(std::string_view key, ReadStats* stats) const {
  if (entries_.size() == 1 && !flat_keys_) {
    // A filter of one chunk, as small files have it, holds all keys there.
    if (const Block* block = loaded_[0].load(std::memory_order_acquire); block != nullptr) [[likely]] {
      if (stats != nullptr) stats->blocks_from_cache += 1;
      return bloom_may_contain(block->payload(), facts_.hashes, bloom_hashes(facts_.hash, key));
    }
  }
  return test(key, stats).value_or(true);
}

}  // namespace cellar
