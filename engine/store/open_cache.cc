// open_cache(): the trace is created first, so that the cache has it from its first use.
#include "engine/store/open_cache.h"

#include <utility>

#include "cellar/environment.h"

namespace cellar {
namespace {

Result<std::shared_ptr<BlockTraceWriter>> open_block_trace(const EngineOptions& options,
                                                           const std::string& store) {
  if (options.block_trace.empty()) return std::shared_ptr<BlockTraceWriter>();
  if (options.block_trace.starts_with(store + "/")) {
    return Status::invalid_argument("block trace " + options.block_trace + " lies in the store's directory")
        .hinting("name a file in another directory: opening a store removes files that it does not know");
  }
  const Environment& given = options.environment;
  FileSystem& files = given.files != nullptr ? *given.files : posix_file_system();
  Clock& clock = given.clock != nullptr ? *given.clock : system_clock();
  const uint32_t shards =
      options.cache_shards != 0 ? options.cache_shards : BlockCache::shards_for(options.cache_bytes);
  return BlockTraceWriter::create(files, clock, options.block_trace,
                                  {.started_ms = clock.wall_ms(),
                                   .capacity_bytes = options.cache_bytes,
                                   .shards = shards,
                                   .policy = options.cache_policy});
}

}  // namespace

Result<std::shared_ptr<BlockCache>> open_cache(const EngineOptions& options, const std::string& store) {
  CELLAR_TRY_ASSIGN(std::shared_ptr<BlockTraceWriter> trace, open_block_trace(options, store));
  return BlockCache::create(options.cache_bytes, options.cache_policy, options.cache_shards, std::move(trace),
                            options.cache_rows);
}

}  // namespace cellar
