// RecordFile: one log segment or manifest generation, looked at record by record without trusting a byte of
// it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cellar/file_system.h"
#include "cellar/status.h"
#include "engine/log/wal_format.h"

namespace cellar {

// The kinds of content at an offset.
enum class Look : uint8_t {
  kRecord,   // a whole record
  kNothing,  // nothing but zeros up to the end of the file
  kTorn,     // the file, or all that is not zero in it, ends inside it, or a word of it was never written
  kDamaged,  // all of it was written, but not these bytes
};

struct Found {
  Look look = Look::kNothing;
  RecordHeader header;       // of a record
  std::string_view payload;  // of a record, in the clear; valid until the next call
  uint64_t end = 0;          // of a record: the offset after it
};

// One thread at a time. Memory: the largest record, and a buffer of 64 KiB.
class RecordFile {
 public:
  // Opens a file, also one with an unsound header; see header_status(). Bytes from `bytes_max` on are never
  // read, so that the file may be written or cut there meanwhile.
  static Result<RecordFile> open(Directory& directory, const std::string& name, FileKind kind,
                                 const Identity& identity, uint64_t id, uint64_t bytes_max = UINT64_MAX);
  // The same for a file that is open, maybe for a while. Its present size counts.
  static Result<RecordFile> open(std::shared_ptr<ReadableFile> file, const std::string& name, FileKind kind,
                                 const Identity& identity, uint64_t id, uint64_t bytes_max = UINT64_MAX);

  uint64_t size() const { return size_; }
  uint64_t id() const { return id_; }
  const std::string& name() const { return name_; }
  // Ok, kCorruption (too short, damaged, of another store, of another id), or kNotSupported.
  const Status& header_status() const { return header_status_; }
  const FileHeader& header() const { return header_; }
  uint32_t header_crc() const { return header_crc_; }

  // The record at `offset`, whose number must be `lsn` unless that is 0, and whose chain `chain`.
  Result<Found> look(uint64_t offset, uint32_t chain, uint64_t lsn);

  // Reads the bytes of the file anew from now on. A writer may have added some since they were read.
  void look_anew() { buffer_.clear(); }

  // From now on judges what is no record by so many bytes after it, and reads as few at a time. It is for the
  // end of a file that a living process appends to: there, nothing follows what is not written yet.
  void look_ahead_only(uint64_t bytes) { ahead_ = bytes; }

  // Calls `visit` for every sound record header from `offset` on, at whatever step of 8 bytes it stands,
  // until it returns false. It serves to find witnesses after a damaged record.
  Status scan(uint64_t offset, const std::function<bool(const RecordHeader&)>& visit);
  // Returns where the first sound record header from `offset` on stands, and copies it to `header`. Returns
  // size() if no such header follows. Its payload may be damaged.
  Result<uint64_t> find_header(uint64_t offset, RecordHeader& header);

  // The offset after the last byte that is not zero, from `offset` on; `offset` if all are zero. Holes of a
  // sparse file are not read. Looks at least at `bytes` bytes.
  Result<uint64_t> written_end(uint64_t offset, uint64_t bytes = 0);

 private:
  RecordFile(std::shared_ptr<ReadableFile> file, uint64_t size, std::string name, FileKind kind,
             const Identity& identity, uint64_t id)
      : file_(std::move(file)),
        size_(size),
        name_(std::move(name)),
        codec_(kind, identity, id),
        identity_(identity),
        kind_(kind),
        id_(id) {}
  Status read_header();
  // `bytes` bytes of the file from `offset`, which lie within it.
  Result<const char*> bytes_at(uint64_t offset, uint64_t bytes);
  Result<Look> judge(uint64_t offset, uint64_t extent);
  // As scan(). The visitor also receives the offset of the header.
  Status scan_headers(uint64_t offset, const std::function<bool(const RecordHeader&, uint64_t)>& visit);
  // As ReadableFile::next_data, within the file as it is looked at.
  Result<uint64_t> next_data(uint64_t offset, uint64_t& end) const;

  std::shared_ptr<ReadableFile> file_;
  uint64_t size_;
  std::string name_;
  RecordCodec codec_;
  Identity identity_;
  FileKind kind_;
  uint64_t id_;
  FileHeader header_;
  Status header_status_;
  uint32_t header_crc_ = 0;
  std::vector<char> buffer_;  // the file's bytes from buffer_offset_ on
  uint64_t buffer_offset_ = 0;
  uint64_t ahead_ = UINT64_MAX;  // see look_ahead_only()
  std::vector<char> payload_;    // of the last record, in the clear
};

}  // namespace cellar
