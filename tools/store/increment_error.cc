// Which errors of an increment are about its size.
#include "tools/store/increment_error.h"

#include <fmt/format.h>

namespace cellar {

Status with_overflow_hint(const Status& status, std::string_view option) {
  // Only this error of an increment has a hint.
  if (!status.is(Code::kInvalidArgument) || status.hint().empty()) return status;
  return Status::invalid_argument(std::string(status.message()))
      .hinting(fmt::format("{} wraps around as HBase does", option));
}

}  // namespace cellar
