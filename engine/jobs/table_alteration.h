// TableAlteration: the recipe that adds, changes and removes families and sets a table's options, atomically.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/jobs/store_work.h"
#include "engine/store/table_state.h"

namespace cellar {

class Background;

// Used once, inside WritePath::alone(). A removed family is treated like a family of a dropped table. Its id
// is never used again. Jobs that still run on the family, and its records in the log, are therefore without
// effect.
class TableAlteration {
 public:
  TableAlteration(const StoreWork& work, Background& background, TableState& table, const TableChange& change)
      : work_(work), background_(background), table_(table), change_(change) {}

  // Durable when it returns ok; nothing has changed otherwise, unless the engine has become read-only.
  Status run();

 private:
  // A known family and its options to be.
  struct Changed {
    Store* store = nullptr;
    std::shared_ptr<const FamilyConfig> config;
  };

  // Everything that is wrong with the change.
  Status check() const;
  TableOptions options_to_be() const;
  Status prepare_families(ManifestEdit& edit);
  void change(Changed& each);
  void install();

  const StoreWork work_;
  Background& background_;
  TableState& table_;
  const TableChange& change_;
  std::vector<Changed> changed_;
  std::vector<std::shared_ptr<Store>> added_;
  std::vector<std::shared_ptr<Store>> removed_;
};

}  // namespace cellar
