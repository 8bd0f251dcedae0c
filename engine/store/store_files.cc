// StoreFiles: a record of the manifest becomes an open file.
#include "engine/store/store_files.h"

#include <cstdint>
#include <utility>

#include "base/assert.h"
#include "engine/store/recorded_file.h"

namespace cellar {

StoreFiles::StoreFiles(const World& world, Disk& disk, std::shared_ptr<BlockCache> cache)
    : world_(world),
      disk_(disk),
      // Another process may remove the files that a reader uses. An open file stays readable.
      handles_(world.options.read_only ? SIZE_MAX : world.options.open_files_max),
      remover_(world.executor, disk.health, disk.root),
      cache_(std::move(cache)) {
  CELLAR_ASSERT(cache_ != nullptr);
}

Result<std::shared_ptr<StoreFile>> StoreFiles::open(const std::shared_ptr<Directory>& directory,
                                                    uint32_t table_id, const FamilyOptions& family,
                                                    const FileRecord& record,
                                                    std::unique_ptr<ReadableFile> handle) {
  CELLAR_ASSERT(directory != nullptr);
  StoredFile stored{table_id, family.name, record.name, record.bytes};
  HFileReaderOptions options;
  options.cache = cache_;
  options.name = to_text(stored);
  options.in_memory = family.in_memory;
  options.map_file = world_.options.map_files;
  options.block_payload_bytes_max = block_payload_bytes_max();
  auto file = handle != nullptr ? Result<std::unique_ptr<ReadableFile>>(std::move(handle))
                                : handles_.open(directory, record.name);
  CELLAR_TRY_ASSIGN(RecordedFile opened,
                    open_recorded_file(std::move(file), record, disk_.identity, std::move(options)));
  return std::make_shared<StoreFile>(std::move(opened.reader), record, opened.number, directory,
                                     std::move(stored), world_.options.read_only ? nullptr : &remover_);
}

uint64_t StoreFiles::block_payload_bytes_max() const { return store_block_bytes_max(); }

Status StoreFiles::commit(ManifestEdit& edit) {
  CELLAR_ASSERT(edit.forget_obsolete.empty());
  edit.forget_obsolete = remover_.take_removed();
  Status committed = disk_.commit(edit);
  if (!committed.ok()) remover_.give_back(std::move(edit.forget_obsolete));
  return committed;
}

}  // namespace cellar
