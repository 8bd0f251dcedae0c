// FileHandles: a list in order of use; who opens one too many closes the one used longest ago.
#include "engine/store/file_handles.h"

#include <utility>

#include "base/assert.h"

namespace cellar {

// A ReadableFile whose handle comes and goes.
class PooledFile final : public ReadableFile {
 public:
  PooledFile(FileHandles& handles, std::shared_ptr<Directory> directory, std::string name, uint64_t size)
      : handles_(handles), directory_(std::move(directory)), name_(std::move(name)), size_(size) {}
  ~PooledFile() override { handles_.forget(slot_); }

  uint64_t size() const override { return size_; }

  Status read(uint64_t offset, size_t bytes, char* into) const override {
    CELLAR_TRY_ASSIGN(const std::shared_ptr<const ReadableFile> file,
                      handles_.acquire(slot_, *directory_, name_));
    return file->read(offset, bytes, into);
  }

  Status read_many(std::span<const ReadRequest> requests) const override {
    CELLAR_TRY_ASSIGN(const std::shared_ptr<const ReadableFile> file,
                      handles_.acquire(slot_, *directory_, name_));
    return file->read_many(requests);
  }

  void will_need(uint64_t offset, uint64_t bytes) const override {
    const auto file = handles_.acquire(slot_, *directory_, name_);
    if (file.ok()) (*file)->will_need(offset, bytes);
  }

  // The mapping outlives the handle.
  Result<std::shared_ptr<const char>> map() const override {
    CELLAR_TRY_ASSIGN(const std::shared_ptr<const ReadableFile> file,
                      handles_.acquire(slot_, *directory_, name_));
    if (file->size() != size_) return Status::corruption("the file has another size than before").at(name_);
    return file->map();
  }

  FileHandles::Slot& slot() { return slot_; }

 private:
  FileHandles& handles_;
  const std::shared_ptr<Directory> directory_;
  const std::string name_;
  const uint64_t size_;
  mutable FileHandles::Slot slot_;
};

Result<std::unique_ptr<ReadableFile>> FileHandles::open(std::shared_ptr<Directory> directory,
                                                        std::string name) {
  CELLAR_TRY_ASSIGN(std::unique_ptr<ReadableFile> opened, directory->open(name));
  auto file = std::make_unique<PooledFile>(*this, std::move(directory), std::move(name), opened->size());
  install(file->slot(), std::move(opened));
  return std::unique_ptr<ReadableFile>(std::move(file));
}

Result<std::shared_ptr<const ReadableFile>> FileHandles::acquire(Slot& slot, Directory& directory,
                                                                 const std::string& name) {
  {
    MutexLock lock(mutex_);
    if (slot.handle != nullptr) {
      CELLAR_ASSERT(*slot.place == &slot);
      open_.splice(open_.begin(), open_, slot.place);
      return slot.handle;
    }
  }
  CELLAR_TRY_ASSIGN(std::unique_ptr<ReadableFile> opened, directory.open(name));
  return install(slot, std::move(opened));
}

std::shared_ptr<const ReadableFile> FileHandles::install(Slot& slot, std::unique_ptr<ReadableFile> opened) {
  CELLAR_ASSERT(opened != nullptr);
  std::shared_ptr<const ReadableFile>
      closed;  // declared first, so let go after the lock: closing is a system call
  MutexLock lock(mutex_);
  if (slot.handle == nullptr) {
    slot.handle = std::move(opened);
    open_.push_front(&slot);
    slot.place = open_.begin();
    if (open_.size() > open_max_) {
      closed = std::move(open_.back()->handle);
      open_.back()->handle = nullptr;
      open_.pop_back();
    }
  }
  CELLAR_ASSERT(open_.size() <= open_max_ && slot.handle != nullptr);
  return slot.handle;
}

void FileHandles::forget(Slot& slot) {
  std::shared_ptr<const ReadableFile> closed;
  MutexLock lock(mutex_);
  if (slot.handle == nullptr) return;
  CELLAR_ASSERT(*slot.place == &slot);
  closed = std::move(slot.handle);
  open_.erase(slot.place);
}

}  // namespace cellar
