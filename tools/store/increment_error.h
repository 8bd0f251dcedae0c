// The error of an increment that overflows, in the words of the command line.
#pragma once

#include <string_view>

#include "cellar/status.h"

namespace cellar {

// With what wraps around here in place of the call of the C++ interface.
Status with_overflow_hint(const Status& status, std::string_view option);

}  // namespace cellar
