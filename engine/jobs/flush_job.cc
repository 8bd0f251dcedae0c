// FlushJob: the order of its lines is the argument for durability.
#include "engine/jobs/flush_job.h"

#include "base/assert.h"

#include <algorithm>
#include <span>
#include <vector>

namespace cellar {
namespace {

// Makes the new file count in place of the log. `flushed` is the newest sequence in it.
Status commit(const StoreWork& work, const Store& store, const NewFiles& made, uint64_t flushed) {
  // The file holds parts of batches whose other parts may only be in the log: those must not be lost if the
  // file is kept.
  CELLAR_TRY(work.disk.sync_log());  // crash here: an orphan file, as before
  ManifestEdit edit;
  edit.add_files = made.changes(store);
  edit.flushed.push_back({store.ids().family, flushed});
  edit.work.push_back({store.ids().family, made.rewritten.work});
  edit.last_sequence = work.mvcc.read_point();
  CELLAR_ASSERT(flushed <= edit.last_sequence);
  const ExpiryClock::Memory time = work.expiry.memory();
  edit.wall_ms = time.wall_ms;
  edit.doubted_ms = time.doubted_ms;
  edit.log_synced = work.disk.wal->synced();
  return work.files.commit(edit);  // crash here: the file counts; replay skips what it holds
}

// Puts the new file in the place of the memtables. Returns the bytes of memory that this frees.
uint64_t install(const StoreWork& work, Store& store, std::span<const MemtableRef> memtables,
                 const NewFiles& made, uint64_t flushed) {
  Store::FlushInstalled installed;
  work.mvcc.with_snapshots([&](const std::vector<uint64_t>& snapshots) {
    installed = store.install_flush(memtables, made.rewritten, flushed, snapshots);
    work.counters.views_kept += installed.views_kept;  // before a snapshot closes, and looks at the figure
  });
  work.memory.shrink(installed.freed);
  work.counters.flushes.fetch_add(1);
  work.counters.bytes_flushed.fetch_add(made.bytes());
  return installed.freed;
}

}  // namespace

bool is_gone(const Disk& disk, const Store& store) {
  return store.dropped() || !disk.names_family(store.ids().family);
}

FamilyTotals flush_totals(std::span<const MemtableRef> memtables, const NewFiles& made) {
  FamilyTotals totals{.bytes_flushed = made.bytes(), .flushes = 1};
  for (const MemtableRef& memtable : memtables) totals.bytes_put += memtable->summary().cell_bytes;
  CELLAR_ASSERT(totals.bytes_put > 0);  // each memtable has cells, and each cell has a key
  return totals;
}

Status flush_store(const StoreWork& work, Store& store) {
  const std::shared_ptr<const StoreView> view = store.view();
  if (view->frozen.empty()) return {};
  FlushInfo info;
  info.table = store.table_name();
  info.family = store.family();
  const int64_t begun_us = work.world.clock.steady_us();
  uint64_t flushed = 0;
  for (const MemtableRef& memtable : view->frozen) {
    info.cells_in += memtable->summary().cells;
    flushed = std::max(flushed, memtable->summary().sequence_max);
  }
  CELLAR_ASSERT(flushed > store.flushed_sequence() && flushed <= work.mvcc.read_point());
  work.world.events.on_flush_begin(info);

  const OpenReadPoints points = work.mvcc.open_read_points();
  auto made = work.writer.write_memtables(store, view->frozen, points);
  // Crash here: an orphan file, which the next open sweeps; the log has everything.
  if (made.ok()) made->rewritten.work = flush_totals(view->frozen, *made);
  info.status = made.ok() ? commit(work, store, *made, flushed) : made.status();
  if (info.status.ok()) {
    const uint64_t freed = install(work, store, view->frozen, *made, flushed);
    store.pace().flushed(freed, work.world.clock.steady_us() - begun_us);
    CELLAR_ASSERT(made->files().size() <= 1);
    if (!made->files().empty()) info.file = made->files().front()->record().name;
    info.cells_out = made->cells();
    info.bytes_out = made->bytes();
  } else {
    if (made.ok())
      for (const auto& file : made->files()) file->set_obsolete();
    // A store that was dropped during the flush needs none.
    if (is_gone(work.disk, store)) info.status = {};
  }
  info.micros = work.world.clock.steady_us() - begun_us;
  if (info.status.ok()) work.totals.note(store);
  work.world.events.on_flush_end(info);
  return info.status;
}

}  // namespace cellar
