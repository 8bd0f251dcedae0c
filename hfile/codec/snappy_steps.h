// SnappySteps: decompresses the beginning of a Snappy body, and goes on from there.
//
// The Snappy library decompresses a chunk as a whole. A get needs half a block on average, and no more than
// the bytes up to its row. The format is Snappy's format_description.txt.
#pragma once

#include <cstddef>
#include <string_view>

#include "hfile/codec/block_framing.h"
#include "hfile/codec/stepwise.h"

namespace cellar {

class SnappySteps final : public StepwiseDecompressor {
 public:
  void begin(std::string_view body, size_t payload_bytes, char* payload) override;
  Result<size_t> advance(size_t wanted) override;

 private:
  Status enter_chunk();
  bool decode_until(const char* stop);
  bool decode_fast(const char* stop);
  bool decode_one();
  bool take_number(size_t bytes, size_t& number);

  FramedChunks chunks_;
  bool ended_ = false;  // no chunk follows
  const char* in_ = nullptr;
  const char* in_end_ = nullptr;  // of the chunk
  char* begin_ = nullptr;         // of the payload
  char* out_ = nullptr;
  char* end_ = nullptr;
  char* chunk_begin_ = nullptr;
  char* chunk_end_ = nullptr;
};

}  // namespace cellar
