// Catalog: the tables of an engine, by name.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/mutex.h"
#include "cellar/status.h"
#include "engine/store/table_state.h"

namespace cellar {

// Any thread. Tables hold the engine's parts, and the engine's parts hold the catalog: take_all() ends that.
class Catalog {
 public:
  // `store` names the store in errors.
  explicit Catalog(std::string store) : store_(std::move(store)) {}

  // kNotFound with the nearest name as hint.
  Result<std::shared_ptr<TableState>> find(std::string_view name) const;
  // Returns null if there is no table of this name.
  std::shared_ptr<TableState> lookup(std::string_view name) const;
  // Returns all tables, in the order of their names.
  std::vector<std::shared_ptr<TableState>> all() const;
  std::vector<std::string> names() const;
  // Returns the stores of all families of all tables.
  std::vector<std::shared_ptr<Store>> stores() const;

  // Adds a table whose name is not in the catalog.
  void add(std::shared_ptr<TableState> table);
  // Removes the table of this name, which is in the catalog.
  void remove(std::string_view name);
  // Empties the catalog. The last reference to a table may end with the result: hold no lock.
  std::vector<std::shared_ptr<TableState>> take_all();

 private:
  const std::string store_;
  mutable Mutex mutex_;
  std::map<std::string, std::shared_ptr<TableState>, std::less<>> tables_ CELLAR_GUARDED_BY(mutex_);
};

}  // namespace cellar
