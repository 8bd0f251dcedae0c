// Compactions: those that clients asked for, one after the other, while the clients go on.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "cellar/environment.h"
#include "cellar/table.h"

namespace cellar::hbase::serve {

// A client asks once for each region, but a compaction is of the whole table. A request like one that waits
// is therefore dropped. Errors are in the engine's log and status. Any thread may call any function. The
// destructor waits for the compaction that runs, and drops those that wait.
class Compactions {
 public:
  Compactions() : executor_(make_thread_executor(1, 1)) {}
  ~Compactions() { stopping_ = true; }
  Compactions(const Compactions&) = delete;
  Compactions& operator=(const Compactions&) = delete;

  // `family` is empty for all families of the table.
  void request(const std::shared_ptr<Table>& table, const std::string& family, bool major);

  struct State {
    bool minor = false;
    bool major = false;
  };
  // Returns which compactions of a table run or wait.
  State state(const std::string& table);

 private:
  struct Wanted {
    std::string table;
    std::string family;
    bool major = false;
    bool operator==(const Wanted&) const = default;
  };
  void run(Table& table, const Wanted& wanted);

  std::atomic<bool> stopping_ = false;
  Mutex mutex_;
  std::vector<Wanted> waiting_ CELLAR_GUARDED_BY(mutex_);
  std::vector<Wanted> running_ CELLAR_GUARDED_BY(mutex_);
  std::unique_ptr<Executor> executor_;  // ends first: its jobs use the rest
};

}  // namespace cellar::hbase::serve
