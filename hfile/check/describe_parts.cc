// The helpers that the parts of a description share.
#include "hfile/check/describe_parts.h"

namespace cellar {

std::string_view checksum_name(std::optional<ChecksumType> type) {
  if (!type) return "none";
  switch (*type) {
    case ChecksumType::kNull:
      return "NULL";
    case ChecksumType::kCrc32:
      return "CRC32";
    case ChecksumType::kCrc32c:
      return "CRC32C";
  }
  return "unknown";
}

}  // namespace cellar
