// Times in UTC as text of ISO 8601: "2026-11-20T18:04:11.203Z".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "cellar/status.h"

namespace cellar {

// Returns the date and time of a moment, given in seconds since 1970: "2026-11-20T18:04:11". Returns nothing
// outside the years 0 to 9999.
std::optional<std::string> iso_seconds(int64_t seconds);

// Parses "2026-11-20", "2026-11-20T18:04" or "2026-11-20T18:04:11", with or without Z. Seconds may have three
// or six digits after a point. A blank may stand for the T. Returns microseconds since 1970, or nothing if
// the text has another form. kInvalidArgument if no such date or time of day exists.
Result<std::optional<int64_t>> parse_iso_time(std::string_view text);

}  // namespace cellar
