// World: the environment's parts, or the usual ones in their place.
#include "engine/store/world.h"

#include <algorithm>
#include <utility>

namespace cellar {

namespace {

Clock& clock_of(const Environment& environment) {
  return environment.clock != nullptr ? *environment.clock : system_clock();
}

FileSystem& files_of(const Environment& environment) {
  return environment.files != nullptr ? *environment.files : posix_file_system();
}

std::shared_ptr<EngineMeter> meter_of(const EngineOptions& options) {
  if (!options.metrics) return nullptr;
  const Environment& environment = options.environment;
  return std::make_shared<EngineMeter>(clock_of(environment), environment.events,
                                       environment.clock == nullptr);
}

}  // namespace

World::World(EngineOptions opened_with, std::string opened_at)
    : own_executor_(opened_with.environment.executor != nullptr
                        ? nullptr
                        // One of the threads for flushes may wait for the next retry of a job that failed.
                        : make_thread_executor(3, std::max(1, opened_with.background_threads - 1))),
      options(std::move(opened_with)),
      path(std::move(opened_at)),
      meter(meter_of(options)),
      files(meter == nullptr ? files_of(options.environment)
                             : watched_files_.emplace(files_of(options.environment),
                                                      std::shared_ptr<FileMeter>(meter, &meter->files))),
      clock(clock_of(options.environment)),
      executor(options.environment.executor != nullptr ? *options.environment.executor : *own_executor_),
      events(meter != nullptr                        ? meter->events
             : options.environment.events != nullptr ? *options.environment.events
                                                     : silent_) {}

void World::log(LogLevel level, std::string_view text) const {
  if (options.environment.log != nullptr) options.environment.log->log(level, "engine", text);
}

}  // namespace cellar
