// BlockCache's shards: who is in the cache, what it costs, and who leaves.
#include "cache/block_cache.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "base/block_heap.h"
#include "base/mutex.h"
#include "base/plugins.h"
#include "cache/row_slice.h"
#include "cache/row_table.h"

namespace cellar {

namespace {

constexpr uint32_t kCountShift = 48;
constexpr uint64_t kOnePin = uint64_t{1} << kCountShift;
constexpr uint64_t kPointerMask = kOnePin - 1;
constexpr uint64_t kCountHalf = uint64_t{1} << 15;
constexpr int64_t kHeld = int64_t{1} << 40;  // more than pins can be

constexpr uint64_t kShardBytesMin = uint64_t{8} << 20;
constexpr uint32_t kShardsMax = 16;
constexpr uint32_t kShardsLimit = 1024;
constexpr size_t kHitsKept = 64;
constexpr size_t kStripes = 16;

// Hits and misses of the threads that share it. Added by load and store, so two threads may lose a few: a
// locked instruction on a shared line would cost more than the lookup.
struct alignas(64) Stripe {
  std::atomic<uint64_t> hits{0};
  std::atomic<uint64_t> row_hits{0};
  std::atomic<uint64_t> misses{0};

  static void add_one(std::atomic<uint64_t>& figure) {
    figure.store(figure.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
};

size_t stripe_of_thread() {
  static std::atomic<size_t> threads{0};
  thread_local const size_t stripe = threads.fetch_add(1, std::memory_order_relaxed) % kStripes;
  return stripe;
}

}  // namespace

// Leavers: blocks out of their slots, whose memory goes, if nobody has them pinned, once the lock is given
// back.
class Leavers {
 public:
  Leavers() = default;
  Leavers(const Leavers&) = delete;
  Leavers& operator=(const Leavers&) = delete;
  ~Leavers() {
    for (const CachedBlock* block : blocks_) block->drop_pins(kHeld);
  }
  void add(const CachedBlock* block) { blocks_.push_back(block); }

 private:
  std::vector<const CachedBlock*> blocks_;
};

struct alignas(64) BlockCache::Shard {
  mutable Mutex mutex;
  std::unique_ptr<CachePolicy> policy CELLAR_GUARDED_BY(mutex);
  uint64_t used CELLAR_GUARDED_BY(mutex) = 0;
  uint64_t blocks CELLAR_GUARDED_BY(mutex) = 0;  // and slices
  uint64_t rows CELLAR_GUARDED_BY(mutex) = 0;    // slices among them
  uint64_t inserts CELLAR_GUARDED_BY(mutex) = 0;
  uint64_t evictions CELLAR_GUARDED_BY(mutex) = 0;
  uint64_t budget_told CELLAR_GUARDED_BY(mutex) = 0;  // to the policy

  // Hits not yet told to the policy, each with a pin; filled by readers without the lock (see keep_hit).
  std::array<std::atomic<CachedBlock*>, kHitsKept> hits{};
  std::atomic<size_t> hits_kept{0};

  bool keep_hit(CachedBlock* block);
  void drain_hits(std::vector<CachedBlock*>& drained) CELLAR_REQUIRES(mutex);
  void tell_budget(uint64_t budget) CELLAR_REQUIRES(mutex);
  void take_out(CachedBlock* block, Leavers& leavers) CELLAR_REQUIRES(mutex);
  void make_room(uint64_t bytes, uint64_t budget, Leavers& leavers) CELLAR_REQUIRES(mutex);
};

struct BlockCache::Impl {
  std::vector<Shard> shards;
  bool wants_hits = false;
  uint64_t capacity = 0;  // constant once the cache is made, like the next two
  bool wants_rows = false;
  std::shared_ptr<BlockTraceWriter> trace;
  Mutex rows_mutex;
  std::unique_ptr<RowTable> rows_made CELLAR_GUARDED_BY(rows_mutex);
  std::atomic<RowTable*> rows{nullptr};  // the same table; null before the first slice
  std::atomic<uint64_t> files_opened{0};
  std::atomic<int64_t> pinned{0};
  std::array<Stripe, kStripes> stripes;

