// Catalog: the tables of an engine, by name.
#pragma once

#include <cstdint>
#include <functional>
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
  // Makes a table as the engine's users see it.
  using MakeTable = std::function<std::shared_ptr<TableState>(uint32_t id, const std::string& name,
                                                              const TableOptions& options,
                                                              std::vector<std::shared_ptr<Store>> stores)>;

  // `store` names the store in errors.
  Catalog(std::string store, MakeTable make_table)
      : store_(std::move(store)), make_table_(std::move(make_table)) {}

  // kNotFound with the nearest name as hint.
  Result<std::shared_ptr<TableState>> find(std::string_view name) const;
  // Returns null if there is no table of this name.
  std::shared_ptr<TableState> lookup(std::string_view name) const;
  // Returns all tables, in the order of their names.
  std::vector<std::shared_ptr<TableState>> all() const;
  std::vector<std::string> names() const;
  // Returns the stores of all families of all tables.
  std::vector<std::shared_ptr<Store>> stores() const;

  // Makes a table, which is not in the catalog yet.
  std::shared_ptr<TableState> make(uint32_t id, const std::string& name, const TableOptions& options,
                                   std::vector<std::shared_ptr<Store>> stores) const;
  // Makes a table and adds it. Its name is not in the catalog.
  void add(uint32_t id, const std::string& name, const TableOptions& options,
           std::vector<std::shared_ptr<Store>> stores);
  // Removes the table of this name, which is in the catalog.
  void remove(std::string_view name);
  // Removes the tables `gone`, which are in the catalog, and adds `fresh`, at one moment.
  void exchange(const std::vector<std::shared_ptr<TableState>>& gone,
                const std::vector<std::shared_ptr<TableState>>& fresh);
  // Empties the catalog. The last reference to a table may end with the result: hold no lock.
  std::vector<std::shared_ptr<TableState>> take_all();

 private:
  const std::string store_;
  const MakeTable make_table_;
  mutable Mutex mutex_;
  std::map<std::string, std::shared_ptr<TableState>, std::less<>> tables_ CELLAR_GUARDED_BY(mutex_);
};

}  // namespace cellar
