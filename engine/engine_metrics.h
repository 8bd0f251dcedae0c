// The metrics of an engine from its parts, and the file that they are written to.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/mutex.h"
#include "cellar/metrics.h"
#include "engine/engine_parts.h"

namespace cellar {

// `status` is that of the same engine. Any thread.
Metrics metrics_of(EngineParts& parts, EngineStatus status);

// MetricsFile: EngineOptions::metrics_file, rewritten from time to time. Each text atomically takes the place
// of the one before. A write that fails is a trouble, "metrics file". The next write tries again.
//
// It has threads of its own, whatever executor the environment brings. It sleeps nearly always, and would
// otherwise take a thread of that executor. Any thread.
class MetricsFile {
 public:
  // Borrows world and health. `identity` is the store's. `text` gives the metrics as of now.
  MetricsFile(const World& world, Health& health, const std::string& identity,
              std::function<std::string()> text);
  MetricsFile(const MetricsFile&) = delete;
  MetricsFile& operator=(const MetricsFile&) = delete;
  ~MetricsFile() { stop(); }

  // Writes the first text, and begins to rewrite it. Only a wrong name is an error: kInvalidArgument if the
  // file lies in a store's directory, or exists and holds no metrics. All else is a trouble.
  Status start();
  // Ends the rewriting. Call it before the engine's parts are closed. Later calls do nothing.
  void stop();
  // Writes a text after stop(), with what the close has flushed.
  void write_last();

 private:
  Status check_path() const;
  Status check_old_file(Directory& directory) const;
  Status write() const;
  Status write_as(Directory& directory, const std::string& name) const;
  Status rewrite();
  void run();
  bool is_stopping();

  const World& world_;
  Health& health_;
  const std::function<std::string()> text_;
  std::string folder_;
  std::string name_;                    // in the folder
  std::string temporary_;               // the name of a text that is not complete yet
  std::unique_ptr<Executor> executor_;  // null: nothing is rewritten
  std::unique_ptr<Event> changed_;
  Mutex mutex_;
  bool stopping_ CELLAR_GUARDED_BY(mutex_) = false;
  bool ended_ CELLAR_GUARDED_BY(mutex_) = false;  // the job takes no further step
};

}  // namespace cellar
