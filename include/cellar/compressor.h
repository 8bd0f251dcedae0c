// Compressor: one block's payload to its body on disk and back, in the framing HBase's codec of that name
// uses. A plug-in.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "cellar/plugin.h"

namespace CELLAR_PUBLIC cellar {

// Stateless; any thread.
class Compressor {
 public:
  virtual ~Compressor() = default;
  // HBase's codec ordinal, stored in the file's trailer.
  virtual uint32_t id() const = 0;
  // HBase's name: "NONE", "GZ", "SNAPPY", ….
  virtual std::string_view name() const = 0;
  // Appends the body for `payload` (any size, also none) to `body`.
  virtual Status compress(std::string_view payload, std::string& body) const = 0;
  // Fills `payload` with exactly `payload_bytes` bytes from an untrusted body: kCorruption when the body does
  // not hold exactly that. Touches nothing beyond the two ranges.
  virtual Status decompress(std::string_view body, size_t payload_bytes, char* payload) const = 0;
};

}  // namespace cellar
