// IndexWriter: HBase's rules for when index blocks are cut and levels added.
#include "hfile/block/index_writer.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "base/coding.h"

namespace cellar {

void IndexEntries::add(std::string_view key, const BlockPlace& place) {
  keys_.append(key);
  key_ends_.push_back(keys_.size());
  places_.push_back(place);
  root_bytes_ += 12 + hadoop_vint_bytes(static_cast<int64_t>(key.size())) + key.size();
}

void IndexEntries::clear() {
  keys_.clear();
  key_ends_.clear();
  places_.clear();
  root_bytes_ = 0;
}

std::string_view IndexEntries::key(size_t i) const {
  const size_t begin = i == 0 ? 0 : key_ends_[i - 1];
  return std::string_view(keys_).substr(begin, key_ends_[i] - begin);
}

void IndexEntries::append_root(std::string& to) const {
  for (size_t i = 0; i < count(); ++i) {
    append_be64(to, places_[i].offset);
    append_be32(to, places_[i].disk_bytes);
    append_hadoop_vint(to, static_cast<int64_t>(key(i).size()));
    to.append(key(i));
  }
}

void IndexEntries::append_non_root(std::string& to) const {
  append_be32(to, static_cast<uint32_t>(count()));
  for (size_t i = 0; i <= count(); ++i) {
    append_be32(to, static_cast<uint32_t>(12 * i + (i == 0 ? 0 : key_ends_[i - 1])));
  }
  for (size_t i = 0; i < count(); ++i) {
    append_be64(to, places_[i].offset);
    append_be32(to, places_[i].disk_bytes);
    to.append(key(i));
  }
}

IndexWriter::IndexWriter(uint32_t chunk_bytes, uint32_t entries_min)
    : chunk_bytes_(chunk_bytes), entries_min_(entries_min) {}

void IndexWriter::add(std::string_view key, const BlockPlace& data_block) { pending_.add(key, data_block); }

Status IndexWriter::write_due_leaf(BlockWriter& blocks) {
  return pending_.empty() || pending_.non_root_bytes() < chunk_bytes_ ? Status() : write_leaf(blocks);
}

Status IndexWriter::close_leaves(BlockWriter& blocks) {
  if (root_.empty()) {
    root_ = std::exchange(pending_, {});
    return {};
  }
  if (!pending_.empty()) CELLAR_TRY(write_leaf(blocks));
  levels_ = 2;
  middle_ = middle();
  return {};
}

Status IndexWriter::write_leaf(BlockWriter& blocks) {
  payload_.clear();
  pending_.append_non_root(payload_);
  CELLAR_TRY_ASSIGN(const BlockPlace place, blocks.write(BlockKind::kLeafIndex, payload_));
  leaf_bytes_ += payload_.size();
  root_.add(pending_.key(0), place);
  entries_until_.push_back((entries_until_.empty() ? 0 : entries_until_.back()) + pending_.count());
  pending_.clear();
  return {};
}

// The leaf that holds the middle one of all data blocks, and which entry of the leaf that is.
IndexWriter::Middle IndexWriter::middle() const {
  const uint64_t block = (entries_until_.back() - 1) / 2;
  const auto leaf = std::ranges::upper_bound(entries_until_, block);
  const size_t index = static_cast<size_t>(leaf - entries_until_.begin());
  const uint64_t before = index == 0 ? 0 : entries_until_[index - 1];
  return {root_.place(index), static_cast<uint32_t>(block - before)};
}

Status IndexWriter::write_intermediate_levels(BlockWriter& blocks) {
  while (root_.root_bytes() > chunk_bytes_ && root_.count() > entries_min_ && levels_ < kIndexDepthMax) {
    IndexEntries parent;
    IndexEntries entries;
    for (size_t i = 0; i < root_.count(); ++i) {
      entries.add(root_.key(i), root_.place(i));
      // HBase counts i over the whole level, so that only the first block is sure to have entries_min
      // entries.
      if (i >= entries_min_ && entries.root_bytes() >= chunk_bytes_) {
        CELLAR_TRY(write_intermediate(blocks, entries, parent));
      }
    }
    if (!entries.empty()) CELLAR_TRY(write_intermediate(blocks, entries, parent));
    root_ = std::move(parent);
    ++levels_;
  }
  return {};
}

Status IndexWriter::write_intermediate(BlockWriter& blocks, IndexEntries& entries, IndexEntries& parent) {
  payload_.clear();
  entries.append_non_root(payload_);
  CELLAR_TRY_ASSIGN(const BlockPlace place, blocks.write(BlockKind::kIntermediateIndex, payload_));
  intermediate_bytes_ += payload_.size();
  ++intermediate_blocks_;
  parent.add(entries.key(0), place);
  entries.clear();
  return {};
}

std::string IndexWriter::root_payload() const {
  std::string payload;
  root_.append_root(payload);
  CELLAR_ASSERT(payload.size() == root_.root_bytes());
  if (levels_ > 1) {
    append_be64(payload, middle_.leaf.offset);
    append_be32(payload, middle_.leaf.disk_bytes);
    append_be32(payload, middle_.entry);
  }
  return payload;
}

}  // namespace cellar
