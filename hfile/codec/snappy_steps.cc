// SnappySteps: elements of chunks, one after the other; fast where many bytes are left, careful near an end.
#include "hfile/codec/snappy_steps.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "base/assert.h"
#include "base/coding.h"

namespace cellar {
namespace {

// The kinds of elements, in the two lowest bits of an element's first byte. A copy repeats bytes of the
// payload at a distance back.
constexpr uint32_t kKindBits = 3;
constexpr uint32_t kLiteral = 0;
constexpr uint32_t kNear = 1;     // a copy; the distance has 11 bits
constexpr uint32_t kFar = 2;      // 16 bits
constexpr uint32_t kDistant = 3;  // 32 bits

constexpr size_t kSizeBytesMax = 5;      // of a chunk's size, seven bits a byte
constexpr size_t kShortLiteralMax = 60;  // longer ones have their size in further bytes
constexpr ptrdiff_t kCopyMax = 64;
constexpr ptrdiff_t kFastInput = 1 + kCopyMax;  // what the fast loop may read from an element's begin on
constexpr ptrdiff_t kFastLiteral = 256 + 16;    // what a literal with one byte of size may touch
constexpr size_t kPiece = 16;                   // bytes that are copied at a time

size_t near_copy_bytes(uint8_t first) { return (first >> 2 & 7) + 4; }
size_t near_copy_distance(uint8_t first, size_t low) { return size_t{first} >> 5 << 8 | low; }
void copy_piece(char* to, const char* from) { std::memcpy(to, from, kPiece); }

// Copies `bytes` bytes, and up to kPiece - 1 after them.
void copy_pieces(char* to, const char* from, size_t bytes) {
  for (size_t at = 0; at < bytes; at += kPiece) copy_piece(to + at, from + at);
}

// Repeats the `distance` bytes before `to`, up to kCopyMax of them.
void repeat(char* to, size_t distance, size_t bytes) {
  CELLAR_DCHECK(distance > 0 && bytes <= kCopyMax);
  const char* const from = to - distance;
  if (distance >= kPiece) {
    copy_piece(to, from);
    if (bytes > kPiece) copy_pieces(to + kPiece, from + kPiece, kCopyMax - kPiece);
  } else if (distance == 1) {
    std::memset(to, *from, kCopyMax);
  } else {  // a piece is copied from some distances before it, so that it does not reach into its source
    for (size_t i = 0; i < kPiece; ++i) to[i] = from[i];
    const size_t period = (kPiece + distance - 1) / distance * distance;
    for (size_t at = kPiece; at < bytes; at += kPiece) copy_piece(to + at, to + at - period);
  }
}

}  // namespace

void SnappySteps::begin(std::string_view body, size_t payload_bytes, char* payload) {
  chunks_ = FramedChunks(body, payload_bytes);
  ended_ = false;
  in_ = in_end_ = nullptr;
  begin_ = out_ = chunk_begin_ = chunk_end_ = payload;
  end_ = payload + payload_bytes;
}

Result<size_t> SnappySteps::advance(size_t wanted) {
  CELLAR_ASSERT(wanted <= static_cast<size_t>(end_ - begin_));
  const char* const stop = begin_ + wanted;
  // The last step also looks at what follows.
  while (out_ < stop || (stop == end_ && !ended_)) {
    if (in_ == in_end_ && out_ == chunk_end_) {
      if (Status entered = enter_chunk(); !entered.ok()) return entered.with_context("SNAPPY");
    } else if (!decode_until(std::min<const char*>(stop, chunk_end_))) {
      return Status::corruption("a chunk is damaged").with_context("SNAPPY");
    }
  }
  return static_cast<size_t>(out_ - begin_);
}

// Goes to the next chunk, or to the end of the body.
Status SnappySteps::enter_chunk() {
  std::string_view chunk;
  size_t room = 0;
  CELLAR_TRY_ASSIGN(const bool found, chunks_.next(chunk, room));
  ended_ = !found;
  if (ended_) return {};
  uint64_t bytes = 0;
  ByteReader in(chunk.substr(0, kSizeBytesMax));
  if (!in.take_varint(bytes) || bytes > room) return Status::corruption("a chunk is larger than its frame");
  chunks_.pass(bytes);
  in_ = in.at();
  in_end_ = chunk.data() + chunk.size();
  chunk_begin_ = out_;
  chunk_end_ = out_ + bytes;
  return {};
}

// Decodes whole elements until `stop` is reached. At the end of the chunk, nothing may be left of it. Returns
// false if the chunk is damaged.
bool SnappySteps::decode_until(const char* stop) {
  while (out_ < stop) {
    if (!decode_fast(stop)) return false;
    if (out_ < stop && !decode_one()) return false;
  }
  return out_ < chunk_end_ || in_ == in_end_;
}

// Copies whole pieces, which may be longer than the element. The next element overwrites the rest. Stops
// before an element that is too close to an end of the chunk, or has a rare form. Returns false if the chunk
// is damaged.
bool SnappySteps::decode_fast(const char* stop) {
  const char* in = in_;
  char* out = out_;
  bool sound = true;
  while (out < stop && in_end_ - in >= kFastInput && chunk_end_ - out >= kCopyMax) {
    const auto first = static_cast<uint8_t>(*in);
    const uint32_t kind = first & kKindBits;
    size_t bytes = (first >> 2) + 1;
    if (kind == kLiteral) {
      const char* from = in + 1;
      if (bytes <= kShortLiteralMax) {
        copy_piece(out, from);
        if (bytes > kPiece) copy_pieces(out + kPiece, from + kPiece, kCopyMax - kPiece);
      } else {
        if (bytes > kShortLiteralMax + 1) break;
        bytes = size_t{static_cast<uint8_t>(*from++)} + 1;
        if (in_end_ - from < kFastLiteral || chunk_end_ - out < kFastLiteral) break;
        copy_pieces(out, from, bytes);
      }
      out += bytes;
      in = from + bytes;
      continue;
    }
    size_t distance = load_le16(in + 1);
    if (kind == kNear) {
      bytes = near_copy_bytes(first);
      distance = near_copy_distance(first, distance & 0xff);
    }
    if (kind == kDistant) break;
    sound = distance > 0 && distance <= static_cast<size_t>(out - chunk_begin_);
    if (!sound) break;
    repeat(out, distance, bytes);
    out += bytes;
    in += kind == kNear ? 2 : 3;
  }
  in_ = in;
  out_ = out;
  return sound;
}

// Decodes one element of any kind. Returns false if the chunk is damaged.
bool SnappySteps::decode_one() {
  const auto first = static_cast<uint8_t>(in_ != in_end_ ? *in_++ : 0);
  const uint32_t kind = first & kKindBits;
  size_t bytes = (first >> 2) + 1;
  size_t number = 0;
  if (kind == kLiteral) {
    if (bytes > kShortLiteralMax) {
      if (!take_number(bytes - kShortLiteralMax, number)) return false;
      bytes = number + 1;
    }
    if (bytes > static_cast<size_t>(in_end_ - in_) || bytes > static_cast<size_t>(chunk_end_ - out_))
      return false;
    std::memcpy(out_, in_, bytes);
    in_ += bytes;
    out_ += bytes;
    return true;
  }
  if (!take_number(kind == kNear ? 1 : kind == kFar ? 2 : 4, number)) return false;
  size_t distance = number;
  if (kind == kNear) {
    bytes = near_copy_bytes(first);
    distance = near_copy_distance(first, number);
  }
  if (distance == 0 || distance > static_cast<size_t>(out_ - chunk_begin_)) return false;
  if (bytes > static_cast<size_t>(chunk_end_ - out_)) return false;
  const char* from = out_ - distance;  // may reach into what is being written
  for (; bytes > 0; --bytes) *out_++ = *from++;
  return true;
}

// Takes a number of one to four bytes, the lowest first.
bool SnappySteps::take_number(size_t bytes, size_t& number) {
  if (bytes > static_cast<size_t>(in_end_ - in_)) return false;
  for (size_t i = 0; i < bytes; ++i) number |= size_t{static_cast<uint8_t>(*in_++)} << (8 * i);
  return true;
}

}  // namespace cellar
