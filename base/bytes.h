// Byte strings: common prefix, printable escapes, JSON quoting, successor of a prefix.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "cellar/status.h"

namespace cellar {

// Returns the number of equal leading bytes.
size_t common_prefix(std::string_view a, std::string_view b);

// Escapes `bytes` like HBase's Bytes.toStringBinary, but reversibly. Bytes 0x20..0x7e except the
// backslash stay; every other byte becomes \xHH (upper case).
void append_escaped(std::string& to, std::string_view bytes);
std::string escaped(std::string_view bytes);

// Returns the inverse of escaped(): \xHH becomes a byte, every other byte stays. If a backslash
// is not followed by x and two hexadecimal digits: kInvalidArgument with the offset.
Result<std::string> unescaped(std::string_view text);

// Appends `text` as a JSON string with its quotes. Escapes '"', '\\' and control characters; copies all
// other bytes unchanged.
void append_json_string(std::string& to, std::string_view text);
std::string json_string(std::string_view text);

// Returns the first byte string after all byte strings that begin with `prefix`. Returns an empty string
// if there is no such byte string: all bytes of `prefix` are 0xff, or `prefix` is empty.
std::string prefix_successor(std::string_view prefix);

// Returns a size in binary units for people: "1.5 MiB", "812 B".
std::string human_bytes(uint64_t bytes);
// Returns a count with separators: "12,345,678".
std::string human_count(uint64_t count);
// Returns a duration for people: "1.2 s", "340 ms", "15 µs".
std::string human_micros(int64_t micros);

// Return the text with its ASCII letters in lower or upper case; other bytes stay.
std::string lower_ascii(std::string_view text);
// Returns whether two texts are equal when the case of ASCII letters is ignored.
std::string upper_ascii(std::string_view text);
bool same_but_for_case(std::string_view a, std::string_view b);

// Parses an integer with an optional suffix k, m or g (either case) for powers of 1024. Returns false if
// `text` is not such a number or is too large.
bool parse_scaled(std::string_view text, int64_t& value);

std::string hex(std::string_view bytes);

}  // namespace cellar
