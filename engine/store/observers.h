// Observers: who watches which table, and whether this thread is in one of them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "cellar/observer.h"
#include "engine/store/observer_list.h"
#include "engine/store/table_state.h"

namespace cellar {

// Any thread. Lists are kept until clear(), so that writers need no lock. They are not the tables' own: an
// observer may hold its table, and neither would ever end.
class Observers {
 public:
  // kInvalidArgument for a name that the table's observers have already.
  Status add(TableState& table, const std::string& name, std::shared_ptr<Observer> observer);
  // Replaces the engine's own observers of the table, which come first. A write that has begun may still see
  // the old ones.
  void set_own(TableState& table, std::vector<ObserverList::Named> own);
  // When nobody writes any more.
  void clear();

 private:
  void install(TableState& table, std::unique_ptr<const ObserverList> list) CELLAR_REQUIRES(mutex_);

  Mutex mutex_;
  std::vector<std::unique_ptr<const ObserverList>> lists_ CELLAR_GUARDED_BY(mutex_);
};

// True while this thread runs before_write(). A call that waits could then wait for locks that this thread
// holds.
inline constinit thread_local bool in_observer = false;

// Returns kInvalidArgument: an observer must not make this call. check_not_in_observer() returns it while
// this thread is in before_write().
Status called_by_observer();
inline Status check_not_in_observer() { return in_observer ? called_by_observer() : Status(); }

}  // namespace cellar
