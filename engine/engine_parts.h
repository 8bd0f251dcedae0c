// EngineParts: owns the parts of an engine, and says which of them each part uses.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/block_heap.h"
#include "base/pages.h"
#include "engine/jobs/background.h"
#include "engine/jobs/checkpoint_job.h"
#include "engine/jobs/feed_reader.h"
#include "engine/second/second_tables.h"
#include "engine/store/observers.h"
#include "engine/store/snapshot_keeper.h"
#include "engine/store/totals_series.h"
#include "engine/store/unique_time.h"
#include "engine/trace/operation_recorder.h"
#include "engine/write/turn.h"
#include "engine/write/write_path.h"

namespace cellar {

// The name of the trouble of a trace that could not be written.
inline constexpr std::string_view kTraceTrouble = "operation trace";

// Lives as long as the engine, a table, a snapshot, a transaction or a feed's reader does. Members are in the
// order of their construction. A part uses only parts above it, except that writes and flushes use each
// other.
struct EngineParts : std::enable_shared_from_this<EngineParts> {
  // Makes a table as the engine's users see it.
  using MakeTable = std::function<std::shared_ptr<TableState>(
      std::shared_ptr<EngineParts> parts, uint32_t id, const std::string& name, const TableOptions& options,
      std::vector<std::shared_ptr<Store>> stores)>;

  EngineParts(EngineOptions options, std::string path, std::shared_ptr<BlockCache> cache,
              const MakeTable& make_table);
  EngineParts(const EngineParts&) = delete;
  EngineParts& operator=(const EngineParts&) = delete;

  // Returns a part for a holder that may outlive the engine: it keeps all parts alive.
  template <class Part>
  std::shared_ptr<Part> shared(Part& part) {
    return {shared_from_this(), &part};
  }

  EngineLife life;
  const World world;
  std::optional<SparePages> spare_pages;      // until the engine is closed
  std::optional<RegionHelper> region_helper;  // the same; null if the environment brings the threads
  TotalsSeries totals;
  Activity activity;
  EngineCounters counters;
  Health health;
  Disk disk;
  StoreFiles files;
  Mvcc mvcc;
  ExpiryClock expiry;
  UniqueTime unique_time;
  MemtableSpace memory;
  RowLocks row_locks;
  Observers observers;
  RecoveryReport recovery;
  Catalog catalog;
  SnapshotKeeper snapshots;
  OperationRecorder recorder;
  const TableHost host;
  StoreFileWriter writer;
  const StoreWork work;
  WriteThrottle throttle;
  Background background;
  WritePath write_path;
  SecondTables second_tables;
  Turn refresh_turn;
  const CheckpointSource checkpoint_source;
  const FeedSource feed_source;
};

// Logs why a recording ended by itself. A failure is listed as a trouble, too, and told to the listener.
void tell_end_of_trace(EngineParts& parts, const Status& status);

}  // namespace cellar
