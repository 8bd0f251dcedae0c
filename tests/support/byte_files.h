// StringFile, ViewFile and CountingFile: files in memory, without a file system around them.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/copied_mapping.h"
#include "cellar/file_system.h"

namespace cellar::testing {

// A file in a string. Its appends fail with kIoError once more than `bytes_max` bytes would stand in it.
class StringFile final : public WritableFile {
 public:
  explicit StringFile(uint64_t bytes_max = UINT64_MAX) : bytes_max_(bytes_max) {}
  Status append(std::string_view bytes) override {
    if (bytes_.size() + bytes.size() > bytes_max_) return Status::io_error("the test's disk is broken");
    bytes_.append(bytes);
    return {};
  }
  Status sync() override { return {}; }
  uint64_t size() const override { return bytes_.size(); }
  Status close() override { return {}; }

  const std::string& bytes() const { return bytes_; }

 private:
  const uint64_t bytes_max_;
  std::string bytes_;
};

// A readable file over bytes that outlive it.
class ViewFile final : public ReadableFile {
 public:
  explicit ViewFile(std::string_view bytes) : bytes_(bytes) {}
  uint64_t size() const override { return bytes_.size(); }
  Status read(uint64_t offset, size_t bytes, char* into) const override {
    if (offset > bytes_.size() || bytes > bytes_.size() - offset) return Status::corruption("short read");
    std::copy_n(bytes_.data() + offset, bytes, into);
    return {};
  }
  Result<std::shared_ptr<const char>> map() const override { return copied_mapping(*this); }

 private:
  std::string_view bytes_;
};

// A readable file over bytes of its own that counts its reads. Any thread.
class CountingFile final : public ReadableFile {
 public:
  CountingFile(std::string bytes, std::shared_ptr<std::atomic<uint64_t>> reads)
      : bytes_(std::move(bytes)), reads_(std::move(reads)) {}
  uint64_t size() const override { return bytes_.size(); }
  Status read(uint64_t offset, size_t bytes, char* into) const override {
    *reads_ += 1;
    return ViewFile(bytes_).read(offset, bytes, into);
  }

 private:
  std::string bytes_;
  std::shared_ptr<std::atomic<uint64_t>> reads_;
};

}  // namespace cellar::testing
