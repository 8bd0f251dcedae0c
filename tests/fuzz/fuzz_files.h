// Files for fuzz targets: bytes as a file, and small files of many shapes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cellar/file_system.h"
#include "hfile/hfile_writer.h"

namespace cellar::fuzz {

class BytesFile final : public ReadableFile {
 public:
  explicit BytesFile(std::string_view bytes) : bytes_(bytes) {}  // which outlive it
  uint64_t size() const override { return bytes_.size(); }
  Status read(uint64_t offset, size_t bytes, char* into) const override;

 private:
  std::string_view bytes_;
};

class GrowingFile final : public WritableFile {
 public:
  Status append(std::string_view bytes) override { return bytes_.append(bytes), Status(); }
  Status sync() override { return {}; }
  uint64_t size() const override { return bytes_.size(); }
  Status close() override { return {}; }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

// `cells` cells in few rows, with markers, tags and sequences as the options say.
std::string small_file(const HFileWriterOptions& options, size_t cells);
// Files of every codec and encoding there is, with and without tags and sequences, and some of other shapes.
std::vector<std::string> small_files();

}  // namespace cellar::fuzz
