// BlockTrace: a file with every use of the block cache, for simulations of other policies and sizes.
//
// The file is a magic of 8 bytes and chunks. A chunk is three little-endian words of 4 bytes (kind, length of
// the body, CRC32C of both and the body) and its body. All numbers in a body are varints.
//  - 'S', the first chunk: version, start (milliseconds since the epoch), capacity, shards, and the policy's
//    text with its length before it.
//  - 'U', uses: the time of the first use, in microseconds after the start of the trace. The number of uses
//    follows, and how many uses before them were lost. A use begins with a byte for its kind and flags. Then
//    come the microseconds since the use before it, and the zigzag difference of both ids. The bytes of the
//    block follow, unless a flag says that the block before had as many.
//  - 'E', the end: how many uses were recorded, and how many were lost.
// A chunk can be decoded without those before it. A file without its end is what a process leaves that stops
// without closing its engine.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "cellar/environment.h"
#include "cellar/file_system.h"
#include "cellar/status.h"

namespace cellar {

enum class BlockUseKind : uint8_t {
  kHit,     // the block was asked for and found
  kMiss,    // it was asked for, read, and offered to the cache
  kPassed,  // it was asked for and read by a reader that does not fill the cache
  kLoaded,  // it was offered to the cache before anybody asked for it
  kClosed,  // the file whose blocks have these ids was closed; id is that of the file's offset 0
};

// The id of the block at `offset` of the n-th file that was opened is n * 2^40 + offset.
constexpr int kBlockIdFileShift = 40;

struct BlockUse {
  BlockUseKind kind = BlockUseKind::kHit;
  bool in_memory = false;  // of a family with priority
  uint64_t time_us = 0;    // since the start of the trace
  uint64_t id = 0;
  uint64_t bytes = 0;  // that the block is charged for; 0 for kClosed

  bool operator==(const BlockUse&) const = default;
};

struct BlockTraceStart {
  int64_t started_ms = 0;       // since the epoch
  uint64_t capacity_bytes = 0;  // of the cache that was traced
  uint64_t shards = 0;
  std::string policy;
};

// BlockTraceWriter: any thread. Uses gather in memory. The thread that fills a chunk also writes it, without
// a lock; meanwhile other threads fill further chunks. If the file is so slow that a megabyte waits, uses
// are lost and counted.
class BlockTraceWriter {
 public:
  // Creates the file at `path`, which must not exist. `clock` is borrowed.
  static Result<std::shared_ptr<BlockTraceWriter>> create(FileSystem& files, Clock& clock,
                                                          const std::string& path,
                                                          const BlockTraceStart& start);
  // Finishes, if nobody did.
  ~BlockTraceWriter();
  BlockTraceWriter(const BlockTraceWriter&) = delete;
  BlockTraceWriter& operator=(const BlockTraceWriter&) = delete;

  void record(BlockUseKind kind, uint64_t id, uint64_t bytes, bool in_memory);
  // Writes what is left, and the end. Later uses are ignored. Returns the first error of the file. A second
  // call returns the same.
  Status finish();

 private:
  // The uses of a chunk, encoded.
  struct Uses {
    std::string bytes;
    uint64_t count = 0;
    uint64_t lost_before = 0;
    uint64_t first_time_us = 0;
  };
  BlockTraceWriter(std::string path, Clock& clock, std::unique_ptr<WritableFile> file);
  static std::string chunk_of_uses(const Uses& uses);
  void add(BlockUse use) CELLAR_REQUIRES(mutex_);
  void seal_chunk() CELLAR_REQUIRES(mutex_);
  bool take_turn() CELLAR_REQUIRES(mutex_);
  void write_chunks();
  Status write_next(bool& more);

  const std::string path_;
  Clock& clock_;
  const int64_t started_us_;
  const std::unique_ptr<WritableFile> file_;  // used by the thread that has set writing_

  Mutex mutex_;
  Uses filling_ CELLAR_GUARDED_BY(mutex_);              // the next chunk
  BlockUse last_ CELLAR_GUARDED_BY(mutex_);             // the one before the next use
  std::deque<Uses> waiting_ CELLAR_GUARDED_BY(mutex_);  // full chunks
  uint64_t recorded_ CELLAR_GUARDED_BY(mutex_) = 0;
  uint64_t lost_ CELLAR_GUARDED_BY(mutex_) = 0;
  bool writing_ CELLAR_GUARDED_BY(mutex_) = false;
  bool finishing_ CELLAR_GUARDED_BY(mutex_) = false;
  bool ended_ CELLAR_GUARDED_BY(mutex_) = false;
  Status status_ CELLAR_GUARDED_BY(mutex_);
};

// BlockTraceReader: one thread at a time.
class BlockTraceReader {
 public:
  // Opens a trace; `name` is for messages. kInvalidArgument if the file is no block trace, kNotSupported for
  // another version, kCorruption if it is damaged.
  static Result<std::unique_ptr<BlockTraceReader>> open(std::unique_ptr<ReadableFile> file, std::string name);

  const BlockTraceStart& start() const { return start_; }
  // Replaces `uses` by those of the next chunk, and returns false at the end. A last chunk that is cut short
  // is ignored: whole() and torn_bytes() tell. Other damage is kCorruption with its place.
  Result<bool> next(std::vector<BlockUse>& uses);

  // At the end: whether the trace was finished; how many bytes at its end were ignored; how many uses were
  // lost while it was recorded.
  bool whole() const { return whole_; }
  uint64_t torn_bytes() const { return torn_bytes_; }
  uint64_t lost() const { return lost_; }

 private:
  BlockTraceReader(std::unique_ptr<ReadableFile> file, std::string name)
      : file_(std::move(file)), name_(std::move(name)) {}
  Result<bool> next_chunk(uint32_t& kind, std::string& body);
  Status read_start();
  Status read_uses(std::string_view body, std::vector<BlockUse>& uses);
  Status read_end(std::string_view body);
  Status damaged(std::string message) const;

  std::unique_ptr<ReadableFile> file_;
  std::string name_;
  BlockTraceStart start_;
  uint64_t offset_ = 0;        // of the next chunk
  uint64_t chunk_offset_ = 0;  // of the one that is decoded
  uint64_t recorded_ = 0;
  uint64_t lost_ = 0;
  uint64_t torn_bytes_ = 0;
  bool whole_ = false;
};

}  // namespace cellar
