// Catalog: a map under a mutex.
#include "engine/store/catalog.h"

#include <fmt/format.h>

#include "base/assert.h"
#include "cellar/plugin.h"

namespace cellar {

Result<std::shared_ptr<TableState>> Catalog::find(std::string_view name) const {
  if (std::shared_ptr<TableState> found = lookup(name)) return found;
  return Status::not_found(fmt::format("store {} has no table \"{}\"", store_, name))
      .hinting(nearest_hint(name, names()));
}

std::shared_ptr<TableState> Catalog::lookup(std::string_view name) const {
  const MutexLock lock(mutex_);
  const auto found = tables_.find(name);
  return found != tables_.end() ? found->second : nullptr;
}

std::vector<std::shared_ptr<TableState>> Catalog::all() const {
  const MutexLock lock(mutex_);
  std::vector<std::shared_ptr<TableState>> tables;
  for (const auto& [name, table] : tables_) tables.push_back(table);
  return tables;
}

std::vector<std::string> Catalog::names() const {
  const MutexLock lock(mutex_);
  std::vector<std::string> names;
  for (const auto& [name, table] : tables_) names.push_back(name);
  return names;
}

std::vector<std::shared_ptr<Store>> Catalog::stores() const {
  const MutexLock lock(mutex_);
  std::vector<std::shared_ptr<Store>> stores;
  for (const auto& [name, table] : tables_)
    for (const auto& store : table->families().stores) stores.push_back(store);
  return stores;
}

std::shared_ptr<TableState> Catalog::make(uint32_t id, const std::string& name, const TableOptions& options,
                                          std::vector<std::shared_ptr<Store>> stores) const {
  std::shared_ptr<TableState> table = make_table_(id, name, options, std::move(stores));
  CELLAR_ASSERT(table != nullptr && !table->dropped());
  return table;
}

void Catalog::add(uint32_t id, const std::string& name, const TableOptions& options,
                  std::vector<std::shared_ptr<Store>> stores) {
  exchange({}, {make(id, name, options, std::move(stores))});
}

void Catalog::exchange(const std::vector<std::shared_ptr<TableState>>& gone,
                       const std::vector<std::shared_ptr<TableState>>& fresh) {
  const MutexLock lock(mutex_);
  for (const auto& table : gone) {
    const auto found = tables_.find(table->name());
    CELLAR_ASSERT(found != tables_.end() && found->second == table);
    tables_.erase(found);
  }
  for (const auto& table : fresh) {
    const bool added = tables_.emplace(table->name(), table).second;
    CELLAR_ASSERT(added);
  }
}

void Catalog::remove(std::string_view name) {
  const MutexLock lock(mutex_);
  const auto found = tables_.find(name);
  CELLAR_ASSERT(found != tables_.end());
  tables_.erase(found);
}

std::vector<std::shared_ptr<TableState>> Catalog::take_all() {
  std::vector<std::shared_ptr<TableState>> tables = all();
  const MutexLock lock(mutex_);
  tables_.clear();
  return tables;
}

}  // namespace cellar
