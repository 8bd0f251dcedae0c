// World: the environment's parts, or the usual ones in their place.
#include "engine/store/world.h"

#include <algorithm>
#include <utility>

namespace cellar {

World::World(EngineOptions opened_with, std::string opened_at)
    : own_executor_(opened_with.environment.executor != nullptr
                        ? nullptr
                        // One of the threads for flushes may wait for the next retry of a job that failed.
                        : make_thread_executor(3, std::max(1, opened_with.background_threads - 1))),
      options(std::move(opened_with)),
      path(std::move(opened_at)),
      files(options.environment.files != nullptr ? *options.environment.files : posix_file_system()),
      clock(options.environment.clock != nullptr ? *options.environment.clock : system_clock()),
      executor(options.environment.executor != nullptr ? *options.environment.executor : *own_executor_),
      events(options.environment.events != nullptr ? *options.environment.events : silent_) {}

void World::log(LogLevel level, std::string_view text) const {
  if (options.environment.log != nullptr) options.environment.log->log(level, "engine", text);
}

}  // namespace cellar
