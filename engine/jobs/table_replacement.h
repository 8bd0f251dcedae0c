// TableReplacement: the recipe by which tables get another content at one instant: restore, clone, truncate.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/jobs/store_work.h"
#include "engine/store/catalog.h"

namespace cellar {

class Background;

// Used once, inside WritePath::alone(). Each table gets new families with new ids. The old families are
// treated like families of a dropped table. Jobs that still run on them, and their records in the log, are
// therefore without effect.
class TableReplacement {
 public:
  // `content`: tables that are to be as described there, all of them or none; those that are not there are
  // created. The ids in it say where in `source` their files lie, which are not changed; null: there are
  // none. `up_to`: no cell of theirs has a greater sequence.
  TableReplacement(const StoreWork& work, Catalog& catalog, Background& background,
                   std::vector<TableRecord> content, Directory* source, uint64_t up_to)
      : work_(work),
        catalog_(catalog),
        background_(background),
        content_(std::move(content)),
        source_(source),
        up_to_(up_to) {}

  // Durable when it returns ok; nothing has changed otherwise, unless the engine has become read-only.
  Status run();

 private:
  // A table on its way in.
  struct Coming {
    std::shared_ptr<TableState> known;  // null: it is created
    TableRecord record;                 // with its ids here
    std::vector<std::shared_ptr<Store>> stores;
  };

  Status prepare(const TableRecord& content);
  Status place(const TableRecord& content, const FamilyRecord& from, uint32_t table_id, FamilyRecord& family);
  Status commit();
  void install();
  void remove_placed();

  const StoreWork work_;
  Catalog& catalog_;
  Background& background_;
  const std::vector<TableRecord> content_;
  Directory* const source_;
  const uint64_t up_to_;
  uint64_t sequence_ = 0;
  ManifestEdit edit_;
  std::vector<Coming> coming_;
  std::vector<std::pair<std::shared_ptr<Directory>, StoredFile>> placed_;
};

}  // namespace cellar
