// Times to live and sizes in words, as HBase's shell takes and prints them.
#pragma once

#include <cstdint>
#include <string_view>

namespace cellar {

// "86400", "7d", "forever"; "1 DAY 2 HOURS", "93600 SECONDS (1 DAY 2 HOURS)", "1 DAY 2 HOURS (93600
// SECONDS)", in either case. False: it is none of these, it overflows, or its two halves differ.
bool parse_seconds(std::string_view text, int64_t& seconds);

// "65536", "64k"; "64KB", "1 GB 512 MB", "65536 B (64KB)", "64KB (65536 B)".
bool parse_bytes_in_words(std::string_view text, int64_t& bytes);

}  // namespace cellar
