// BlockTrace: chunks of uses, checked by CRC32C.
#include "cache/block_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/assert.h"
#include "base/checksum.h"
#include "base/coding.h"

namespace cellar {
namespace {

constexpr std::string_view kMagic = "CELLARBT";
constexpr uint64_t kVersion = 1;
constexpr uint32_t kStart = 'S';
constexpr uint32_t kUses = 'U';
constexpr uint32_t kEnd = 'E';
constexpr size_t kChunkHeaderBytes = 12;
constexpr size_t kChunkBytes = 64 << 10;     // a chunk is written at this size
constexpr size_t kChunkBytesMax = 16 << 20;  // longer ones are damage
constexpr size_t kChunksWaitingMax = 16;

constexpr uint8_t kKindMask = 7;
constexpr uint8_t kInMemory = 8;
constexpr uint8_t kSameBytes = 16;
constexpr uint8_t kFlagsMask = kKindMask | kInMemory | kSameBytes;

uint64_t zigzag(uint64_t difference) { return (difference << 1) ^ (0 - (difference >> 63)); }
uint64_t from_zigzag(uint64_t value) { return (value >> 1) ^ (0 - (value & 1)); }

std::string chunk_of(uint32_t kind, std::string_view body) {
  CELLAR_ASSERT(body.size() <= kChunkBytesMax);
  std::string chunk;
  chunk.reserve(kChunkHeaderBytes + body.size());
  append_le32(chunk, kind);
  append_le32(chunk, static_cast<uint32_t>(body.size()));
  append_le32(chunk, crc32c(body, crc32c(chunk)));
  chunk.append(body);
  return chunk;
}

void append_use(std::string& to, const BlockUse& use, const BlockUse& before) {
  const bool same = use.bytes == before.bytes;
  to += static_cast<char>(static_cast<uint8_t>(use.kind) | (use.in_memory ? kInMemory : 0) |
                          (same ? kSameBytes : 0));
  append_varint(to, use.time_us - before.time_us);
  append_varint(to, zigzag(use.id - before.id));
  if (!same) append_varint(to, use.bytes);
}

// Returns false if the bytes hold no use.
bool take_use(ByteReader& in, const BlockUse& before, BlockUse& use) {
  uint8_t kind = 0;
  uint64_t later = 0;
  uint64_t further = 0;
  if (!in.take_u8(kind) || (kind & ~kFlagsMask) != 0) return false;
  if ((kind & kKindMask) > static_cast<uint8_t>(BlockUseKind::kClosed)) return false;
  if (!in.take_varint(later) || !in.take_varint(further)) return false;
  use.kind = static_cast<BlockUseKind>(kind & kKindMask);
  use.in_memory = (kind & kInMemory) != 0;
  use.time_us = before.time_us + later;
  use.id = before.id + from_zigzag(further);
  use.bytes = before.bytes;
  return (kind & kSameBytes) != 0 || in.take_varint(use.bytes);
}

}  // namespace

// ---- Writing ----

Result<std::shared_ptr<BlockTraceWriter>> BlockTraceWriter::create(FileSystem& files, Clock& clock,
                                                                   const std::string& path,
                                                                   const BlockTraceStart& start) {
  const size_t slash = path.rfind('/');
  const std::string folder = slash == path.npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
  const std::string context = "block trace " + path;
  Result<std::unique_ptr<Directory>> directory = files.open_directory(folder, false);
  if (!directory.ok()) return directory.status().with_context(context);
  Result<std::unique_ptr<WritableFile>> file =
      (*directory)->create(slash == path.npos ? path : path.substr(slash + 1));
  if (!file.ok()) return file.status().with_context(context);
  std::string body;
  append_varint(body, kVersion);
  append_varint(body, static_cast<uint64_t>(start.started_ms));
  append_varint(body, start.capacity_bytes);
  append_varint(body, start.shards);
  append_varint(body, start.policy.size());
  body += start.policy;
  CELLAR_TRY((*file)->append(std::string(kMagic) + chunk_of(kStart, body)).with_context(context));
  return std::shared_ptr<BlockTraceWriter>(new BlockTraceWriter(path, clock, std::move(*file)));
}

BlockTraceWriter::BlockTraceWriter(std::string path, Clock& clock, std::unique_ptr<WritableFile> file)
    : path_(std::move(path)), clock_(clock), started_us_(clock.steady_us()), file_(std::move(file)) {}

BlockTraceWriter::~BlockTraceWriter() { static_cast<void>(finish()); }

void BlockTraceWriter::record(BlockUseKind kind, uint64_t id, uint64_t bytes, bool in_memory) {
  const auto now_us = static_cast<uint64_t>(std::max<int64_t>(0, clock_.steady_us() - started_us_));
  {
    const MutexLock lock(mutex_);
    if (finishing_ || !status_.ok()) return;
    if (waiting_.size() >= kChunksWaitingMax) {
      ++lost_;
      ++filling_.lost_before;
    } else {
      add({.kind = kind, .in_memory = in_memory, .time_us = now_us, .id = id, .bytes = bytes});
      if (filling_.bytes.size() < kChunkBytes) return;
      seal_chunk();
    }
    // A caller with a mutex of its own must not wait for the file: another thread writes the chunk later.
    if (mutexes_held() > 1 || !take_turn()) return;
  }
  write_chunks();
}

void BlockTraceWriter::add(BlockUse use) {
  use.time_us = std::max(use.time_us, last_.time_us);  // threads may come later than they looked at the clock
  if (filling_.count == 0) {
    filling_.first_time_us = use.time_us;
    last_ = {.time_us = use.time_us};
  }
  append_use(filling_.bytes, use, last_);
  last_ = use;
  ++filling_.count;
  ++recorded_;
}

void BlockTraceWriter::seal_chunk() {
  CELLAR_ASSERT((filling_.count == 0) == filling_.bytes.empty());
  if (filling_.count != 0) waiting_.push_back(std::exchange(filling_, {}));
}

std::string BlockTraceWriter::chunk_of_uses(const Uses& uses) {
  std::string body;
  body.reserve(uses.bytes.size() + 30);
  append_varint(body, uses.first_time_us);
  append_varint(body, uses.count);
  append_varint(body, uses.lost_before);
  body += uses.bytes;
  return chunk_of(kUses, body);
}

// Returns whether the calling thread has become the one that writes.
bool BlockTraceWriter::take_turn() { return !std::exchange(writing_, true); }

void BlockTraceWriter::write_chunks() {
  CELLAR_ASSERT(mutexes_held() == 0);  // no lock is held while the file is written
  for (bool more = true; more;) {
    const Status status = write_next(more);
    if (status.ok()) continue;
    const MutexLock lock(mutex_);
    status_ = status.with_context("block trace " + path_);
    waiting_.clear();
    writing_ = false;
    return;
  }
}

// Writes the next chunk, or the end. `more` becomes false if there is nothing to write; then it is the next
// thread's turn.
Status BlockTraceWriter::write_next(bool& more) {
  Uses uses;
  std::string end;
  {
    const MutexLock lock(mutex_);
    CELLAR_ASSERT(writing_);
    if (!waiting_.empty()) {
      uses = std::move(waiting_.front());
      waiting_.pop_front();
    } else if (finishing_ && !ended_) {
      ended_ = true;
      append_varint(end, recorded_);
      append_varint(end, lost_);
    } else {
      more = writing_ = false;
      return {};
    }
  }
  if (end.empty()) return file_->append(chunk_of_uses(uses));
  CELLAR_TRY(file_->append(chunk_of(kEnd, end)));
  return file_->close();
}

Status BlockTraceWriter::finish() {
  {
    const MutexLock lock(mutex_);
    if (!finishing_ && status_.ok()) {
      finishing_ = true;
      seal_chunk();
      if (!take_turn()) return status_;  // the other thread writes the rest
    } else {
      return status_;
    }
  }
  write_chunks();
  const MutexLock lock(mutex_);
  return status_;
}

// ---- Reading ----

Result<std::unique_ptr<BlockTraceReader>> BlockTraceReader::open(std::unique_ptr<ReadableFile> file,
                                                                 std::string name) {
  std::unique_ptr<BlockTraceReader> reader(new BlockTraceReader(std::move(file), std::move(name)));
  CELLAR_TRY(reader->read_start());
  return reader;
}

Status BlockTraceReader::damaged(std::string message) const {
  return Status::corruption(std::move(message)).at(fmt::format("{}: offset {}", name_, chunk_offset_));
}

Status BlockTraceReader::read_start() {
  const std::string hint = "EngineOptions::block_trace records one";
  std::string magic(std::min<uint64_t>(kMagic.size(), file_->size()), '\0');
  CELLAR_TRY(file_->read(0, magic.size(), magic.data()));
  if (magic != kMagic) return Status::invalid_argument(name_ + " is not a block trace").hinting(hint);
  offset_ = kMagic.size();
  uint32_t kind = 0;
  std::string body;
  CELLAR_TRY_ASSIGN(const bool found, next_chunk(kind, body));
  if (!found) return damaged("the block trace ends before its first use");
  ByteReader in(body);
  uint64_t version = 0;
  uint64_t started_ms = 0;
  uint64_t policy_bytes = 0;
  if (kind != kStart || !in.take_varint(version)) return damaged("the block trace has no start");
  if (version != kVersion) {
    return Status::not_supported(
               fmt::format("{} is a block trace of version {}; this program reads version {}", name_, version,
                           kVersion))
        .hinting("read it with the program that recorded it");
  }
  std::string_view policy;
  const bool taken = in.take_varint(started_ms) && in.take_varint(start_.capacity_bytes) &&
                     in.take_varint(start_.shards) && in.take_varint(policy_bytes) &&
                     in.take_bytes(policy_bytes, policy) && in.empty();
  if (!taken) return damaged("the start of the block trace is malformed");
  start_.started_ms = static_cast<int64_t>(started_ms);
  start_.policy = policy;
  return {};
}

// Returns false at the end of the file, and when its last chunk is cut short.
Result<bool> BlockTraceReader::next_chunk(uint32_t& kind, std::string& body) {
  chunk_offset_ = offset_;
  CELLAR_ASSERT(offset_ >= kMagic.size() && offset_ <= file_->size());
  const uint64_t left = file_->size() - offset_;
  torn_bytes_ = left;
  if (left < kChunkHeaderBytes) return false;
  std::string header(kChunkHeaderBytes, '\0');
  CELLAR_TRY(file_->read(offset_, header.size(), header.data()));
  kind = load_le32(header.data());
  const uint32_t bytes = load_le32(header.data() + 4);
  if (bytes > kChunkBytesMax) return damaged(fmt::format("a chunk of {} bytes is too long", bytes));
  if (bytes > left - kChunkHeaderBytes) return false;
  body.resize(bytes);
  CELLAR_TRY(file_->read(offset_ + kChunkHeaderBytes, bytes, body.data()));
  const std::string_view summed = std::string_view(header).substr(0, kChunkHeaderBytes - 4);
  if (crc32c(body, crc32c(summed)) != load_le32(header.data() + 8)) {
    if (bytes == left - kChunkHeaderBytes) return false;
    return damaged("the checksum of a chunk differs");
  }
  offset_ += kChunkHeaderBytes + bytes;
  torn_bytes_ = 0;
  return true;
}

Result<bool> BlockTraceReader::next(std::vector<BlockUse>& uses) {
  uses.clear();
  if (whole_) return false;
  uint32_t kind = 0;
  std::string body;
  CELLAR_TRY_ASSIGN(const bool found, next_chunk(kind, body));
  if (!found) return false;
  if (kind == kUses) {
    CELLAR_TRY(read_uses(body, uses));
    return true;
  }
  if (kind != kEnd) return damaged(fmt::format("a chunk of unknown kind {}", kind));
  CELLAR_TRY(read_end(body));
  return false;
}

Status BlockTraceReader::read_uses(std::string_view body, std::vector<BlockUse>& uses) {
  ByteReader in(body);
  BlockUse before;
  uint64_t count = 0;
  uint64_t lost = 0;
  if (!in.take_varint(before.time_us) || !in.take_varint(count) || !in.take_varint(lost) || count > in.left())
    return damaged("a chunk of uses is malformed");
  uses.reserve(count);
  for (uint64_t i = 0; i < count; ++i) {
    BlockUse use;
    if (!take_use(in, before, use)) return damaged(fmt::format("use {} of a chunk is malformed", i + 1));
    uses.push_back(use);
    before = use;
  }
  if (!in.empty()) return damaged(fmt::format("{} bytes after the uses of a chunk", in.left()));
  recorded_ += count;
  lost_ += lost;
  return {};
}

Status BlockTraceReader::read_end(std::string_view body) {
  ByteReader in(body);
  uint64_t recorded = 0;
  uint64_t lost = 0;
  if (!in.take_varint(recorded) || !in.take_varint(lost) || !in.empty())
    return damaged("the end of the block trace is malformed");
  if (recorded != recorded_)
    return damaged(fmt::format("the block trace has {} uses, but its end counts {}", recorded_, recorded));
  if (offset_ != file_->size())
    return damaged(fmt::format("{} bytes after the end of the block trace", file_->size() - offset_));
  lost_ = lost;
  whole_ = true;
  return {};
}

}  // namespace cellar
