// Compressor: turns the payload of a block into its body on disk and back, in the framing that HBase's codec
// of that name uses. A plug-in.
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
  // Returns HBase's codec ordinal, stored in the file's trailer.
  virtual uint32_t id() const = 0;
  // Returns HBase's name: "NONE", "GZ", "SNAPPY" and so on.
  virtual std::string_view name() const = 0;
  // Appends the body for `payload`, which may be empty, to `body`.
  virtual Status compress(std::string_view payload, std::string& body) const = 0;
  // Fills `payload` with exactly `payload_bytes` bytes from an untrusted body. kCorruption if the body has
  // fewer or more. Accesses nothing outside of the two ranges.
  virtual Status decompress(std::string_view body, size_t payload_bytes, char* payload) const = 0;
};

}  // namespace cellar
