// HFile: reads one HFile without an engine: its facts, its cells, and whether it is sound. Needs no threads.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cellar/cell.h"
#include "cellar/file_system.h"
#include "cellar/keys.h"
#include "cellar/status.h"

namespace CELLAR_PUBLIC cellar {

// HFileFacts: what the file records about itself.
struct HFileFacts {
  std::string name;
  uint64_t file_bytes = 0;
  std::string version;      // "3.3"
  std::string compression;  // "GZ"
  std::string encoding;     // "ROW_INDEX_V1"
  std::string comparator;
  std::string bloom;  // "ROW", …; empty: none
  uint64_t cells = 0;
  std::optional<uint64_t> rows;  // counted by HFileBuilder::finish() only
  std::string first_row;         // a lower bound in some files of other programs; empty without cells
  std::string last_row;
  bool tags = false;
  bool mvcc = false;
  std::optional<int64_t> timestamp_min;  // if the file records them
  std::optional<int64_t> timestamp_max;
  uint64_t max_sequence = 0;
  uint32_t index_levels = 0;
  std::vector<std::pair<std::string, std::string>> info;  // every entry of the file info, as stored
};

// HFileCells: the cells of a range in the order of the file, every version and delete marker, as stored. One
// thread at a time. It keeps the file open.
class HFileCells {
 public:
  HFileCells(HFileCells&&) noexcept;
  HFileCells& operator=(HFileCells&&) noexcept;
  ~HFileCells();

  // Returns the next cell, valid until the next call. Returns null at the end and after an error: status()
  // tells which.
  const CellView* next();
  Status status() const;

 private:
  friend class HFile;
  struct Impl;
  explicit HFileCells(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

enum class HFileCheckLevel : uint8_t { kQuick, kBlocks, kCells, kDeep };

struct HFileProblem {
  std::string code;   // "V-CHECKSUM", "W-PREV", …
  bool error = true;  // otherwise a warning
  std::string text;
  std::optional<uint64_t> offset;
};

struct HFileCheck {
  bool sound = false;
  Status status;  // why the file was not checked: not an HFile, not supported, not readable
  std::vector<HFileProblem> problems;
  uint64_t blocks = 0;
  uint64_t cells = 0;
};

// HFile: an open file. Cheap to copy. Any thread.
class HFile {
 public:
  // Opens a file. kNotFound, kIoError, kCorruption (also if it is not an HFile), kNotSupported with its
  // version, codec or encryption.
  static Result<HFile> open(FileSystem& files, const std::string& path);
  static Result<HFile> open(std::unique_ptr<ReadableFile> file, std::string name);
  // Opens a file of the machine.
  static Result<HFile> open(const std::string& path) { return open(posix_file_system(), path); }

  const HFileFacts& facts() const;

  // Returns the cells of these rows and columns, with timestamps from time_from up to but not including
  // time_until. No columns: all. No time_until: all later ones. Their status is kNotSupported if the encoding
  // of the file is not built in.
  HFileCells cells(const KeyRange& rows = {}, const ColumnMap& columns = {}, int64_t time_from = 0,
                   std::optional<int64_t> time_until = {}) const;

  // Returns false only if the file has no cell of the row, by its range of rows or its Bloom filter.
  bool may_contain_row(std::string_view row) const;

  // Returns the content of a meta block of the application. kNotFound.
  Result<std::string> meta_block(std::string_view name) const;

  // Checks a file from its beginning to its end, also one that open() refuses.
  static HFileCheck verify(std::unique_ptr<ReadableFile> file,
                           HFileCheckLevel level = HFileCheckLevel::kCells);

 private:
  struct Impl;
  explicit HFile(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}
  std::shared_ptr<const Impl> impl_;
};

}  // namespace cellar
