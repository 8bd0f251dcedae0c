// WatchedFiles: wrappers that forward every call and tell a watch.
#include "base/watched_files.h"

#include <span>
#include <utility>
#include <vector>

#include "base/assert.h"

namespace cellar {
namespace {

class WatchedReadable final : public ReadableFile {
 public:
  WatchedReadable(std::unique_ptr<ReadableFile> file, int kind, std::shared_ptr<FileWatch> watch)
      : file_(std::move(file)), kind_(kind), watch_(std::move(watch)) {
    CELLAR_ASSERT(file_ != nullptr && watch_ != nullptr);
  }

  uint64_t size() const override { return file_->size(); }
  Result<uint64_t> present_size() const override { return file_->present_size(); }
  Status read(uint64_t offset, size_t bytes, char* into) const override {
    CELLAR_TRY(file_->read(offset, bytes, into));
    watch_->read(kind_, bytes);
    return {};
  }
  Status read_many(std::span<const ReadRequest> requests) const override {
    CELLAR_TRY(file_->read_many(requests));
    uint64_t bytes = 0;
    for (const ReadRequest& each : requests) bytes += each.bytes;
    watch_->read(kind_, bytes);
    return {};
  }
  Result<uint64_t> next_data(uint64_t offset, uint64_t& end) const override {
    return file_->next_data(offset, end);
  }
  void will_need(uint64_t offset, uint64_t bytes) const override { file_->will_need(offset, bytes); }
  // The watch does not hear of reads in the mapping.
  Result<std::shared_ptr<const char>> map() const override { return file_->map(); }

 private:
  const std::unique_ptr<ReadableFile> file_;
  const int kind_;
  const std::shared_ptr<FileWatch> watch_;
};

class WatchedWritable final : public WritableFile {
 public:
  WatchedWritable(std::unique_ptr<WritableFile> file, int kind, std::shared_ptr<FileWatch> watch)
      : file_(std::move(file)), kind_(kind), watch_(std::move(watch)) {
    CELLAR_ASSERT(file_ != nullptr && watch_ != nullptr);
  }

  Status append(std::string_view bytes) override {
    CELLAR_TRY(file_->append(bytes));
    watch_->wrote(kind_, bytes.size());
    return {};
  }
  Status make_ready(uint64_t until) override { return file_->make_ready(until); }
  Status sync() override { return watch_->sync(kind_, *file_); }
  uint64_t size() const override { return file_->size(); }
  Status close() override { return file_->close(); }

 private:
  const std::unique_ptr<WritableFile> file_;
  const int kind_;
  const std::shared_ptr<FileWatch> watch_;
};

class WatchedDirectory final : public Directory {
 public:
  WatchedDirectory(std::unique_ptr<Directory> directory, std::shared_ptr<FileWatch> watch)
      : directory_(std::move(directory)), watch_(std::move(watch)) {
    CELLAR_ASSERT(directory_ != nullptr && watch_ != nullptr);
  }

  Result<std::unique_ptr<WritableFile>> create(std::string_view name, uint64_t mapped_bytes) override {
    CELLAR_TRY_ASSIGN(std::unique_ptr<WritableFile> file, directory_->create(name, mapped_bytes));
    return std::unique_ptr<WritableFile>(
        std::make_unique<WatchedWritable>(std::move(file), watch_->kind_of(name), watch_));
  }
  Result<std::unique_ptr<WritableFile>> create_shared(std::string_view name) override {
    CELLAR_TRY_ASSIGN(std::unique_ptr<WritableFile> file, directory_->create_shared(name));
    return std::unique_ptr<WritableFile>(
        std::make_unique<WatchedWritable>(std::move(file), watch_->kind_of(name), watch_));
  }
  Result<std::unique_ptr<ReadableFile>> open(std::string_view name) override {
    CELLAR_TRY_ASSIGN(std::unique_ptr<ReadableFile> file, directory_->open(name));
    return std::unique_ptr<ReadableFile>(
        std::make_unique<WatchedReadable>(std::move(file), watch_->kind_of(name), watch_));
  }
  Result<std::vector<DirectoryEntry>> list() override { return directory_->list(); }
  Status rename(std::string_view from, std::string_view to) override { return directory_->rename(from, to); }
  Status unlink(std::string_view name) override { return directory_->unlink(name); }
  // The target may have another watch, or none.
  Status link(std::string_view name, Directory& target, std::string_view target_name) override {
    auto* const watched = dynamic_cast<WatchedDirectory*>(&target);
    return directory_->link(name, watched != nullptr ? *watched->directory_ : target, target_name);
  }
  Status sync_file(std::string_view name) override { return directory_->sync_file(name); }
  Result<std::unique_ptr<Directory>> directory(std::string_view name, bool create) override {
    CELLAR_TRY_ASSIGN(std::unique_ptr<Directory> found, directory_->directory(name, create));
    return std::unique_ptr<Directory>(std::make_unique<WatchedDirectory>(std::move(found), watch_));
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
  const std::shared_ptr<FileWatch> watch_;
};

}  // namespace

Result<std::unique_ptr<Directory>> WatchedFiles::open_directory(const std::string& path, bool create) {
  CELLAR_TRY_ASSIGN(std::unique_ptr<Directory> directory, files_.open_directory(path, create));
  return std::unique_ptr<Directory>(std::make_unique<WatchedDirectory>(std::move(directory), watch_));
}

Result<std::unique_ptr<ReadableFile>> WatchedFiles::open_file(const std::string& path) {
  CELLAR_TRY_ASSIGN(std::unique_ptr<ReadableFile> file, files_.open_file(path));
  return std::unique_ptr<ReadableFile>(std::make_unique<WatchedReadable>(
      std::move(file), watch_->kind_of(path.substr(path.rfind('/') + 1)), watch_));
}

}  // namespace cellar
