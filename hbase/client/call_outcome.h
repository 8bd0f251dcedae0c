// CallOutcome: what a call of a server came to, and what can be done about a failure.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/pin.h"
#include "cellar/status.h"
#include "hbase/client/server_address.h"

namespace cellar::hbase {

namespace wire {
class ExceptionResponse;
class NameBytesPair;
}  // namespace wire

enum class Remedy : uint8_t {
  kNone,      // the failure is final
  kWait,      // the server is busy: the same call may succeed later
  kRelocate,  // the region is elsewhere, or its server is gone: look it up again
  kReopen,    // the scanner is gone: open another one where it stopped
};

// CallError: a value.
struct CallError {
  Status status;
  Remedy remedy = Remedy::kNone;
  // The work may have been done: the request left, and no answer came, or one that proves nothing.
  bool may_have_happened = false;
  bool overloaded = false;  // the server asks for longer pauses
  // Another attempt may help, or none ever will: the server's program failed, or threw what it does not
  // explain. A few attempts are made.
  bool doubtful = false;
  std::optional<ServerAddress> moved_to = {};
};

// So many attempts may fail with doubtful errors, about a second apart from the first to the last.
constexpr uint32_t kDoubtfulAttempts = 6;

// CallOutcome: an answer, whose cell block lives as long as the pin; or an error.
struct CallOutcome {
  std::optional<CallError> error = {};
  Pin frame = {};
  std::string_view cell_block = {};

  bool ok() const { return !error.has_value(); }
};

inline CallOutcome failed_call(const Status& status, Remedy remedy) {
  return {.error = CallError{.status = status, .remedy = remedy}};
}

// Return what an exception of a server means. The class of an exception decides, and the server's word that
// it makes no sense to try again.
CallError error_of(const wire::ExceptionResponse& exception);
// The exception of one action among several: a class, and its text.
CallError error_of(const wire::NameBytesPair& exception);

}  // namespace cellar::hbase
