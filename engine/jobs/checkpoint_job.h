// CheckpointJob: the recipe of a checkpoint: some tables as of one instant, as a store of its own.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cellar/checkpoint.h"
#include "engine/jobs/store_work.h"
#include "engine/store/catalog.h"

namespace cellar {

class WritePath;

// The source of a checkpoint. Borrows.
struct CheckpointSource {
  const World& world;
  const Disk& disk;
  const Mvcc& mvcc;
  ExpiryClock& expiry;
  StoreFileWriter& writer;
  const Catalog& catalog;
  WritePath& write_path;
};

// OpenCheckpoint: a checkpoint that is read, locked against writers. Without a directory: none.
struct OpenCheckpoint {
  std::unique_ptr<Directory> directory;
  std::unique_ptr<FileLock> lock;
  ManifestState state;
  bool unchanged = false;  // no engine has opened it for writing
};
// Opens the checkpoint in a directory. kNotFound if there is no whole one; kLocked if somebody writes to it.
Result<OpenCheckpoint> open_checkpoint(std::unique_ptr<Directory> directory, Executor& executor);
// The same for the base of another checkpoint of `of`. kInvalidArgument if it is no unchanged copy of it.
Result<OpenCheckpoint> open_base(const World& world, const std::string& path, const Identity& of);

// Look at everything at one instant; link and write without hindering anybody; publish. Used once.
class CheckpointJob {
 public:
  // Copies `tables`, or all tables if the list is empty. If `snapshot` is a name, the copy is that snapshot,
  // and nothing writes to it later. Files that `earlier` has are linked to it if they cannot be linked to the
  // source's.
  CheckpointJob(const CheckpointSource& source, std::vector<std::string> tables, std::string snapshot = {},
                OpenCheckpoint earlier = {})
      : source_(source),
        wanted_(std::move(tables)),
        snapshot_(std::move(snapshot)),
        earlier_(std::move(earlier)) {}

  // Fills `into`, an empty directory. The directory is a store only when this returns ok. Its content is
  // durable then; the name of the directory is not. kNotFound names a table that does not exist.
  Result<CheckpointInfo> run(Directory& into);

 private:
  // A family as it was at the instant.
  struct Part {
    std::shared_ptr<Store> store;
    std::shared_ptr<const StoreView> view;
    std::shared_ptr<Directory> directory;  // of its files; null if it has none
  };

  Status look();
  Status look_at(const TableState& table, const ManifestState& all);
  Status fill(Directory& into, const TableRecord& table, FamilyRecord& family);
  Status share(Directory& into, const Part& part, FamilyRecord& family);
  Result<bool> share_file(Directory& into, const Part& part, const StoreFile& file);
  Result<bool> link_earlier(Directory& into, const Part& part, const StoreFile& file);

  const CheckpointSource source_;
  const std::vector<std::string> wanted_;
  const std::string snapshot_;
  const OpenCheckpoint earlier_;
  ManifestState state_;
  std::vector<Part> parts_;
  CheckpointInfo info_;
  CheckpointInfo progress_;
};

// Returns the description of a checkpoint by its manifest.
CheckpointInfo describe_checkpoint(const ManifestState& state, std::string path);

}  // namespace cellar
