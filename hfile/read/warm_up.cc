// WarmUp: the walk over index nodes, filter chunks and data blocks, asking before each.
#include "hfile/read/warm_up.h"

#include "base/assert.h"
#include "cell/cell_key.h"
#include "hfile/block/bloom_reader.h"
#include "hfile/block/file_parts.h"
#include "hfile/read/hfile_reader.h"

namespace cellar {
namespace {

// The greatest size of an index node in memory (entries, keys and slots), as a multiple of its payload.
constexpr uint64_t kMemoryPerPayload = 3;

}  // namespace

WarmUp::WarmUp(const HFileReader& file, const WarmUpOptions& options)
    : file_(file), parts_(file.parts()), options_(options), at_(parts_.index.get()) {}

WarmUp::~WarmUp() = default;

Status WarmUp::run(const std::function<bool()>& go_on) {
  if (done_) return {};
  CELLAR_ASSERT(go_on != nullptr);
  go_on_ = &go_on;
  stopped_ = false;
  const Status status = load_all();
  done_ = done_ || !stopped_ || !status.ok();
  return file_.name().empty() ? status : status.with_context(file_.name());
}

Status WarmUp::load_all() {
  const WarmUpParts& wanted = options_.parts;
  if (wanted.index || wanted.data) CELLAR_TRY(load_index(parts_.index->root(), 0));
  for (const BloomReader* bloom : {parts_.bloom.get(), parts_.delete_bloom.get()})
    if (wanted.blooms && bloom != nullptr && !stopped_) CELLAR_TRY(load_chunks(*bloom));
  return wanted.data && !stopped_ ? load_data() : Status();
}

// ---- What stays in memory for good ----

Status WarmUp::load_index(const IndexNode& node, uint32_t depth) {
  CELLAR_ASSERT(depth < parts_.index->levels());
  if (node.children_are_data()) return {};
  for (uint32_t i = 0; i < node.size() && !stopped_; ++i) {
    if (!leads_into_part(node, i)) continue;
    const bool known = node.has_child(i);
    if (!known) {
      CELLAR_TRY_ASSIGN(const bool may, may_keep(node.child_offset(i)));
      if (!may) return {};
    }
    CELLAR_TRY_ASSIGN(const IndexNode* const child,
                      parts_.index->child(node, i, depth, known ? nullptr : options_.stats));
    if (!known) count(node.child_disk_bytes(i), child->memory_bytes());
    CELLAR_TRY(load_index(*child, depth + 1));
  }
  return {};
}

Status WarmUp::load_chunks(const BloomReader& bloom) {
  for (uint32_t i = 0; i < bloom.chunks(); ++i) {
    if (bloom.has_chunk(i)) continue;
    CELLAR_TRY_ASSIGN(const bool may, may_keep(bloom.chunk_offset(i)));
    if (!may) return {};
    CELLAR_TRY_ASSIGN(const std::string_view bits, bloom.chunk(i, options_.stats));
    count(bloom.chunk_disk_bytes(i), bits.size());
  }
  return {};
}

// Returns true if the index node or chunk at this place may be read.
Result<bool> WarmUp::may_keep(uint64_t offset) {
  if (!may_go_on()) return false;
  const BlockCache* const cache = parts_.options.cache.get();
  if (options_.evict || cache == nullptr) return true;
  CELLAR_TRY_ASSIGN(const BlockHeader header, parts_.blocks->read_header(offset, parts_.index->limit()));
  stopped_ = done_ = !cache->has_room_for_pinned(kMemoryPerPayload * header.payload_bytes);
  return !done_;
}

// ---- Data ----

Status WarmUp::load_data() {
  BlockCache* const cache = parts_.options.cache.get();
  if (cache == nullptr) return {};
  if (parts_.encoding == nullptr) return parts_.encoding_status;
  if (!at_begun_) {
    OwnedCell start;
    first_of_row(start, parts_.options.start_row);
    if (!parts_.meta_order) CELLAR_TRY(at_.seek(start.view(), IndexSearch::kUpTo, options_.stats));
    if (!at_.valid()) CELLAR_TRY(at_.to_first(options_.stats));
    ahead_ = std::make_unique<ReadAhead>();
    walker_ = parts_.encoding->make_walker(parts_.format);
    at_begun_ = true;
  }
  CELLAR_ASSERT(walker_ != nullptr && ahead_ != nullptr);
  while (at_.valid() && !beyond_part()) {
    if (!cache->holds(at_.slot())) {
      if (!may_go_on()) return {};
      CELLAR_TRY(load_block());
      if (stopped_) return {};
    }
    CELLAR_TRY(at_.next(options_.stats));
  }
  return {};
}

Status WarmUp::load_block() {
  CELLAR_ASSERT(at_.valid() && !stopped_ && !done_);
  BlockCache& cache = *parts_.options.cache;
  CELLAR_TRY_ASSIGN(Block* const block,
                    parts_.blocks->read(at_.offset(), at_.disk_bytes(), parts_.index->limit(), ahead_.get(),
                                        options_.stats));
  const uint64_t memory_bytes = block->charge_bytes();
  if (const Status checked = check_block(*block); !checked.ok()) {
    const Pin unwanted(block);
    return checked;
  }
  block->set_id(at_.block_id());
  const Pin pin = options_.evict ? cache.insert(at_.slot(), block, BlockUseKind::kLoaded)
                                 : cache.insert_if_room(at_.slot(), block);
  if (pin) {
    count(at_.disk_bytes(), memory_bytes);
  } else {
    stopped_ = done_ = true;
  }
  return {};
}

// Checks the block as a cursor that reads it does. Readers that find it in the cache rely on this check.
Status WarmUp::check_block(const Block& block) {
  const uint64_t offset = at_.offset();
  const BlockKind kind = parts_.encoding->id() == 0 ? BlockKind::kData : BlockKind::kEncodedData;
  if (block.kind() != kind)
    return parts_.blocks->corruption(offset, "not a data block of the file's encoding");
  Status checked = walker_->open(block.payload());
  if (checked.ok()) {
    const CellView* const first = walker_->next();
    checked = first != nullptr ? at_.check_first(*first) : walker_->status();
  }
  return checked.ok() ? checked : parts_.blocks->corruption(offset, std::string(checked.message()));
}

// ---- Where to stop ----

// Generous at either end: a cell may lie in the block before the one whose key is its own.
bool WarmUp::leads_into_part(const IndexNode& node, uint32_t i) const {
  const HFileReaderOptions& part = parts_.options;
  if (parts_.meta_order) return true;
  if (!part.stop_row.empty() && node.key_view(i).row() >= part.stop_row) return false;
  return i + 1 >= node.size() || node.key_view(i + 1).row() >= part.start_row;
}

bool WarmUp::beyond_part() const {
  const std::string& stop = parts_.options.stop_row;
  return !parts_.meta_order && !stop.empty() && at_.key().row() >= stop;
}

bool WarmUp::may_go_on() {
  CELLAR_ASSERT(go_on_ != nullptr && !stopped_);  // a call that was told to stop asks no more
  stopped_ = !(*go_on_)();
  return !stopped_;
}

void WarmUp::count(uint64_t bytes, uint64_t memory_bytes) {
  loaded_.blocks += 1;
  loaded_.bytes += bytes;
  loaded_.memory_bytes += memory_bytes;
}

}  // namespace cellar
