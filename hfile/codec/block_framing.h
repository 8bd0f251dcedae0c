// Hadoop's block framing, in which SNAPPY and its like store their chunks.
//
//   frame  :=  u32 size of its content, uncompressed | chunk until that size is reached
//   chunk  :=  u32 compressed size | compressed bytes
//
// A body is written in a single frame. Readers take any number of frames and any sizes of chunks.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/coding.h"
#include "cellar/status.h"

namespace cellar {

// The most that HBase's decompressors are sure to have room for, and what most of its codecs put into a
// chunk.
constexpr size_t kFramedChunkBytes = 218422;

// `append_chunk(chunk, body)` appends the compressed chunk to body: Status.
template <class AppendChunk>
Status compress_framed(std::string_view payload, std::string& body, AppendChunk&& append_chunk) {
  if (payload.size() > INT32_MAX) return Status::limit("a payload too large for block framing");
  append_be32(body, static_cast<uint32_t>(payload.size()));
  for (size_t at = 0; at < payload.size(); at += kFramedChunkBytes) {
    const size_t size_at = body.size();
    append_be32(body, 0);
    CELLAR_TRY(append_chunk(payload.substr(at, kFramedChunkBytes), body));
    store_be32(body.data() + size_at, static_cast<uint32_t>(body.size() - size_at - 4));
  }
  if (payload.size() > kFramedChunkBytes) append_be32(body, 0);  // as HBase ends a frame of several chunks
  return {};
}

// FramedChunks: the chunks of a body, one after the other. Borrows the body. One thread at a time.
class FramedChunks {
 public:
  FramedChunks() = default;
  FramedChunks(std::string_view body, size_t payload_bytes) : rest_(body), left_(payload_bytes) {}

  // Goes to the next chunk, which may hold at most `room` bytes of the payload; call pass() before the next
  // call. Returns false at the end of the body.
  Result<bool> next(std::string_view& chunk, size_t& room) {
    ByteReader reader(rest_);
    while (frame_ == 0) {
      if (reader.empty() && left_ > 0) return Status::corruption("the body holds less than declared");
      if (reader.empty()) return false;
      uint32_t frame = 0;
      if (!reader.take_be32(frame)) return Status::corruption("a frame is truncated");
      if (frame > left_) return Status::corruption("the body holds more than declared");
      frame_ = frame;
    }
    uint32_t compressed = 0;
    if (!reader.take_be32(compressed) || !reader.take_bytes(compressed, chunk))
      return Status::corruption("a chunk is truncated");
    rest_ = reader.rest();
    room = frame_;
    return true;
  }
  // Notes that the chunk holds so many bytes, at most its room.
  void pass(size_t bytes) {
    frame_ -= bytes;
    left_ -= bytes;
  }

 private:
  std::string_view rest_;
  size_t left_ = 0;   // of the payload
  size_t frame_ = 0;  // of it in this frame
};

// `decode_chunk(chunk, payload, room, bytes)` fills at most `room` bytes and says how many: Status.
template <class DecodeChunk>
Status decompress_framed(std::string_view body, size_t payload_bytes, char* payload,
                         DecodeChunk&& decode_chunk) {
  FramedChunks chunks(body, payload_bytes);
  while (true) {
    std::string_view chunk;
    size_t room = 0;
    CELLAR_TRY_ASSIGN(const bool found, chunks.next(chunk, room));
    if (!found) return {};
    size_t bytes = 0;
    CELLAR_TRY(decode_chunk(chunk, payload, room, bytes));
    payload += bytes;
    chunks.pass(bytes);
  }
}

}  // namespace cellar
