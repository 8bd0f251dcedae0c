// MeteredFiles: wrappers that forward every call and count.
#include "engine/store/metered_files.h"

#include <span>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "engine/log/directory.h"

namespace cellar {
namespace {

class MeteredReadable final : public ReadableFile {
 public:
  MeteredReadable(std::unique_ptr<ReadableFile> file, FileClass kind, std::shared_ptr<FileMeter> meter)
      : file_(std::move(file)), kind_(kind), meter_(std::move(meter)) {
    CELLAR_ASSERT(file_ != nullptr && meter_ != nullptr);
  }

  uint64_t size() const override { return file_->size(); }
  Status read(uint64_t offset, size_t bytes, char* into) const override {
    CELLAR_TRY(file_->read(offset, bytes, into));
    meter_->read(kind_, bytes);
    return {};
  }
  Status read_many(std::span<const ReadRequest> requests) const override {
    CELLAR_TRY(file_->read_many(requests));
    uint64_t bytes = 0;
    for (const ReadRequest& each : requests) bytes += each.bytes;
    meter_->read(kind_, bytes);
    return {};
  }
  Result<uint64_t> next_data(uint64_t offset, uint64_t& end) const override {
    return file_->next_data(offset, end);
  }
  void will_need(uint64_t offset, uint64_t bytes) const override { file_->will_need(offset, bytes); }

 private:
  const std::unique_ptr<ReadableFile> file_;
  const FileClass kind_;
  const std::shared_ptr<FileMeter> meter_;
};

class MeteredWritable final : public WritableFile {
 public:
  MeteredWritable(std::unique_ptr<WritableFile> file, FileClass kind, std::shared_ptr<FileMeter> meter)
      : file_(std::move(file)), kind_(kind), meter_(std::move(meter)) {
    CELLAR_ASSERT(file_ != nullptr && meter_ != nullptr);
  }

  Status append(std::string_view bytes) override {
    CELLAR_TRY(file_->append(bytes));
    meter_->wrote(kind_, bytes.size());
    return {};
  }
  Status sync() override {
    if (kind_ != FileClass::kLog) return file_->sync();
    const Stopwatch::Start start = meter_->operations().start();
    Status status = file_->sync();
    meter_->operations().note_since(Metered::kLogSync, start);
    return status;
  }
  uint64_t size() const override { return file_->size(); }
  Status close() override { return file_->close(); }

 private:
  const std::unique_ptr<WritableFile> file_;
  const FileClass kind_;
  const std::shared_ptr<FileMeter> meter_;
};

class MeteredDirectory final : public Directory {
 public:
  MeteredDirectory(std::unique_ptr<Directory> directory, std::shared_ptr<FileMeter> meter)
      : directory_(std::move(directory)), meter_(std::move(meter)) {
    CELLAR_ASSERT(directory_ != nullptr && meter_ != nullptr);
  }

  Result<std::unique_ptr<WritableFile>> create(std::string_view name, uint64_t mapped_bytes) override {
    CELLAR_TRY_ASSIGN(std::unique_ptr<WritableFile> file, directory_->create(name, mapped_bytes));
    return std::unique_ptr<WritableFile>(
        std::make_unique<MeteredWritable>(std::move(file), file_class(name), meter_));
  }
  Result<std::unique_ptr<WritableFile>> create_shared(std::string_view name) override {
    CELLAR_TRY_ASSIGN(std::unique_ptr<WritableFile> file, directory_->create_shared(name));
    return std::unique_ptr<WritableFile>(
        std::make_unique<MeteredWritable>(std::move(file), file_class(name), meter_));
  }
  Result<std::unique_ptr<ReadableFile>> open(std::string_view name) override {
    CELLAR_TRY_ASSIGN(std::unique_ptr<ReadableFile> file, directory_->open(name));
    return std::unique_ptr<ReadableFile>(
        std::make_unique<MeteredReadable>(std::move(file), file_class(name), meter_));
  }
  Result<std::vector<DirectoryEntry>> list() override { return directory_->list(); }
  Status rename(std::string_view from, std::string_view to) override { return directory_->rename(from, to); }
  Status unlink(std::string_view name) override { return directory_->unlink(name); }
  // The target may have been opened by another engine, or without a meter.
  Status link(std::string_view name, Directory& target, std::string_view target_name) override {
    auto* const metered = dynamic_cast<MeteredDirectory*>(&target);
    return directory_->link(name, metered != nullptr ? *metered->directory_ : target, target_name);
  }
  Status sync_file(std::string_view name) override { return directory_->sync_file(name); }
  Result<std::unique_ptr<Directory>> directory(std::string_view name, bool create) override {
    CELLAR_TRY_ASSIGN(std::unique_ptr<Directory> found, directory_->directory(name, create));
    return std::unique_ptr<Directory>(std::make_unique<MeteredDirectory>(std::move(found), meter_));
  }
  Status remove_directory(std::string_view name) override { return directory_->remove_directory(name); }
  Status sync() override { return directory_->sync(); }
  Result<std::unique_ptr<FileLock>> lock(std::string_view name) override { return directory_->lock(name); }
  Result<std::unique_ptr<FileLock>> lock_shared(std::string_view name) override {
    return directory_->lock_shared(name);
  }
  Result<uint64_t> free_bytes() override { return directory_->free_bytes(); }
  std::string path() const override { return directory_->path(); }

 private:
  const std::unique_ptr<Directory> directory_;
  const std::shared_ptr<FileMeter> meter_;
};

}  // namespace

FileClass file_class(std::string_view name) {
  CELLAR_ASSERT(!name.empty());  // or the file could not have been opened
  if (is_store_file_name(name)) return FileClass::kStoreFile;
  uint64_t number = 0;
  if (parse_segment_name(name, number) || is_segment_copy_name(name)) return FileClass::kLog;
  if (name == kCurrentName || name == kCurrentTempName || parse_manifest_name(name, number))
    return FileClass::kManifest;
  return FileClass::kOther;
}

std::map<std::string, uint64_t> FileMeter::map_of(const Figures& figures) {
  constexpr std::array<std::string_view, kFileClasses> kNames = {"log", "manifest", "other", "store_files"};
  std::map<std::string, uint64_t> bytes;
  for (size_t i = 0; i < kFileClasses; ++i)
    bytes.emplace(kNames[i], figures[i].load(std::memory_order_relaxed));
  CELLAR_ASSERT(bytes.size() == kFileClasses);
  return bytes;
}

Result<std::unique_ptr<Directory>> MeteredFiles::open_directory(const std::string& path, bool create) {
  CELLAR_TRY_ASSIGN(std::unique_ptr<Directory> directory, files_.open_directory(path, create));
  return std::unique_ptr<Directory>(std::make_unique<MeteredDirectory>(std::move(directory), meter_));
}

Result<std::unique_ptr<ReadableFile>> MeteredFiles::open_file(const std::string& path) {
  CELLAR_TRY_ASSIGN(std::unique_ptr<ReadableFile> file, files_.open_file(path));
  return std::unique_ptr<ReadableFile>(std::make_unique<MeteredReadable>(
      std::move(file), file_class(path.substr(path.rfind('/') + 1)), meter_));
}

}  // namespace cellar
