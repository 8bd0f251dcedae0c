// Goal: a sparse file of a terabyte is looked at in moments, and with the same result as without holes.
// Method: a file system that says where data lies and counts the bytes that are read.
#include "engine/log/record_file.h"

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <vector>

namespace cellar::testing {
namespace {

// A file of zeros, except for some pieces.
class SparseFile final : public ReadableFile {
 public:
  SparseFile(uint64_t size, std::map<uint64_t, std::string> pieces, uint64_t& bytes_read)
      : size_(size), pieces_(std::move(pieces)), bytes_read_(bytes_read) {}

  uint64_t size() const override { return size_; }
  Status read(uint64_t offset, size_t bytes, char* into) const override {
    bytes_read_ += bytes;
    std::memset(into, 0, bytes);
    for (const auto& [at, piece] : pieces_) {
      for (size_t i = 0; i < piece.size(); ++i)
        if (at + i >= offset && at + i < offset + bytes) into[at + i - offset] = piece[i];
    }
    return {};
  }
  Result<uint64_t> next_data(uint64_t offset, uint64_t& end) const override {
    for (const auto& [at, piece] : pieces_)
      if (end = at + piece.size(); end > offset) return std::max(at, offset);
    return end = size_;
  }

 private:
  const uint64_t size_;
  const std::map<uint64_t, std::string> pieces_;
  uint64_t& bytes_read_;
};

// A directory with one file.
class OneFile final : public Directory {
 public:
  OneFile(uint64_t size, std::map<uint64_t, std::string> pieces) : size_(size), pieces_(std::move(pieces)) {}
  Result<std::unique_ptr<ReadableFile>> open(std::string_view) override {
    return std::unique_ptr<ReadableFile>(std::make_unique<SparseFile>(size_, pieces_, bytes_read));
  }
  Result<std::unique_ptr<WritableFile>> create(std::string_view, uint64_t) override { return no(); }
  Result<std::vector<DirectoryEntry>> list() override { return no(); }
  Status rename(std::string_view, std::string_view) override { return no(); }
  Status unlink(std::string_view) override { return no(); }
  Status link(std::string_view, Directory&, std::string_view) override { return no(); }
  Result<std::unique_ptr<Directory>> directory(std::string_view, bool) override { return no(); }
  Status remove_directory(std::string_view) override { return no(); }
  Status sync() override { return no(); }
  Result<std::unique_ptr<FileLock>> lock(std::string_view) override { return no(); }
  Result<std::unique_ptr<FileLock>> lock_shared(std::string_view) override { return no(); }
  Result<uint64_t> free_bytes() override { return no(); }
  std::string path() const override { return "one"; }

  uint64_t bytes_read = 0;

 private:
  static Status no() { return Status::not_supported("one file to read"); }
  const uint64_t size_;
  const std::map<uint64_t, std::string> pieces_;
};

constexpr uint64_t kTerabyte = uint64_t{1} << 40;

RecordFile open_file(OneFile& directory) {
  return RecordFile::open(directory, "0000000001.log", FileKind::kLog, {1, 2}, 1).value();
}

TEST(RecordFile, TheWrittenEndOfASparseFileIsFoundInItsData) {
  OneFile directory(
      kTerabyte,
      {{0, "header"}, {kTerabyte / 2, std::string("x\0\0y\0\0", 6)}, {kTerabyte - 9, std::string(1, '\0')}});
  RecordFile file = open_file(directory);
  directory.bytes_read = 0;
  EXPECT_EQ(file.written_end(100).value(), kTerabyte / 2 + 4);
  EXPECT_EQ(file.written_end(kTerabyte / 2 + 4).value(), kTerabyte / 2 + 4) << "only zeros follow";
  EXPECT_LT(directory.bytes_read, 1u << 20);
}

TEST(RecordFile, WitnessesBehindAHoleAreFound) {
  const RecordCodec codec(FileKind::kLog, {1, 2}, 1);
  constexpr uint64_t kPlace = kTerabyte / 2;
  const std::string_view payload = "some payload";
  std::string record(record_bytes(payload.size()), '\0');
  RecordHeader header;
  header.lsn = 7;
  uint32_t chain = 0;
  codec.encode(header, payload, kPlace, chain, record.data());
  OneFile directory(kTerabyte, {{0, "header"}, {kPlace - 24, std::string(24, 'x') + record}});
  RecordFile file = open_file(directory);
  directory.bytes_read = 0;
  std::vector<uint64_t> seen;
  ASSERT_TRUE(file.scan(64,
                        [&](const RecordHeader& found) {
                          seen.push_back(found.lsn);
                          return true;
                        })
                  .ok());
  EXPECT_EQ(seen, std::vector<uint64_t>{7});
  EXPECT_LT(directory.bytes_read, 1u << 20);
}

}  // namespace
}  // namespace cellar::testing
