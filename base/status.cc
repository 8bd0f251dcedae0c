// Status: the shared, immutable failure that it refers to, and its texts.
#include "cellar/status.h"

#include <cstdio>
#include <cstdlib>
#include <ostream>

#include "base/assert.h"

namespace cellar {

struct Status::Failure {
  Code code;
  std::string message;
  std::string place;
  std::string hint;
};

std::string_view code_name(Code code) {
  switch (code) {
    case Code::kOk:
      return "ok";
    case Code::kNotFound:
      return "not_found";
    case Code::kInvalidArgument:
      return "invalid_argument";
    case Code::kCorruption:
      return "corruption";
    case Code::kIoError:
      return "io_error";
    case Code::kNoSpace:
      return "no_space";
    case Code::kLocked:
      return "locked";
    case Code::kReadOnly:
      return "read_only";
    case Code::kBusy:
      return "busy";
    case Code::kAborted:
      return "aborted";
    case Code::kLimit:
      return "limit";
    case Code::kNotSupported:
      return "not_supported";
    case Code::kDurabilityUnknown:
      return "durability_unknown";
    case Code::kConflict:
      return "conflict";
  }
  return "unknown";
}

Status Status::with_code(Code code, std::string message) {
  CELLAR_ASSERT(code != Code::kOk);
  return Status(std::make_shared<const Failure>(Failure{code, std::move(message), {}, {}}));
}

Status Status::not_found(std::string message) { return with_code(Code::kNotFound, std::move(message)); }
Status Status::invalid_argument(std::string message) {
  return with_code(Code::kInvalidArgument, std::move(message));
}
Status Status::corruption(std::string message) { return with_code(Code::kCorruption, std::move(message)); }
Status Status::io_error(std::string message) { return with_code(Code::kIoError, std::move(message)); }
Status Status::no_space(std::string message) { return with_code(Code::kNoSpace, std::move(message)); }
Status Status::locked(std::string message) { return with_code(Code::kLocked, std::move(message)); }
Status Status::read_only(std::string message) { return with_code(Code::kReadOnly, std::move(message)); }
Status Status::busy(std::string message) { return with_code(Code::kBusy, std::move(message)); }
Status Status::aborted(std::string message) { return with_code(Code::kAborted, std::move(message)); }
Status Status::limit(std::string message) { return with_code(Code::kLimit, std::move(message)); }
Status Status::not_supported(std::string message) {
  return with_code(Code::kNotSupported, std::move(message));
}
Status Status::durability_unknown(std::string message) {
  return with_code(Code::kDurabilityUnknown, std::move(message));
}
Status Status::conflict(std::string message) { return with_code(Code::kConflict, std::move(message)); }

Code Status::code() const { return ok() ? Code::kOk : failure_->code; }
std::string_view Status::message() const { return ok() ? std::string_view() : failure_->message; }
std::string_view Status::place() const { return ok() ? std::string_view() : failure_->place; }
std::string_view Status::hint() const { return ok() ? std::string_view() : failure_->hint; }

Status Status::with_context(std::string_view context) const {
  if (ok()) return {};
  Failure failure = *failure_;
  failure.message = std::string(context) + ": " + failure_->message;
  return Status(std::make_shared<const Failure>(std::move(failure)));
}

Status Status::at(std::string_view place) const {
  if (ok() || !failure_->place.empty()) return *this;
  Failure failure = *failure_;
  failure.place = place;
  return Status(std::make_shared<const Failure>(std::move(failure)));
}

Status Status::hinting(std::string_view hint) const {
  if (ok() || !failure_->hint.empty()) return *this;
  Failure failure = *failure_;
  failure.hint = hint;
  return Status(std::make_shared<const Failure>(std::move(failure)));
}

std::string Status::to_text() const {
  if (ok()) return "ok";
  std::string text(code_name(failure_->code));
  if (!failure_->message.empty()) text += ": " + failure_->message;
  if (!failure_->place.empty()) text += "; at " + failure_->place;
  if (!failure_->hint.empty()) text += "; hint: " + failure_->hint;
  return text;
}

std::ostream& operator<<(std::ostream& to, const Status& status) { return to << status.to_text(); }

namespace internal {

void die_of_missing_value(const Status& status) {
  std::fprintf(stderr, "cellar: value() was called on a Result that holds an error: %s\n",
               status.to_text().c_str());
  std::fflush(stderr);
  std::abort();
}

}  // namespace internal

}  // namespace cellar