  Shard& shard_of(const BlockSlot& slot) {
    const uint64_t mixed = (reinterpret_cast<uintptr_t>(&slot) >> 3) * 0x9e3779b97f4a7c15;
    return shards[(mixed >> 32) * shards.size() >> 32];
  }
  // Returns the budget of one shard.
  uint64_t budget() const {
    const auto taken = static_cast<uint64_t>(std::max<int64_t>(0, pinned.load(std::memory_order_relaxed)));
    return taken >= capacity ? 0 : BlockHeap::shared().for_charges(capacity - taken) / shards.size();
  }
};

// ---- Hits for policies that want them ----

// Keeps the hit, with a pin on the block, until the next drain; false when there is no more room. May lose
// hits when threads get in each other's way: two that take the same place keep one of theirs.
bool BlockCache::Shard::keep_hit(CachedBlock* block) {
  const size_t at = hits_kept.load(std::memory_order_relaxed);
  if (at >= kHitsKept) return false;
  block->add_pins(1);
  CachedBlock* nothing = nullptr;
  if (hits[at].compare_exchange_strong(nothing, block, std::memory_order_release,
                                       std::memory_order_relaxed)) {
    hits_kept.store(at + 1, std::memory_order_relaxed);
  } else {
    block->drop_pins(1);  // the caller has another pin
  }
  return at + 1 < kHitsKept;
}

// Tells the policy the hits on blocks that are still here. The caller drops the pins of `drained` without the
// lock.
void BlockCache::Shard::drain_hits(std::vector<CachedBlock*>& drained) {
  std::array<CacheEntry*, kHitsKept> present;
  size_t count = 0;
  for (auto& hit : hits) {
    CachedBlock* block = hit.exchange(nullptr, std::memory_order_acquire);
    if (block == nullptr) continue;
    drained.push_back(block);
    if (block->slot_ != nullptr) present[count++] = block;
  }
  hits_kept.store(0, std::memory_order_relaxed);
  if (count > 0) policy->hits(present.data(), count);
}

void BlockCache::remember_hit(BlockSlot& slot, CachedBlock* block) {
  Shard& shard = impl_->shard_of(slot);
  if (shard.keep_hit(block)) return;
  std::vector<CachedBlock*> drained;
  if (!shard.mutex.try_lock()) return;  // the next one will
  shard.drain_hits(drained);
  shard.mutex.unlock();
  for (const CachedBlock* each : drained) each->drop_pins(1);
}

// ---- Coming and going, under the shard's lock ----

void BlockCache::Shard::tell_budget(uint64_t budget) {
  if (budget == budget_told) return;
  budget_told = budget;
  policy->set_capacity(budget);
}

// Empties the block's slot and stops counting it; the policy has let go of it already.
void BlockCache::Shard::take_out(CachedBlock* block, Leavers& leavers) {
  CELLAR_ASSERT(block->slot_ != nullptr);
  const uint64_t word = block->slot_->word_.exchange(0, std::memory_order_acq_rel);
  CELLAR_ASSERT((word & kPointerMask) == reinterpret_cast<uintptr_t>(block));
  const uint64_t bytes = block->charge;
  CELLAR_ASSERT(used >= bytes && blocks > 0 && rows <= blocks);
  used -= bytes;
  --blocks;
  if (block->is_row_) --rows;
  block->slot_ = nullptr;
  block->add_pins(static_cast<int64_t>(word >> kCountShift));
  leavers.add(block);
}

// Evicts until `bytes` more fit into the budget, or nothing is left.
void BlockCache::Shard::make_room(uint64_t bytes, uint64_t budget, Leavers& leavers) {
  while (blocks > 0 && (bytes > budget || used > budget - bytes)) {
    CacheEntry* victim = policy->victim();
    if (victim == nullptr) return;
    take_out(static_cast<CachedBlock*>(victim), leavers);
    ++evictions;
  }
}

// ---- The cache ----

uint32_t BlockCache::shards_for(uint64_t capacity_bytes) {
  return static_cast<uint32_t>(std::clamp<uint64_t>(capacity_bytes / kShardBytesMin, 1, kShardsMax));
}

Result<std::shared_ptr<BlockCache>> BlockCache::create(uint64_t capacity_bytes, const std::string& policy,
                                                       uint32_t shards,
                                                       std::shared_ptr<BlockTraceWriter> trace, bool rows) {
  if (shards > kShardsLimit) {
    return Status::invalid_argument("block cache of " + std::to_string(shards) + " shards: at most " +
                                    std::to_string(kShardsLimit));
  }
  register_cache_plugins();
  if (shards == 0) shards = shards_for(capacity_bytes);
  auto impl = std::make_unique<Impl>();
  impl->shards = std::vector<Shard>(shards);
  impl->capacity = capacity_bytes;
  impl->wants_rows = rows && trace == nullptr;
  impl->trace = std::move(trace);
  for (Shard& shard : impl->shards) {
    CELLAR_TRY_ASSIGN(std::unique_ptr<CachePolicy> made, Registry<CachePolicy>::instance().make(policy));
    impl->wants_hits = made->wants_hits();
    const MutexLock lock(shard.mutex);
    shard.policy = std::move(made);
    shard.tell_budget(impl->budget());
  }
  return std::shared_ptr<BlockCache>(new BlockCache(std::move(impl)));
}

BlockCache::BlockCache(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

BlockCache::~BlockCache() {
  for (Shard& shard : impl_->shards) {
    Leavers leavers;
    std::vector<CachedBlock*> drained;
    {
      const MutexLock lock(shard.mutex);
      shard.drain_hits(drained);
      shard.make_room(1, 0, leavers);
      CELLAR_ASSERT(shard.blocks == 0 && shard.used == 0);
    }
    for (const CachedBlock* each : drained) each->drop_pins(1);
  }
}

// The block in the slot with a pin on it that the caller owns, or null.
CachedBlock* BlockCache::pin_in_slot(BlockSlot& slot) {
  if ((slot.word_.load(std::memory_order_relaxed) & kPointerMask) == 0) return nullptr;
  const uint64_t before = slot.word_.fetch_add(kOnePin, std::memory_order_acquire);
  auto* block = reinterpret_cast<CachedBlock*>(before & kPointerMask);
  CELLAR_DCHECK((before >> kCountShift) < 2 * kCountHalf - 1);  // the count must not run over
  if (block == nullptr || (before >> kCountShift) < kCountHalf) return block;
  // The count is half full: fold it into the block's own (see the header).
  uint64_t word = slot.word_.load(std::memory_order_relaxed);
  while ((word & kPointerMask) == reinterpret_cast<uintptr_t>(block) && (word >> kCountShift) >= kCountHalf) {
    const auto count = static_cast<int64_t>(word >> kCountShift);
    block->add_pins(count);
    if (slot.word_.compare_exchange_strong(word, word & kPointerMask, std::memory_order_acq_rel,
                                           std::memory_order_relaxed)) {
      break;
    }
    block->drop_pins(count);
  }
  return block;
}

// ---- The trace ----

uint64_t BlockCache::open_file() {
  constexpr uint64_t kFiles = (uint64_t{1} << (64 - kBlockIdFileShift)) - 1;  // 0 names no file
  const uint64_t before = impl_->files_opened.fetch_add(1, std::memory_order_relaxed);
  return (before % kFiles + 1) << kBlockIdFileShift;
}

uint64_t BlockCache::number_file() {
  static std::atomic<uint64_t> files{0};
  const uint64_t number = files.fetch_add(1, std::memory_order_relaxed) + 1;
  CELLAR_ASSERT(number != 0);  // no process opens 2^64 files
  return number;
}

void BlockCache::close_file(uint64_t first_id) {
  CELLAR_ASSERT(first_id != 0 && first_id % (uint64_t{1} << kBlockIdFileShift) == 0);
  if (impl_->trace != nullptr) impl_->trace->record(BlockUseKind::kClosed, first_id, 0, false);
}

void BlockCache::record(BlockUseKind kind, const CachedBlock& block) {
  if (impl_->trace != nullptr) impl_->trace->record(kind, block.id, block.charge, block.in_memory);
}

void BlockCache::pass_by(const CachedBlock& block) { record(BlockUseKind::kPassed, block); }

Status BlockCache::finish_trace() { return impl_->trace != nullptr ? impl_->trace->finish() : Status(); }

// ---- Lookups and insertions ----

inline void BlockCache::note_use(BlockSlot& slot, CachedBlock* block) {
  // Most blocks are marked already: a load leaves their line shared.
  if (!block->touched_.load(std::memory_order_relaxed))
    block->touched_.store(true, std::memory_order_relaxed);
  if (impl_->wants_hits) remember_hit(slot, block);
}

Pin BlockCache::lookup(BlockSlot& slot) {
  Stripe& stripe = impl_->stripes[stripe_of_thread()];
  CachedBlock* block = pin_in_slot(slot);
  if (block == nullptr) {
    Stripe::add_one(stripe.misses);
    return {};
  }
  Stripe::add_one(stripe.hits);
  note_use(slot, block);
  if (impl_->trace != nullptr) [[unlikely]]
    record(BlockUseKind::kHit, *block);
  return Pin::adopt(block);
}

Pin BlockCache::insert(BlockSlot& slot, CachedBlock* block, BlockUseKind kind) {
  CELLAR_ASSERT(block != nullptr && (kind == BlockUseKind::kMiss || kind == BlockUseKind::kLoaded));
  if (block->id == 0) block->id = reinterpret_cast<uintptr_t>(&slot);
  record(kind, *block);
  return put(slot, block, true);
}

Pin BlockCache::insert_if_room(BlockSlot& slot, CachedBlock* block) {
  CELLAR_ASSERT(block != nullptr);
  if (block->id == 0) block->id = reinterpret_cast<uintptr_t>(&slot);
  record(BlockUseKind::kLoaded, *block);
  return put(slot, block, false);
}

Pin BlockCache::put(BlockSlot& slot, CachedBlock* block, bool evict) {
  CELLAR_ASSERT(block != nullptr && block->slot_ == nullptr && block->id != 0);
  Pin pin(block);
  Pin present;
  bool refused = false;
  Leavers leavers;
  std::vector<CachedBlock*> drained;
  Shard& shard = impl_->shard_of(slot);
  {
    const MutexLock lock(shard.mutex);
    present = Pin::adopt(pin_in_slot(slot));
    const uint64_t budget = impl_->budget();
    const bool fits = block->charge <= budget && (evict || shard.used <= budget - block->charge);
    refused = !evict && !fits && !present;
    if (!present && fits) {
      if (impl_->wants_hits) shard.drain_hits(drained);
      shard.tell_budget(budget);
      shard.policy->arriving(*block);
      const uint64_t evictions = shard.evictions;
      shard.make_room(block->charge, budget, leavers);
      if (shard.evictions != evictions && impl_->wants_rows)
        keeps_rows_.store(true, std::memory_order_relaxed);
      const auto word = static_cast<uint64_t>(reinterpret_cast<uintptr_t>(block));
      CELLAR_ASSERT((word & ~kPointerMask) == 0);
      block->add_pins(kHeld);
      block->slot_ = &slot;
      shard.used += block->charge;
      ++shard.blocks;
      if (block->is_row_) ++shard.rows;
      ++shard.inserts;
      slot.word_.store(word, std::memory_order_release);
      shard.policy->inserted(*block);
    }
  }
  for (const CachedBlock* each : drained) each->drop_pins(1);
  if (refused) return {};
  return present ? std::move(present) : std::move(pin);
}

// ---- Slices of rows

Pin BlockCache::find_row(const SliceKey& key) {
  Pin found;
  RowTable* const table = impl_->rows.load(std::memory_order_acquire);
  if (table == nullptr) return found;
  table->find(key, [&](BlockSlot& slot) {
    CachedBlock* const entry = pin_in_slot(slot);
    if (entry == nullptr) return false;
    Pin pin = Pin::adopt(entry);
    CELLAR_DCHECK(entry->is_row_);
    if (!static_cast<const RowSlice*>(entry)->is_of(key)) return false;
    Stripe::add_one(impl_->stripes[stripe_of_thread()].row_hits);
    note_use(slot, entry);
    found = std::move(pin);
    return true;
  });
  return found;
}

// Makes the table for the first slice. It takes its memory from the budget.
RowTable& BlockCache::row_table() {
  RowTable* table = impl_->rows.load(std::memory_order_acquire);
  if (table != nullptr) return *table;
  {
    const MutexLock lock(impl_->rows_mutex);
    if (impl_->rows_made != nullptr) return *impl_->rows_made;
    impl_->rows_made = std::make_unique<RowTable>(impl_->capacity);
    table = impl_->rows_made.get();
    impl_->rows.store(table, std::memory_order_release);
  }
  charge_pinned(static_cast<int64_t>(table->memory_bytes()));
  return *table;
}

// Two threads that keep the same slice at once may both insert it. The second one is found less often, or not
// at all, and leaves.
void BlockCache::keep_row(const SliceKey& key, RowSlice* slice) {
  CELLAR_ASSERT(slice != nullptr && slice->is_of(key) && impl_->wants_rows && keeps_rows());
  const Pin own(slice);
  RowTable& table = row_table();
  bool present = false;
  table.find(key, [&](BlockSlot& slot) {
    const Pin other = Pin::adopt(pin_in_slot(slot));
    return present = other && static_cast<const RowSlice*>(other.get())->is_of(key);
  });
  if (present) return;
  slice->is_row_ = true;
  slice->id = key.hash | uint64_t{1} << 63;
  const size_t way = table.choose(key, [&](const BlockSlot& slot) { return !holds(slot); });
  BlockSlot& slot = table.slot(key, way);
  erase(slot);
  if (put(slot, slice, true).get() == slice) table.note(key, way);
}

bool BlockCache::is_roomy(const BlockSlot& slot, uint64_t bytes) const {
  const Shard& shard = impl_->shard_of(slot);
  const uint64_t budget = impl_->budget();
  const uint64_t room = budget - budget / 8;
  const MutexLock lock(shard.mutex);
  return bytes <= room && shard.used <= room - bytes;
}

bool BlockCache::missed_lately(uint64_t block_id) {
  RowTable* const table = impl_->rows.load(std::memory_order_acquire);
  return table != nullptr && table->missed_lately(block_id);
}

bool BlockCache::holds(const BlockSlot& slot) const {
  return (slot.word_.load(std::memory_order_relaxed) & kPointerMask) != 0;
}

bool BlockCache::has_room_for_pinned(uint64_t bytes) const {
  const uint64_t budget = impl_->budget();
  const uint64_t part = bytes / impl_->shards.size() + 1;
  return std::ranges::all_of(impl_->shards, [&](const Shard& shard) {
    const MutexLock lock(shard.mutex);
    return part <= budget && shard.used <= budget - part;
  });
}

void BlockCache::erase(BlockSlot& slot) {
  Leavers leavers;
  std::vector<CachedBlock*> drained;
  Shard& shard = impl_->shard_of(slot);
  {
    const MutexLock lock(shard.mutex);
    auto* block = reinterpret_cast<CachedBlock*>(slot.word_.load(std::memory_order_relaxed) & kPointerMask);
    if (block == nullptr) return;
    if (impl_->wants_hits) shard.drain_hits(drained);
    shard.policy->erased(*block);
    shard.take_out(block, leavers);
    CELLAR_ASSERT(!holds(slot));
  }
  for (const CachedBlock* each : drained) each->drop_pins(1);
}

void BlockCache::charge_pinned(int64_t bytes) {
  const int64_t before = impl_->pinned.fetch_add(bytes, std::memory_order_relaxed);
  CELLAR_ASSERT(before >= 0 && before + bytes >= 0);  // nobody gives back more than was charged
  if (bytes > 0) trim_all();
}

void BlockCache::trim_all() {
  for (Shard& shard : impl_->shards) {
    Leavers leavers;
    const MutexLock lock(shard.mutex);
    const uint64_t budget = impl_->budget();
    shard.tell_budget(budget);
    shard.make_room(0, budget, leavers);
  }
}

BlockCacheStats BlockCache::stats() const {
  BlockCacheStats sum;
  sum.capacity_bytes = impl_->capacity;
  sum.pinned_bytes =
      static_cast<uint64_t>(std::max<int64_t>(0, impl_->pinned.load(std::memory_order_relaxed)));
  for (const Stripe& stripe : impl_->stripes) {
    sum.hits += stripe.hits.load(std::memory_order_relaxed);
    sum.row_hits += stripe.row_hits.load(std::memory_order_relaxed);
    sum.misses += stripe.misses.load(std::memory_order_relaxed);
  }
  for (const Shard& shard : impl_->shards) {
    const MutexLock lock(shard.mutex);
    sum.used_bytes += shard.used;
    sum.blocks += shard.blocks - shard.rows;
    sum.rows += shard.rows;
    sum.inserts += shard.inserts;
    sum.evictions += shard.evictions;
  }
  sum.used_bytes += BlockHeap::shared().excess_of(sum.used_bytes);
  return sum;
}

}  // namespace cellar
