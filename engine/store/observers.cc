// Observers: lists that are replaced as a whole.
#include "engine/store/observers.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"

namespace cellar {

Status Observers::add(TableState& table, const std::string& name, std::shared_ptr<Observer> observer) {
  MutexLock lock(mutex_);
  const ObserverList* known = table.observers();
  auto list = std::make_unique<ObserverList>(known != nullptr ? *known : ObserverList{});
  if (std::ranges::find(list->all, name, &ObserverList::Named::name) != list->all.end())
    return Status::invalid_argument("table " + table.name() + " already has an observer " + name);
  list->all.push_back({name, std::move(observer)});
  CELLAR_ASSERT(known == nullptr || list->all.size() == known->all.size() + 1);  // lists only grow
  table.set_observers(list.get());
  lists_.push_back(std::move(list));
  return {};
}

void Observers::clear() {
  std::vector<std::unique_ptr<const ObserverList>> lists;  // ends after the lock: what observers do in
                                                           // their destructors is not ours to know
  MutexLock lock(mutex_);
  lists.swap(lists_);
}

Status called_by_observer() {
  return Status::invalid_argument(
             "an observer asked for a write, or for work on the store, while it was running")
      .hinting("add to the write through its ObserverContext, or use another thread and do not wait for it");
}

}  // namespace cellar
