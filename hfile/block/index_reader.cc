// IndexReader: parsing untrusted index blocks, loading nodes once, walking data blocks at any depth.
#include "hfile/block/index_reader.h"

#include <fmt/format.h>

#include "base/bytes.h"
#include "base/coding.h"
#include "cell/cell_codec.h"
#include "hfile/format/row_words.h"

namespace cellar {

namespace {

Status damaged_index(std::string message) { return Status::corruption("index: " + std::move(message)); }

std::strong_ordering compare_by(bool meta_order, const CellView& a, const CellView& b) {
  return meta_order ? compare_meta_keys(a, b) : compare_keys(a, b);
}

}  // namespace

std::string_view IndexNode::key(uint32_t i) const {
  const uint32_t begin = i == 0 ? 0 : entries_[i - 1].key_end;
  return {keys_.data() + begin, entries_[i].key_end - begin};
}

CellView IndexNode::key_view(uint32_t i) const {
  CellView view;
  const std::string_view bytes = key(i);
  parse_flat_key(bytes.data(), bytes.size(), view);  // checked when it was added
  return view;
}

Status IndexNode::add(uint64_t offset, uint32_t disk_bytes, std::string_view key_bytes,
                      const IndexPlace& place) {
  if (offset >= place.offset || disk_bytes == 0 || disk_bytes > place.offset - offset) {
    return damaged_index(fmt::format("entry {} names {} bytes at {}, not before its own block at {}",
                                     entries_.size(), disk_bytes, offset, place.offset));
  }
  if (!entries_.empty()) {
    const Entry& before = entries_.back();
    if (offset < before.offset || offset - before.offset < before.disk_bytes) {
      return damaged_index(fmt::format("entry {} at {} overlaps the one before", entries_.size(), offset));
    }
  }
  CellView view;
  if (parse_flat_key(key_bytes.data(), key_bytes.size(), view)) {
    keys_ += key_bytes;
  } else if (key_bytes.size() >= 2 && size_t{load_be16(key_bytes.data())} + 2 == key_bytes.size()) {
    // The key is a row alone, and its block may begin anywhere in that row. The entry gets the row's last
    // key. A search for a cell of the row then begins one block earlier and walks on.
    append_flat_key(keys_, key_bytes.substr(2), {}, {}, kOldestTimestamp, CellType::kMinimum);
    row_only_keys_ = true;
    loose_keys_ = true;
  } else {
    return damaged_index(
        fmt::format("entry {} has a malformed key of {} bytes", entries_.size(), key_bytes.size()));
  }
  if (keys_.size() > UINT32_MAX) return damaged_index("keys of more than 4 GiB");
  entries_.push_back({offset, disk_bytes, static_cast<uint32_t>(keys_.size())});
  if (entries_.size() > 1) {
    const uint32_t last = size() - 1;
    // keys_ may have moved: both views are taken now.
    const std::strong_ordering order = compare_by(place.meta_order, key_view(last - 1), key_view(last));
    if (order > 0) return damaged_index(fmt::format("key {} is less than the key before it", last));
    if (order == 0) loose_keys_ = true;
  }
  return {};
}

Status IndexNode::parse_root_form(std::string_view payload, const IndexPlace& place) {
  constexpr size_t kEntryBytesMin = 8 + 4 + 1;
  if (place.entries > payload.size() / kEntryBytesMin) {
    return damaged_index(fmt::format("{} entries do not fit into {} bytes", place.entries, payload.size()));
  }
  entries_.reserve(place.entries);
  ByteReader in(payload);
  for (uint32_t i = 0; i < place.entries; ++i) {
    uint64_t offset = 0;
    uint32_t disk_bytes = 0;
    int64_t key_size = 0;
    std::string_view key_bytes;
    if (!in.take_be64(offset) || !in.take_be32(disk_bytes) || !in.take_hadoop_vint(key_size) ||
        key_size < 0 || !in.take_bytes(static_cast<size_t>(key_size), key_bytes)) {
      return damaged_index(fmt::format("root ends inside entry {}", i));
    }
    CELLAR_TRY(add(offset, disk_bytes, key_bytes, place));
  }
  // After the entries of a data root stand the 16 bytes of the middle key, or nothing.
  if (in.left() != 0 && in.left() != 16) {
    return damaged_index(
        fmt::format("{} trailing bytes after the {} entries of the root", in.left(), place.entries));
  }
  return {};
}

Status IndexNode::parse_node_form(std::string_view payload, const IndexPlace& place) {
  ByteReader in(payload);
  uint32_t count = 0;
  if (!in.take_be32(count) || count == 0) return damaged_index("node without entries");
  if (uint64_t{count} + 1 > in.left() / 4) return damaged_index(fmt::format("{} entries do not fit", count));
  const char* ends = in.at() + 4;  // the first offset is 0, each next one ends an entry
  if (load_be32(in.at()) != 0) return damaged_index("first entry is not at 0");
  std::string_view table;
  in.take_bytes((size_t{count} + 1) * 4, table);
  const std::string_view body = in.rest();
  entries_.reserve(count);
  uint64_t begin = 0;
  for (uint32_t i = 0; i < count; ++i) {
    const uint64_t end = load_be32(ends + size_t{i} * 4);
    if (end > body.size() || end < begin + 12)
      return damaged_index(fmt::format("entry {} has too few bytes", i));
    const char* entry = body.data() + begin;
    CELLAR_TRY(add(load_be64(entry), load_be32(entry + 8), body.substr(begin + 12, end - begin - 12), place));
    begin = end;
  }
  if (begin != body.size())
    return damaged_index(fmt::format("{} trailing bytes after the last entry", body.size() - begin));
  return {};
}

void IndexNode::finish(const IndexPlace& place) {
  children_are_data_ = place.children_are_data;
  meta_order_ = place.meta_order;
  keys_.shrink_to_fit();
  if (entries_.empty()) return;
  if (children_are_data_) {
    slots_ = std::make_unique<Slot[]>(entries_.size());
  } else {
    children_ = std::make_unique<std::atomic<const IndexNode*>[]>(entries_.size());
  }
  if (meta_order_) return;
  words_ = RowWords(entries_.size(), [this](size_t i) { return key_view(static_cast<uint32_t>(i)).row(); });
}

Result<std::unique_ptr<IndexNode>> IndexNode::parse(std::string_view payload, const IndexPlace& place) {
  if (payload.size() > kIndexBlockBytesMax) {
    return Status::limit(fmt::format("index: block of {} bytes, more than the limit of {}", payload.size(),
                                     kIndexBlockBytesMax));
  }
  std::unique_ptr<IndexNode> node = std::make_unique<IndexNode>();
  CELLAR_TRY(place.root_form ? node->parse_root_form(payload, place) : node->parse_node_form(payload, place));
  node->finish(place);
  return node;
}

uint32_t IndexNode::count_up_to(const CellView& target, bool strictly) const {
  size_t low = 0;
  size_t high = entries_.size();
  if (!meta_order_ && high > 0) {
    const WordRange range = words_.narrow(target.row());
    low = range.low;
    high = range.high;
  }
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    const std::strong_ordering order =
        compare_by(meta_order_, key_view(static_cast<uint32_t>(middle)), target);
    if (order < 0 || (order == 0 && !strictly)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return static_cast<uint32_t>(low);
}

uint64_t IndexNode::memory_bytes() const {
  return sizeof(IndexNode) + entries_.capacity() * sizeof(Entry) + keys_.capacity() + words_.memory_bytes() +
         entries_.size() * (children_are_data_ ? sizeof(Slot) : sizeof(children_[0]));
}

Result<std::unique_ptr<IndexReader>> IndexReader::open(const BlockReader* blocks,
                                                       std::shared_ptr<BlockCache> cache, MemoryMeter* meter,
                                                       const Options& options, std::string_view root,
                                                       uint64_t root_offset) {
  const IndexPlace place = {.offset = options.load_on_open_offset,
                            .children_are_data = options.levels == 1,
                            .meta_order = options.meta_order,
                            .root_form = true,
                            .entries = options.root_entries};
  Result<std::unique_ptr<IndexNode>> node = IndexNode::parse(root, place);
  if (!node.ok()) return node.status().at(blocks->place(root_offset));
  std::unique_ptr<IndexReader> reader(new IndexReader(blocks, std::move(cache), meter, options));
  if (!meter->charge((*node)->memory_bytes())) {
    return meter->refusal("the file's index").at(blocks->place(root_offset));
  }
  reader->root_ = node->release();
  return reader;
}

IndexReader::~IndexReader() {
  if (root_ != nullptr) release(root_);
  if (cache_ != nullptr) cache_->close_file(first_id_);
}

void IndexReader::release(const IndexNode* node) const {
  for (uint32_t i = 0; i < node->size(); ++i) {
    if (node->children_are_data()) {
      if (cache_ != nullptr) cache_->erase(node->slot(i));
    } else if (const IndexNode* child = node->children_[i].load(std::memory_order_relaxed);
               child != nullptr) {
      release(child);
    }
  }
  delete node;
}

Result<const IndexNode*> IndexReader::child(const IndexNode& node, uint32_t i, uint32_t depth,
                                            ReadStats* stats) const {
  const IndexNode* known = node.children_[i].load(std::memory_order_acquire);
  if (known == nullptr) return load(node, i, depth, stats);
  if (stats != nullptr) stats->blocks_from_cache += 1;
  return known;
}

Result<const IndexNode*> IndexReader::load(const IndexNode& node, uint32_t i, uint32_t depth,
                                           ReadStats* stats) const {
  const uint64_t offset = node.child_offset(i);
  CELLAR_TRY_ASSIGN(Block* const raw,
                    blocks_->read(offset, node.child_disk_bytes(i), limit(), nullptr, stats));
  const Pin block(raw);
  const bool leaf = depth + 2 == options_.levels;
  const BlockKind expected = leaf ? BlockKind::kLeafIndex : BlockKind::kIntermediateIndex;
  if (raw->kind() != expected) {
    return blocks_->corruption(offset, fmt::format("index: a {} block where a {} block belongs",
                                                   kBlockKindNames[static_cast<size_t>(raw->kind())],
                                                   kBlockKindNames[static_cast<size_t>(expected)]));
  }
  const IndexPlace place = {.offset = offset, .children_are_data = leaf, .meta_order = options_.meta_order};
  Result<std::unique_ptr<IndexNode>> parsed = IndexNode::parse(raw->payload(), place);
  if (!parsed.ok()) return parsed.status().at(blocks_->place(offset));
  if ((*parsed)->key(0) != node.key(i)) {
    return blocks_->corruption(offset, "index: the node's first key differs from its parent's");
  }
  if (i + 1 < node.size() &&
      compare_by(options_.meta_order, (*parsed)->key_view((*parsed)->size() - 1), node.key_view(i + 1)) > 0) {
    return blocks_->corruption(offset, "index: the node's last key is greater than the next node's first");
  }
  const uint64_t bytes = (*parsed)->memory_bytes();
  if (!meter_->charge(bytes)) {
    return meter_->refusal("the file's index").at(blocks_->place(offset));
  }
  const IndexNode* expected_child = nullptr;
  if (!node.children_[i].compare_exchange_strong(expected_child, parsed->get(), std::memory_order_acq_rel)) {
    meter_->release(bytes);
    return expected_child;
  }
  return parsed->release();
}

Status IndexCursor::descend(uint32_t from_depth, bool to_end, ReadStats* stats) {
  for (uint32_t depth = from_depth; depth + 1 < index_->levels(); ++depth) {
    const Frame& frame = frames_[depth];
    CELLAR_TRY_ASSIGN(const IndexNode* const child, index_->child(*frame.node, frame.at, depth, stats));
    frames_[depth + 1] = {child, to_end ? child->size() - 1 : 0};
  }
  valid_ = true;
  return {};
}

Status IndexCursor::seek(const CellView& target, IndexSearch search, ReadStats* stats) {
  valid_ = false;
  const IndexNode* node = &index_->root();
  for (uint32_t depth = 0;; ++depth) {
    const bool strictly =
        search == IndexSearch::kBefore || (search == IndexSearch::kUpTo && node->loose_keys());
    const uint32_t count = node->count_up_to(target, strictly);
    if (count == 0) {
      if (depth == 0) return {};
      // A child's first key is its parent's, so this is a loose node whose parent is not: one block back.
      frames_[depth] = {node, 0};
      CELLAR_TRY(descend(depth, false, stats));
      return previous(stats);
    }
    frames_[depth] = {node, count - 1};
    if (depth + 1 == index_->levels()) break;
    CELLAR_TRY_ASSIGN(node, index_->child(*node, count - 1, depth, stats));
  }
  valid_ = true;
  return {};
}

Status IndexCursor::seek_forward(const CellView& target, ReadStats* stats) {
  const uint32_t last = index_->levels() - 1;
  Frame& frame = frames_[last];
  const uint32_t count = frame.node->count_up_to(target, frame.node->loose_keys());
  if (count > 0 && (count < frame.node->size() || last == 0)) {
    frame.at = count - 1;
    return {};
  }
  return seek(target, IndexSearch::kUpTo, stats);
}

Status IndexCursor::to_first(ReadStats* stats) {
  valid_ = false;
  if (index_->root().size() == 0) return {};
  frames_[0] = {&index_->root(), 0};
  return descend(0, false, stats);
}

Status IndexCursor::to_last(ReadStats* stats) {
  valid_ = false;
  if (index_->root().size() == 0) return {};
  frames_[0] = {&index_->root(), index_->root().size() - 1};
  return descend(0, true, stats);
}

Status IndexCursor::next(ReadStats* stats) {
  for (uint32_t depth = index_->levels(); depth-- > 0;) {
    Frame& frame = frames_[depth];
    if (frame.at + 1 >= frame.node->size()) continue;
    frame.at += 1;
    valid_ = false;
    return descend(depth, false, stats);
  }
  valid_ = false;
  return {};
}

Status IndexCursor::previous(ReadStats* stats) {
  for (uint32_t depth = index_->levels(); depth-- > 0;) {
    Frame& frame = frames_[depth];
    if (frame.at == 0) continue;
    frame.at -= 1;
    valid_ = false;
    return descend(depth, true, stats);
  }
  valid_ = false;
  return {};
}

Status IndexCursor::check_first(const CellView& first) const {
  const auto compare = [this](const CellView& a, const CellView& b) {
    return compare_by(index_->meta_order(), a, b);
  };
  const auto misplaced = [&first](const char* how, const CellView& key) {
    return Status::corruption("first cell " + key_text(first) + how + key_text(key));
  };
  const CellView at = key();
  const bool bounded = row_only_keys() ? at.row() <= first.row() : compare(at, first) <= 0;
  if (!bounded) return misplaced(" is less than its index key ", at);
  CellView next;
  if (!next_key(next)) return {};
  const bool rows_only = row_only_keys() && first.row() == next.row();
  const std::strong_ordering order = compare(first, next);
  if (rows_only || order < 0 || (order == 0 && loose_keys())) return {};
  return misplaced(" is not less than the next block's index key ", next);
}

bool IndexCursor::next_key(CellView& key) const {
  for (uint32_t depth = index_->levels(); depth-- > 0;) {
    const Frame& frame = frames_[depth];
    if (frame.at + 1 >= frame.node->size()) continue;
    key = frame.node->key_view(frame.at + 1);
    return true;
  }
  return false;
}

}  // namespace cellar
