// NamedSnapshotFiles: the checkpoints that lie inside a store.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cellar/checkpoint.h"
#include "engine/jobs/checkpoint_job.h"
#include "engine/store/disk.h"
#include "engine/store/world.h"

namespace cellar {

// A snapshot is there once its CURRENT is; what has none is left over from a crash. Any thread; who makes,
// reads or drops one holds its lock.
class NamedSnapshotFiles {
 public:
  NamedSnapshotFiles(const World& world, Disk& disk) : world_(world), disk_(disk) {}

  // kInvalidArgument: the name is invalid or in use.
  Result<CheckpointInfo> create(const CheckpointSource& source, const std::string& name,
                                const std::vector<std::string>& tables);
  // In order of their names.
  Result<std::vector<CheckpointInfo>> list() const;
  // kLocked while somebody has it open.
  Status drop(const std::string& name);

  // Opens a snapshot. It cannot be dropped while the result lives. kNotFound has the nearest name as hint.
  Result<OpenCheckpoint> open(const std::string& name) const;
  std::string path_of(const std::string& name) const;

  // Removes what crashes have left.
  void sweep();

 private:
  Result<std::unique_ptr<Directory>> snapshots(bool create) const;
  Status fill(const CheckpointSource& source, Directory& snapshots, const std::string& name,
              const std::vector<std::string>& tables, CheckpointInfo& info);
  Status unknown(const std::string& name) const;

  const World& world_;
  Disk& disk_;
};

}  // namespace cellar
