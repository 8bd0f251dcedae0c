// The memory of an engine: every part is asked for its own figure.
#include "engine/engine_memory.h"

#include <algorithm>
#include <memory>

#include "base/assert.h"
#include "base/pages.h"

namespace cellar {
namespace {

uint64_t at_least_0(int64_t bytes) { return static_cast<uint64_t>(std::max<int64_t>(0, bytes)); }

}  // namespace

void add_memory(const EngineParts& parts, EngineStatus& status) {
  for (const auto& store : parts.catalog.stores()) {
    const std::shared_ptr<const StoreView> view = store->view();
    for (const MemtableRef& memtable : view->frozen) status.memtable_frozen_bytes += memtable->bytes();
    for (const auto& file : view->files) status.reader_bytes += file->memory_bytes();
  }
  status.memtable_held_bytes = at_least_0(parts.memory.held_bytes());
  status.memtable_spare_bytes = SparePages::bytes();
  status.memtable_budget_bytes = parts.world.options.memtable_bytes_total;
  status.cache_pinned_bytes = parts.files.cache().stats().pinned_bytes;
  status.job_bytes = at_least_0(parts.activity.job_bytes.load(std::memory_order_relaxed));
  if (parts.disk.wal != nullptr) status.log_preallocated_bytes = parts.disk.wal->preallocated_bytes();
  status.memory_bytes = status.memtable_bytes + status.memtable_held_bytes + status.cache_used_bytes +
                        status.reader_bytes + status.job_bytes;
  CELLAR_ASSERT(status.memory_bytes >= status.memtable_bytes);
}

}  // namespace cellar
