// EngineParts: each part is given the parts that it uses.
#include "engine/engine_parts.h"

#include <utility>

#include "base/assert.h"

namespace cellar {
namespace {

OperationRecorder::Parts recorder_parts(const World& world) {
  const Environment& environment = world.options.environment;
  return {world.files,      world.clock, world.executor, environment.clock == nullptr,
          environment.seed, world.path};
}

}  // namespace

// A trace at its limit has ended as it should. Any other end is a trouble until the next stop_trace().
void tell_end_of_trace(EngineParts& parts, const Status& status) {
  if (status.is(Code::kLimit)) {
    parts.world.log(LogLevel::kInfo, status.to_text());
    return;
  }
  parts.world.log(LogLevel::kWarning, "operations are no longer recorded: " + status.to_text());
  parts.health.trouble(kTraceTrouble, status, parts.world.clock.wall_ms());
  parts.world.events.on_background_error(status);
}

EngineParts::EngineParts(EngineOptions options, std::string path, std::shared_ptr<BlockCache> cache,
                         const MakeTable& make_table)
    : world(std::move(options), std::move(path)),
      spare_pages(world.options.read_only ? 0 : world.options.memtable_bytes),
      totals(world),
      activity(world.executor),
      health(world, activity.changed),
      disk(health, world.executor),
      files(world, disk, std::move(cache)),
      mvcc(world.clock, world.executor),
      expiry(world.clock, world.options.ttl_clock_guard_s * 1000),
      unique_time(world.clock),
      memory(world.options.memtable),
      row_locks(world.executor),
      catalog(world.path,
              [this, make_table](uint32_t id, const std::string& name, const TableOptions& schema,
                                 std::vector<std::shared_ptr<Store>> stores) {
                return make_table(shared_from_this(), id, name, schema, std::move(stores));
              }),
      snapshots(life, mvcc, catalog, counters),
      recorder(recorder_parts(world), [this](const Status& status) { tell_end_of_trace(*this, status); }),
      host{life, world, mvcc, snapshots, recorder},
      writer(world, activity, disk, files, expiry),
      work{world, activity, health, disk, files, writer, mvcc, expiry, memory, counters, totals},
      throttle(world, activity, health, memory, counters),
      background(work, catalog, write_path),
      write_path({host, catalog, throttle, row_locks, memory, disk}, background),
      second_tables({world, disk, catalog, observers, write_path}),
      refresh_turn(world.executor),
      checkpoint_source{world, disk, mvcc, expiry, writer, catalog, write_path},
      feed_source{life, world, disk, mvcc, catalog, background} {
  CELLAR_ASSERT(make_table != nullptr);
  if (!world.has_own_threads()) return;
  // The job uses nothing of the engine, which need not wait for it.
  const auto make_ready = [] { BlockHeap::shared().make_region_ready(); };
  region_helper.emplace(BlockHeap::shared(),
                        [this, make_ready] { world.executor.submit(JobPriority::kHigh, make_ready); });
}

}  // namespace cellar
