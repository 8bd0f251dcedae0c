// Times to live in words, as HBase's shell takes and prints them; plug-ins with their parameters.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace cellar {

// "86400", "7d", "forever"; "1 DAY 2 HOURS", "93600 SECONDS (1 DAY 2 HOURS)", "1 DAY 2 HOURS (93600
// SECONDS)", in either case. Returns false for other texts, on overflow, or if the two halves differ.
bool parse_seconds(std::string_view text, int64_t& seconds);

// Given "exploring(ratio=1.2, files_min=3)", return "exploring"; the value of a parameter, or ""; the text
// with that parameter, or without it if the value is empty.
std::string_view plugin_in(std::string_view text);
std::string parameter_in(std::string_view text, std::string_view parameter);
std::string with_parameter(std::string_view text, std::string_view parameter, std::string_view value);

}  // namespace cellar
