// MD5 (RFC 1321), by which HBase names the directory of a region. Not for anything that must resist anybody.
#pragma once

#include <string>
#include <string_view>

namespace cellar {

// The sum of the bytes in 32 small hexadecimal digits.
std::string md5_hex(std::string_view bytes);

}  // namespace cellar
