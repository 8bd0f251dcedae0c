// SharedFile: a file that several owners read.
#pragma once

#include <memory>
#include <utility>

#include "cellar/file_system.h"

namespace cellar {

class SharedFile final : public ReadableFile {
 public:
  explicit SharedFile(std::shared_ptr<const ReadableFile> file) : file_(std::move(file)) {}
  uint64_t size() const override { return file_->size(); }
  Status read(uint64_t offset, size_t bytes, char* into) const override {
    return file_->read(offset, bytes, into);
  }
  void will_need(uint64_t offset, uint64_t bytes) const override { file_->will_need(offset, bytes); }

 private:
  std::shared_ptr<const ReadableFile> file_;
};

}  // namespace cellar
