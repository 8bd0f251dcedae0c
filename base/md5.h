// MD5 (RFC 1321), by which HBase names the directory of a region. Not for security.
#pragma once

#include <string>
#include <string_view>

namespace cellar {

// Returns the MD5 of the bytes as 32 lower-case hexadecimal digits.
std::string md5_hex(std::string_view bytes);

}  // namespace cellar
