// World: what an engine was given when it was opened: options, path, files, clock, threads, listener, log.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "cellar/environment.h"
#include "cellar/events.h"
#include "cellar/file_system.h"
#include "cellar/options.h"
#include "engine/store/engine_meter.h"

namespace cellar {

// Immutable. Any thread.
class World {
  const std::unique_ptr<Executor> own_executor_;  // null if the environment brings an executor
  EventListener silent_;
  std::optional<WatchedFiles> watched_files_;

 public:
  World(EngineOptions opened_with, std::string opened_at);
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  const EngineOptions options;
  const std::string path;  // of the store
  // Counts for Engine::metrics(); null if EngineOptions::metrics is off. Files that outlive the engine hold
  // it, too.
  const std::shared_ptr<EngineMeter> meter;
  FileSystem& files;
  Clock& clock;
  Executor& executor;
  EventListener& events;

  // Returns true if the executor is the engine's own. An executor that the environment brings may belong to a
  // test. Its jobs must not depend on what the process did before.
  bool has_own_threads() const { return own_executor_ != nullptr; }
  // Returns where operations are counted; null if they are not.
  OperationMeter* operations() const { return meter == nullptr ? nullptr : &meter->operations; }
  void log(LogLevel level, std::string_view text) const;
};

}  // namespace cellar
