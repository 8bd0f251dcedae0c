// StepwiseDecompressor: decompresses a body from its beginning, as far as its user needs the payload. A get
// of one row then need not decompress the rows after it.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include "cellar/compressor.h"

namespace cellar {

// One thread at a time.
class StepwiseDecompressor {
 public:
  virtual ~StepwiseDecompressor() = default;
  // Begins with an untrusted body, whose payload must have `payload_bytes` bytes. Earlier work is forgotten.
  // `body` and `payload` are borrowed until the last call of advance().
  virtual void begin(std::string_view body, size_t payload_bytes, char* payload) = 0;
  // Fills at least the first `wanted` bytes of the payload; `wanted` is at most payload_bytes. Returns how
  // many are filled, which never change again. Bytes after these have no meaning yet. Errors: kCorruption, as
  // of Compressor::decompress(); do not go on after one. A fault after the wanted bytes may stay unnoticed,
  // unless all bytes are wanted. Accesses nothing outside of the two ranges.
  virtual Result<size_t> advance(size_t wanted) = 0;
};

// The base of compressors that can decompress in steps. Any thread.
class StepwiseCodec {
 public:
  virtual std::unique_ptr<StepwiseDecompressor> stepwise() const = 0;

 protected:
  ~StepwiseCodec() = default;
};

// Returns the codec's side that decompresses in steps. Returns null if the codec cannot, or is null.
inline const StepwiseCodec* stepwise_codec(const Compressor* codec) {
  return dynamic_cast<const StepwiseCodec*>(codec);
}

}  // namespace cellar
