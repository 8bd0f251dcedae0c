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
  const auto same = [&](const ObserverList::Named& each) { return !each.of_engine && each.name == name; };
  if (std::ranges::any_of(list->all, same))
    return Status::invalid_argument("table " + table.name() + " already has an observer " + name);
  list->all.push_back({name, std::move(observer)});
  CELLAR_ASSERT(known == nullptr || list->all.size() == known->all.size() + 1);  // lists only grow
  install(table, std::move(list));
  return {};
}

void Observers::set_own(TableState& table, std::vector<ObserverList::Named> own) {
  CELLAR_ASSERT(std::ranges::all_of(own, &ObserverList::Named::of_engine));
  MutexLock lock(mutex_);
  auto list = std::make_unique<ObserverList>(ObserverList{std::move(own)});
  if (const ObserverList* known = table.observers(); known != nullptr)
    for (const ObserverList::Named& each : known->all)
      if (!each.of_engine) list->all.push_back(each);
  install(table, std::move(list));
}

void Observers::install(TableState& table, std::unique_ptr<const ObserverList> list) {
  table.set_observers(list->all.empty() ? nullptr : list.get());
  lists_.push_back(std::move(list));
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
