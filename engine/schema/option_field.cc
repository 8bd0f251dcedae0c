// Field: how values of the usual kinds are read and written.
#include "engine/schema/option_field.h"

#include <fmt/format.h>

#include "base/assert.h"
#include "engine/schema/option_text.h"

namespace cellar {

Status unfit(std::string_view key, std::string_view value, std::string_view expected) {
  return Status::invalid_argument(fmt::format("option {}: \"{}\" is not {}", key, escaped(value), expected));
}

Status set_flag(std::string_view key, std::string_view text, bool& field) {
  const std::string value = lower_ascii(text);
  if (value != "true" && value != "false") return unfit(key, text, "true or false");
  field = value == "true";
  return {};
}

Status parse_number(std::string_view key, std::string_view text, int64_t least, int64_t most,
                    int64_t& value) {
  CELLAR_ASSERT(least <= most);
  if (!parse_scaled(text, value) || value < least || value > most)
    return unfit(key, text, fmt::format("a number from {} to {}", least, most));
  return {};
}

std::string flag_text(bool flag) { return flag ? "true" : "false"; }

}  // namespace cellar
