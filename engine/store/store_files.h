// StoreFiles: opens store files through the cache and a bounded number of handles, and removes old ones.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "cache/block_cache.h"
#include "engine/manifest/manifest.h"
#include "engine/store/disk.h"
#include "engine/store/file_handles.h"
#include "engine/store/file_remover.h"
#include "engine/store/store_file.h"
#include "engine/store/world.h"

namespace cellar {

// Any thread. Outlives the files that it opens.
class StoreFiles {
 public:
  // Borrows world and disk.
  StoreFiles(const World& world, Disk& disk, std::shared_ptr<BlockCache> cache);

  // Opens a store file that the manifest names, or is about to name.
  Result<std::shared_ptr<StoreFile>> open(const std::shared_ptr<Directory>& directory, uint32_t table_id,
                                          const FamilyOptions& family, const FileRecord& record);
  // Opens a file of the store's directories as it is, through the bounded handles.
  Result<std::unique_ptr<ReadableFile>> open_handle(std::shared_ptr<Directory> directory, std::string name) {
    return handles_.open(std::move(directory), std::move(name));
  }
  // Returns the largest decompressed block that a store file may have.
  uint64_t block_payload_bytes_max() const;

  // Discards a new file that no edit of the manifest has named. The file stays if the engine has failed: the
  // failed edit may name it.
  void discard(StoreFile& file) const;
  // Returns the files that were removed since the last call. The manifest need not remember them any longer.
  std::vector<StoredFile> take_removed() { return remover_.take_removed(); }
  // Returns when no removal is under way.
  void wait_for_removals() { remover_.wait(); }

  const BlockCache& cache() const { return *cache_; }
  // Ends the trace of the cache, if there is one. Returns the first error of its file.
  Status finish_trace() { return cache_->finish_trace(); }

 private:
  const World& world_;
  Disk& disk_;
  FileHandles handles_;
  FileRemover remover_;
  const std::shared_ptr<BlockCache> cache_;
};

}  // namespace cellar
