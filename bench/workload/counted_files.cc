// CountedFiles: wrappers that forward every call and add up bytes.
#include "bench/workload/counted_files.h"

#include <utility>

namespace cellar::bench {
namespace {

using Counts = CountedFiles::Counts;

class CountedReadable : public ReadableFile {
 public:
  CountedReadable(std::unique_ptr<ReadableFile> file, Counts& counts)
      : file_(std::move(file)), counts_(counts) {}

  uint64_t size() const override { return file_->size(); }
  Status read(uint64_t offset, size_t bytes, char* into) const override {
    CELLAR_TRY(file_->read(offset, bytes, into));
    counts_.read.fetch_add(bytes, std::memory_order_relaxed);
    return {};
  }
  Status read_many(std::span<const ReadRequest> requests) const override {
    CELLAR_TRY(file_->read_many(requests));
    for (const ReadRequest& each : requests) counts_.read.fetch_add(each.bytes, std::memory_order_relaxed);
    return {};
  }
  Result<uint64_t> next_data(uint64_t offset, uint64_t& end) const override {
    return file_->next_data(offset, end);
  }
  void will_need(uint64_t offset, uint64_t bytes) const override { file_->will_need(offset, bytes); }

 private:
  const std::unique_ptr<ReadableFile> file_;
  Counts& counts_;
};

class CountedWritable : public WritableFile {
 public:
  CountedWritable(std::unique_ptr<WritableFile> file, Counts& counts)
      : file_(std::move(file)), counts_(counts) {}

  Status append(std::string_view bytes) override {
    CELLAR_TRY(file_->append(bytes));
    counts_.written.fetch_add(bytes.size(), std::memory_order_relaxed);
    return {};
  }
  Status sync() override { return file_->sync(); }
  uint64_t size() const override { return file_->size(); }
  Status close() override { return file_->close(); }

 private:
  const std::unique_ptr<WritableFile> file_;
  Counts& counts_;
};

class CountedDirectory : public Directory {
 public:
  CountedDirectory(std::unique_ptr<Directory> directory, Counts& counts)
      : directory_(std::move(directory)), counts_(counts) {}

  Result<std::unique_ptr<WritableFile>> create(std::string_view name, uint64_t mapped_bytes) override {
    CELLAR_TRY_ASSIGN(std::unique_ptr<WritableFile> file, directory_->create(name, mapped_bytes));
    return std::unique_ptr<WritableFile>(std::make_unique<CountedWritable>(std::move(file), counts_));
  }
  Result<std::unique_ptr<ReadableFile>> open(std::string_view name) override {
    CELLAR_TRY_ASSIGN(std::unique_ptr<ReadableFile> file, directory_->open(name));
    return std::unique_ptr<ReadableFile>(std::make_unique<CountedReadable>(std::move(file), counts_));
  }
  Result<std::vector<DirectoryEntry>> list() override { return directory_->list(); }
  Status rename(std::string_view from, std::string_view to) override { return directory_->rename(from, to); }
  Status unlink(std::string_view name) override { return directory_->unlink(name); }
  // The target is of the same file system, therefore one of these.
  Status link(std::string_view name, Directory& target, std::string_view target_name) override {
    return directory_->link(name, *dynamic_cast<CountedDirectory&>(target).directory_, target_name);
  }
  Status sync_file(std::string_view name) override { return directory_->sync_file(name); }
  Result<std::unique_ptr<Directory>> directory(std::string_view name, bool create) override {
    CELLAR_TRY_ASSIGN(std::unique_ptr<Directory> found, directory_->directory(name, create));
    return std::unique_ptr<Directory>(std::make_unique<CountedDirectory>(std::move(found), counts_));
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
  Counts& counts_;
};

}  // namespace

Result<std::unique_ptr<Directory>> CountedFiles::open_directory(const std::string& path, bool create) {
  CELLAR_TRY_ASSIGN(std::unique_ptr<Directory> directory, files_.open_directory(path, create));
  return std::unique_ptr<Directory>(std::make_unique<CountedDirectory>(std::move(directory), counts_));
}

Result<std::unique_ptr<ReadableFile>> CountedFiles::open_file(const std::string& path) {
  CELLAR_TRY_ASSIGN(std::unique_ptr<ReadableFile> file, files_.open_file(path));
  return std::unique_ptr<ReadableFile>(std::make_unique<CountedReadable>(std::move(file), counts_));
}

}  // namespace cellar::bench
