// Cuts long keys and values in messages: a message stays readable whatever was typed or is stored.
#pragma once

#include <string>
#include <string_view>

namespace cellar {

// Returns the text with each very long part cut in its middle, e.g. "aaaa…(40,000 characters)…aaaa". Parts
// are runs without a blank, and what stands between double quotes. A text that is still very long is cut,
// too. Characters of UTF-8 stay whole.
std::string shortened(std::string_view text);

}  // namespace cellar
