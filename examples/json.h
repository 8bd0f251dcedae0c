// JSON text for the applications.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

namespace example {

// Returns a text as a literal of JSON, which may also stand in a page: no byte of it can end an element.
inline std::string json_text(std::string_view text) {
  std::string json = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f || std::string_view("<>&\"\\").find(c) != std::string_view::npos) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", byte);
      json += escape;
    } else {
      json += c;
    }
  }
  return json += '"';
}

}  // namespace example
