// StoreFiles: opens store files through the cache and a bounded number of handles, and removes old ones.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

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

  // Opens a store file that the manifest names, or is about to name. `handle` is the file if open_handle()
  // has opened it before, or null.
  Result<std::shared_ptr<StoreFile>> open(const std::shared_ptr<Directory>& directory, uint32_t table_id,
                                          const FamilyOptions& family, const FileRecord& record,
                                          std::unique_ptr<ReadableFile> handle = nullptr);
  // Opens a file of the store's directories as it is, through the bounded handles.
  Result<std::unique_ptr<ReadableFile>> open_handle(std::shared_ptr<Directory> directory, std::string name) {
    return handles_.open(std::move(directory), std::move(name));
  }
  // Returns the largest decompressed block that a store file may have.
  uint64_t block_payload_bytes_max() const;

  // Commits an edit that also tells the manifest which obsolete files were removed.
  Status commit(ManifestEdit& edit);
  // Removes a file that nothing uses, in the background. If the engine has failed, it stays until resume().
  void remove(std::shared_ptr<Directory> directory, StoredFile file) {
    remover_.remove(std::move(directory), std::move(file));
  }
  // A table was dropped, durably. Its directories are removed with their last files.
  void remove_table(uint32_t table_id) { remover_.remove_table(table_id); }
  // The engine takes writes again, so that files may be removed.
  void resume() { remover_.resume(); }
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
