// ResumeJob: takes up writing again after a failure, without opening the store anew.
#pragma once

#include <memory>
#include <vector>

#include "engine/jobs/store_work.h"
#include "engine/store/catalog.h"

namespace cellar {

class Background;
class WritePath;

// Memory holds the truth: every acknowledged write is there or in files. The manifest therefore begins a new
// generation with the state before the failure. All content of memory is written to files, and the log begins
// anew. A write whose durability was unknown is gone afterwards. Use once, inside WritePath::alone().
class ResumeJob {
 public:
  ResumeJob(const StoreWork& work, const Catalog& catalog, WritePath& write_path, Background& background)
      : work_(work), catalog_(catalog), write_path_(write_path), background_(background) {}

  // On failure everything stays as it was, and a later try is a new one.
  Status run();

 private:
  struct Written {
    std::shared_ptr<Store> store;
    std::shared_ptr<const StoreView> view;  // its frozen memtables are in the file
    NewFiles made;
  };

  Status renew_log();
  Status write_memory();
  Status rewrite_unsynced();
  Status find_ends(std::vector<LogSegment>& ends);
  Status publish();
  void install();
  void remove_written();

  const StoreWork work_;
  const Catalog& catalog_;
  WritePath& write_path_;
  Background& background_;
  std::vector<Written> written_;
};

}  // namespace cellar
