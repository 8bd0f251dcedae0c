// Byte strings: common prefix, printable escapes, JSON quoting, successor of a prefix.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "cellar/status.h"

namespace cellar {

// Number of equal leading bytes.
size_t common_prefix(std::string_view a, std::string_view b);

// As HBase's Bytes.toStringBinary, but reversible: 0x20..0x7e except the backslash stay, all else becomes
// \xHH (upper-case).
void append_escaped(std::string& to, std::string_view bytes);
std::string escaped(std::string_view bytes);

// The inverse: \xHH becomes a byte, everything else stays. A backslash that is not followed by x and two hex
// digits is kInvalidArgument with its offset.
Result<std::string> unescaped(std::string_view text);

// Appends `text` as a JSON string with its quotes. Bytes are taken as they are except '"', '\\' and control
// characters.
void append_json_string(std::string& to, std::string_view text);
std::string json_string(std::string_view text);

// The first byte string after all that begin with `prefix`; empty when there is none (all bytes 0xff, or no
// bytes).
std::string prefix_successor(std::string_view prefix);

// "1.5 MiB", "812 B": binary units, for people.
std::string human_bytes(uint64_t bytes);
// "12,345,678".
std::string human_count(uint64_t count);
// "1.2 s", "340 ms", "15 µs".
std::string human_micros(int64_t micros);

// Letters of ASCII in lower, in upper case, all else as it is; and whether two are the same but for that.
std::string lower_ascii(std::string_view text);
std::string upper_ascii(std::string_view text);
bool same_but_for_case(std::string_view a, std::string_view b);

// A whole number, with k, m, g in either case as powers of 1024; false when `text` is none or too large.
bool parse_scaled(std::string_view text, int64_t& value);

std::string hex(std::string_view bytes);

}  // namespace cellar
