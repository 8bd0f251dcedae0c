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

// `decode_chunk(chunk, payload, room, bytes)` fills at most `room` bytes and says how many: Status.
template <class DecodeChunk>
Status decompress_frame(ByteReader& reader, size_t frame, char* payload, DecodeChunk&& decode_chunk) {
  while (frame > 0) {  // each turn takes input
    uint32_t compressed = 0;
    std::string_view chunk;
    size_t bytes = 0;
    if (!reader.take_be32(compressed) || !reader.take_bytes(compressed, chunk)) {
      return Status::corruption("a chunk is truncated");
    }
    CELLAR_TRY(decode_chunk(chunk, payload, frame, bytes));
    payload += bytes;
    frame -= bytes;
  }
  return {};
}

template <class DecodeChunk>
Status decompress_framed(std::string_view body, size_t payload_bytes, char* payload,
                         DecodeChunk&& decode_chunk) {
  ByteReader reader(body);
  size_t left = payload_bytes;
  while (!reader.empty()) {
    uint32_t frame = 0;
    if (!reader.take_be32(frame)) return Status::corruption("a frame is truncated");
    if (frame > left) return Status::corruption("the body holds more than declared");
    CELLAR_TRY(decompress_frame(reader, frame, payload, decode_chunk));
    payload += frame;
    left -= frame;
  }
  return left == 0 ? Status() : Status::corruption("the body holds less than declared");
}

}  // namespace cellar
