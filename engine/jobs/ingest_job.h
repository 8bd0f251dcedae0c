// IngestJob: the recipe of an ingest. Foreign HFiles become store files in a single write, all or none.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cellar/ingest.h"
#include "engine/jobs/store_work.h"
#include "engine/store/table_state.h"

namespace cellar {

class Background;
class WritePath;

// Place and verify, without hindering anybody; flush; then alone: number, publish, install. Used once.
class IngestJob {
 public:
  IngestJob(const StoreWork& work, WritePath& write_path, Background& background, TableState& table,
            const IngestRequest& request)
      : work_(work), write_path_(write_path), background_(background), table_(table), request_(request) {}

  Result<IngestInfo> run();

 private:
  // A file under its new name in the family's directory, not yet named by the manifest.
  struct Placed {
    std::shared_ptr<Store> store;
    std::shared_ptr<Directory> directory;  // the store's
    FileRecord record;
    bool created = false;             // by this ingest, so that it may be removed
    std::optional<int64_t> sequence;  // of its region, if the file says it
    int64_t bulk_load_ms = 0;
    IngestFile told;
  };

  Status check_request() const;
  Status take_in();
  Status place(const IngestFile& file, Placed& placed);
  Status link(Directory& from, const std::string& name, Placed& placed);
  Status examine(const IngestFile& file, Placed& placed);
  Status sync_directories(uint64_t failures);
  void order_by_age();
  Status find_ties();
  Status flush_ahead();
  Status publish();
  Status commit(std::map<Store*, std::vector<std::shared_ptr<StoreFile>>>& opened);
  void remove_placed();
  static void remove(Placed& placed);
  void remove_sources();
  Result<Directory*> directory_of(const std::string& path);

  const StoreWork work_;
  WritePath& write_path_;
  Background& background_;
  TableState& table_;
  const IngestRequest& request_;
  std::vector<Placed> placed_;
  std::vector<std::shared_ptr<Store>> stores_;  // each that gets a file, once
  std::map<std::string, std::unique_ptr<Directory>> sources_;
  IngestInfo info_;
};

}  // namespace cellar
