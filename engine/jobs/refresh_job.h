// RefreshJob: the recipe by which a reader catches up with the process that writes the store.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "engine/jobs/held_store.h"
#include "engine/jobs/store_work.h"
#include "engine/log/wal_reader.h"
#include "engine/store/catalog.h"

namespace cellar {

class Background;
class WritePath;

// Makes a store that was opened read-only show its state as of a moment during the call. Reads what is new
// since the last time: edits of the manifest, files, and the end of the log. Where that is not enough, it
// reads the manifest and the log whole, and keeps only files that are open. EngineCounters counts both kinds.
//
// Reads may go on meanwhile. One thread at a time. Errors: as of opening the store; kConflict if another
// store has taken its place. Then nothing has changed.
Status refresh_store(const StoreWork& work, Catalog& catalog, WritePath& write_path, Background& background);

// RefreshJob: one attempt. It looks at everything, then shows it. Used once.
class RefreshJob {
 public:
  RefreshJob(const StoreWork& work, Catalog& catalog, Background& background)
      : work_(work), catalog_(catalog), background_(background) {}

  // Reads what is new, and changes nothing that others see. Reads all of the log if `whole` is true, or if
  // that is needed. An attempt at a store that moves fails as a damaged store does: see open_live_store().
  Status look(bool whole);
  // Shows what look() has found. Inside WritePath::alone().
  void install();
  // Returns why look() has read the log whole; empty if it has not.
  std::string_view read_whole_because() const { return why_; }

 private:
  // A family of the store that was found.
  struct Family {
    std::shared_ptr<Store> store;
    bool is_new = false;         // nobody knows of the store yet
    bool changed = false;        // `found` is to be installed
    bool new_files = false;      // the installation has changed the files
    Memtable* direct = nullptr;  // takes cells at once, since nobody reads it yet; null: cells wait
    Store::Found found;
  };
  // A record with cells for memtables that others read.
  struct Waiting {
    uint64_t sequence = 0;
    uint32_t count = 0;
    std::string payload;
  };

  std::string_view why_whole() const;
  Status look_at_everything();
  Status look_at_tables();
  Status look_at_new(const TableRecord& table, const FamilyRecord& record);
  Status look_at_known(const TableRecord& table, const FamilyRecord& record, const FamilyRecord* before,
                       std::shared_ptr<Store> store);
  Status look_at_content(const TableRecord& table, const FamilyRecord& record, const FamilyRecord& before,
                         Family& family);
  void look_at_memory(Family& family);
  Status read_log();
  Status visit(const LogRecord& record);
  void insert_waiting();
  uint64_t read_point_after(uint64_t shown, const std::vector<uint64_t>& snapshots) const;
  void install_family(Family& family, uint64_t read_point, const std::vector<uint64_t>& snapshots);
  void install_tables(uint64_t read_point, const std::vector<uint64_t>& snapshots);
  void install_families(TableState& table, const TableRecord& record, uint64_t read_point,
                        const std::vector<uint64_t>& snapshots);
  std::vector<std::shared_ptr<Store>> stores_of(const TableRecord& record) const;
  void drop_table(TableState& table);
  void drop(Store& store);
  void note_log();

  const StoreWork work_;
  Catalog& catalog_;
  Background& background_;
  std::string_view why_;  // the log is read whole; empty: it is not
  std::shared_ptr<const ManifestState> before_;
  std::shared_ptr<const ManifestState> state_;
  ManifestNews news_;
  std::unordered_map<uint32_t, Family> families_;  // by id
  std::vector<Waiting> waiting_;
  HeldStore held_;
  LogSummary summary_;
  uint64_t last_sequence_ = 0;
  bool overtaken_ = false;  // a new record has a sequence that this reader has shown already
};

}  // namespace cellar
