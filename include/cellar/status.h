// Status and Result<T>: errors as values, with a code, a message, a place and a hint.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "cellar/visibility.h"

namespace CELLAR_PUBLIC cellar {

// What kind of failure a Status reports. The names are stable; the command line prints them as CEL-… codes.
enum class Code : uint8_t {
  kOk,
  kNotFound,           // what was asked for does not exist
  kInvalidArgument,    // the caller's request cannot mean anything
  kCorruption,         // stored bytes are not what was written
  kIoError,            // the operating system refused or failed
  kNoSpace,            // the medium or a quota is full
  kLocked,             // somebody else has the store open
  kReadOnly,           // a write to something opened for reading, or poisoned by an earlier failure
  kBusy,               // try again later: a limit on waiting was reached
  kAborted,            // stopped on request before it was done
  kLimit,              // larger than a documented limit
  kNotSupported,       // well formed, but this build or version cannot do it
  kDurabilityUnknown,  // the write was made, whether it survives a crash is not known
  kConflict,           // somebody else changed what a transaction relies on; begin a new one
};

// "not_found", "invalid_argument", …; immutable, lives forever.
std::string_view code_name(Code code);

// Status: success or one failure. A shared pointer, null when ok: copying shares the immutable failure.
// Any thread may read one; assigning needs the usual care of a value.
class [[nodiscard]] Status {
 public:
  Status() = default;

  static Status not_found(std::string message);
  static Status invalid_argument(std::string message);
  static Status corruption(std::string message);
  static Status io_error(std::string message);
  static Status no_space(std::string message);
  static Status locked(std::string message);
  static Status read_only(std::string message);
  static Status busy(std::string message);
  static Status aborted(std::string message);
  static Status limit(std::string message);
  static Status not_supported(std::string message);
  static Status durability_unknown(std::string message);
  static Status conflict(std::string message);
  static Status with_code(Code code, std::string message);

  bool ok() const { return failure_ == nullptr; }
  explicit operator bool() const = delete;  // "if (status)" reads both ways; write status.ok()

  Code code() const;
  bool is(Code code) const { return this->code() == code; }

  // The sentence for people, outermost context first; empty when ok. Lives as long as a copy of this Status.
  std::string_view message() const;
  // Where it happened ("tables/3/f/0a…: offset 4096"), or empty.
  std::string_view place() const;
  // What the reader can do about it, or empty.
  std::string_view hint() const;

  // This failure with one more phrase in front ("table users: " + message). Ok stays ok.
  Status with_context(std::string_view context) const;
  // This failure with its place or hint set, unless it already has one (the innermost knows best). Ok stays
  // ok.
  Status at(std::string_view place) const;
  Status hinting(std::string_view hint) const;

  // "corruption: table users: …; at …; hint: …", or "ok".
  std::string to_text() const;

 private:
  struct Failure;
  explicit Status(std::shared_ptr<const Failure> failure) : failure_(std::move(failure)) {}
  std::shared_ptr<const Failure> failure_;
};

namespace internal {
// Ends the process with a message: a Result without a value was asked for its value.
[[noreturn]] void die_of_missing_value(const Status& status);
}  // namespace internal

// Result<T>: a T or a Status that is not ok. Constructing one from an ok Status is a broken promise and
// aborts.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}         // NOLINT: implicit on purpose
  Result(Status status) : status_(std::move(status)) {  // NOLINT: implicit on purpose
    if (status_.ok()) internal::die_of_missing_value(status_);
  }
  template <class U>
  requires(std::is_convertible_v<U, T> && !std::is_same_v<std::remove_cvref_t<U>, T> &&
           !std::is_same_v<std::remove_cvref_t<U>, Status> &&
           !std::is_same_v<std::remove_cvref_t<U>, Result<T>>) Result(U&& value)  // NOLINT: constrained
      : value_(std::forward<U>(value)) {}  // NOLINT: implicit on purpose

  bool ok() const { return value_.has_value(); }
  const Status& status() const { return status_; }  // ok when there is a value

  // The value. Without one the process ends, naming the status: check ok() first.
  T& value() & { return checked(), *value_; }
  const T& value() const& { return checked(), *value_; }
  T value() && { return checked(), std::move(*value_); }  // by value: "for (x : *list())" must not dangle
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  // The value, or `other` when this holds a failure.
  T value_or(T other) && { return value_ ? std::move(*value_) : std::move(other); }

 private:
  void checked() const {
    if (!value_) internal::die_of_missing_value(status_);
  }
  std::optional<T> value_;
  Status status_;
};

}  // namespace cellar

#define CELLAR_CONCAT_INNER(a, b) a##b
#define CELLAR_CONCAT(a, b) CELLAR_CONCAT_INNER(a, b)

// Returns from the enclosing function when `expression` (a Status) is not ok.
#define CELLAR_TRY(expression)                                                      \
  do {                                                                              \
    if (::cellar::Status cellar_try_status = (expression); !cellar_try_status.ok()) \
      return cellar_try_status;                                                     \
  } while (false)

// Declares or assigns `target` from `expression` (a Result), or returns its Status from the enclosing
// function.
#define CELLAR_TRY_ASSIGN(target, expression) \
  CELLAR_TRY_ASSIGN_INNER(CELLAR_CONCAT(cellar_result_, __COUNTER__), target, expression)
#define CELLAR_TRY_ASSIGN_INNER(result, target, expression) \
  auto result = (expression);                               \
  if (!result.ok()) return result.status();                 \
  target = std::move(result).value()
