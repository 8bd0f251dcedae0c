// TableState: a table as the engine knows it: its identity, families, options and observers.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/assert.h"
#include "base/mutex.h"
#include "cellar/table.h"
#include "engine/store/observer_list.h"
#include "engine/store/store.h"
#include "engine/store/table_host.h"

namespace cellar {

// The families of a table at one time, in order of their names. Immutable.
struct FamilyList {
  std::vector<std::shared_ptr<Store>> stores;

  // Returns null if the table has no such family.
  Store* find(std::string_view name) const {
    for (const auto& store : stores)
      if (store->family() == name) return store.get();
    return nullptr;
  }
};

// The answer to a write to a table that is read-only.
Status is_read_only(std::string_view table);

// Every Table of an engine is a TableState; TableImpl adds the operations. Any thread.
class TableState : public Table, public std::enable_shared_from_this<TableState> {
 public:
  // Keeps the host alive, and with it the parts of the engine that the table uses.
  TableState(std::shared_ptr<const TableHost> host, uint32_t id, std::string name, TableOptions options,
             std::vector<std::shared_ptr<Store>> stores);

  // Returns the state of a table that a user named; null if it is not a table of this engine.
  static TableState* of(const TableHost& host, Table* table);

  const std::string& name() const final { return name_; }
  uint32_t id() const { return id_; }
  const TableHost& host() const { return *host_; }
  // Returns the engine's keeper of snapshots, which outlives the table.
  std::shared_ptr<SnapshotKeeper> snapshots() const { return {host_, &host_->snapshots}; }
  // The durability of writes that do not specify one: the table's, or the engine's.
  Durability durability() const { return durability_.load(std::memory_order_relaxed); }
  // Without families, which are a list of their own.
  TableOptions options() const;
  void set_options(TableOptions options);
  // Returns the definition of a second table, or nothing for every other table.
  std::optional<SecondTable> second() const;
  void set_second(std::optional<SecondTable> second);
  // Returns true if the engine derives tables from this one.
  bool has_seconds() const { return has_seconds_.load(std::memory_order_acquire); }
  void set_has_seconds(bool has);
  // Lists are kept as long as the table, so that readers need no lock: families come and go rarely.
  const FamilyList& families() const {
    const FamilyList* list = families_.load(std::memory_order_acquire);
    CELLAR_DCHECK(list != nullptr);
    return *list;
  }
  void set_families(std::vector<std::shared_ptr<Store>> stores);
  bool dropped() const { return dropped_.load(std::memory_order_acquire); }
  void set_dropped() {
    const bool before = dropped_.exchange(true, std::memory_order_release);
    CELLAR_ASSERT(!before);
  }

  // Returns null if the table has no observers: the common case. Call only after check(): observers go when
  // the engine is closed.
  const ObserverList* observers() const { return observers_.load(std::memory_order_acquire); }
  void set_observers(const ObserverList* observers) {
    observers_.store(observers, std::memory_order_release);
  }

  // kAborted if the engine is closed, kNotFound if the table was dropped.
  Status check() const {
    if (host_->life.is_open() && !dropped()) [[likely]]
      return {};
    return why_unusable();
  }
  // kBusy, too, if the table is a second one that is not built.
  Status check_readable() const {
    CELLAR_TRY(check());
    return unbuilt_.load(std::memory_order_relaxed) ? is_unbuilt() : Status();
  }
  // kReadOnly, too, if users may not write to the table: a second one among them.
  Status check_writable() const;
  // kInvalidArgument, too, if second tables would not follow adopted files.
  Status check_adopting() const;
  // kInvalidArgument for additions by observers of users, where the engine keeps or derives tables.
  Status check_additions() const;
  // kInvalidArgument naming the family, the nearest one as hint.
  Status unknown_family(std::string_view family) const;
  // Returns the store of this family, or all stores if `family` is empty. kInvalidArgument.
  Result<std::vector<std::shared_ptr<Store>>> stores_of(std::string_view family) const;

 private:
  Status why_unusable() const;
  Status is_unbuilt() const;
  Status is_second() const;

  const std::shared_ptr<const TableHost> host_;
  const uint32_t id_;
  const std::string name_;
  std::atomic<Durability> durability_{};
  std::atomic<bool> read_only_{false};
  std::atomic<bool> is_second_{false};
  std::atomic<bool> unbuilt_{false};
  std::atomic<bool> has_seconds_{false};
  std::atomic<const FamilyList*> families_{nullptr};
  mutable Mutex history_mutex_;
  TableOptions options_ CELLAR_GUARDED_BY(history_mutex_);
  std::optional<SecondTable> second_ CELLAR_GUARDED_BY(history_mutex_);
  std::vector<std::unique_ptr<const FamilyList>> history_ CELLAR_GUARDED_BY(history_mutex_);
  std::atomic<bool> dropped_{false};
  std::atomic<const ObserverList*> observers_{nullptr};  // owned by Observers
};

}  // namespace cellar
