// Status and Result<T>: errors as values, with a code, a message, a place and a hint.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "cellar/visibility.h"

namespace CELLAR_PUBLIC cellar {

// The kind of failure that a Status reports. The names and values are stable. The command line prints them as
// CEL-… codes.
enum class Code : uint8_t {
  kOk,
  kNotFound,           // the thing that was named does not exist
  kInvalidArgument,    // the request has no meaning
  kCorruption,         // stored bytes are not those that were written
  kIoError,            // the operating system refused or failed
  kNoSpace,            // the medium or a quota is full
  kLocked,             // another process, or another Engine, has the store open
  kReadOnly,           // a write to something that only reads, or that an earlier failure made read-only
  kBusy,               // a limit on waiting was reached, or something is still in use: try again later
  kAborted,            // stopped on request before it was done
  kLimit,              // larger than a documented limit
  kNotSupported,       // well formed, but this build or version cannot do it
  kDurabilityUnknown,  // the write was made, but may not survive a crash
  kConflict,           // another write changed what a transaction relies on: begin a new one
};

// Returns "not_found", "invalid_argument", …; it lives forever.
std::string_view code_name(Code code);

// Status: success, or one failure with a message, a place and a hint. A value of one pointer, null if ok.
// Copies share the immutable failure. Any thread may read it; assign it like any value. RocksDB: Status.
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
  explicit operator bool() const = delete;  // "if (status)" reads both ways: write status.ok()

  Code code() const;
  bool is(Code code) const { return this->code() == code; }

  // Return text that lives as long as this Status or a copy of it. Empty if ok.
  // The message for people, outermost context first.
  std::string_view message() const CELLAR_LIFETIME_BOUND;
  // Where it happened ("tables/3/f/0a…: offset 4096"), or empty.
  std::string_view place() const CELLAR_LIFETIME_BOUND;
  // Returns what the reader can do about it, or an empty text.
  std::string_view hint() const CELLAR_LIFETIME_BOUND;

  // Returns this failure with one more phrase in front: "table users: " + message. Ok stays ok.
  Status with_context(std::string_view context) const;
  // Return this failure with a place or a hint, unless it has one already: the innermost place is the most
  // precise. Ok stays ok.
  Status at(std::string_view place) const;
  Status hinting(std::string_view hint) const;

  // Returns "corruption: table users: …; at …; hint: …", or "ok".
  std::string to_text() const;

 private:
  struct Failure;
  explicit Status(std::shared_ptr<const Failure> failure) : failure_(std::move(failure)) {}
  std::shared_ptr<const Failure> failure_;
};

// Writes Status::to_text().
std::ostream& operator<<(std::ostream& to, const Status& status);

// True for a T whose values return pointers into their own bytes. Then a temporary Result<T> refuses
// operator->, since the result would dangle.
template <class T>
inline constexpr bool kLendsItsBytes = false;

namespace internal {
// Ends the process with a message: a Result without a value was asked for its value.
[[noreturn]] void die_of_missing_value(const Status& status);
}  // namespace internal

// Result<T>: a T, or a Status that is not ok. A Result made of an ok Status is a bug of the program: it ends
// the process.
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
      : value_(std::in_place, std::forward<U>(value)) {}  // NOLINT: std::nullopt is a value of an optional T

  bool ok() const { return value_.has_value(); }
  // Returns the failure; ok if there is a value.
  const Status& status() const& CELLAR_LIFETIME_BOUND { return status_; }
  Status status() && { return std::move(status_); }

  // Return the value. Check ok() first: without a value the process ends with the message of the status. A
  // temporary Result returns the value itself, not a reference, so "for (auto& x : list().value())" is safe.
  T& value() & CELLAR_LIFETIME_BOUND { return checked(), *value_; }
  const T& value() const& CELLAR_LIFETIME_BOUND { return checked(), *value_; }
  T value() && { return checked(), std::move(*value_); }
  T& operator*() & CELLAR_LIFETIME_BOUND { return value(); }
  const T& operator*() const& CELLAR_LIFETIME_BOUND { return value(); }
  T operator*() && { return std::move(*this).value(); }
  T* operator->() & CELLAR_LIFETIME_BOUND { return &value(); }
  const T* operator->() const& CELLAR_LIFETIME_BOUND { return &value(); }
  T* operator->() && requires(!kLendsItsBytes<T>) { return &value(); }
  T* operator->() && requires(kLendsItsBytes<T>) = delete;  // keep the Result, or use Table::get_row

  // Returns the value, or `other` if this holds a failure.
  T value_or(T other) && { return value_ ? std::move(*value_) : std::move(other); }

 private:
  void checked() const {
    if (!value_) internal::die_of_missing_value(status_);
  }
  std::optional<T> value_;
  Status status_;
};

namespace internal {
inline Status status_of(Status status) { return status; }
template <class T>
Status status_of(const Result<T>& result) {
  return result.status();
}
}  // namespace internal

}  // namespace cellar

#define CELLAR_CONCAT_INNER(a, b) a##b
#define CELLAR_CONCAT(a, b) CELLAR_CONCAT_INNER(a, b)

// CELLAR_TRY(expression) returns from the enclosing function if the expression, a Status or a Result, is not
// ok. The value of a Result is dropped.
#define CELLAR_TRY(...)                                                                  \
  do {                                                                                   \
    if (::cellar::Status cellar_try_status = ::cellar::internal::status_of(__VA_ARGS__); \
        !cellar_try_status.ok())                                                         \
      return cellar_try_status;                                                          \
  } while (false)

// CELLAR_TRY_ASSIGN(target, expression) declares or assigns `target` from a Result, or returns its Status
// from the enclosing function. The expression may contain commas. It is three statements: as the body of an
// `if` or a `for` write it in braces. Write a target with a comma in parentheses:
//
//   CELLAR_TRY_ASSIGN(const RowBatch row, table->get(Get("user42")));
//   CELLAR_TRY_ASSIGN((std::map<int, Row> rows), rows_by_number(1, 2));
//   CELLAR_TRY_ASSIGN((const auto [first, last]), ends());
#define CELLAR_TRY_ASSIGN(target, ...) \
  CELLAR_TRY_ASSIGN_INNER(CELLAR_CONCAT(cellar_result_, __COUNTER__), CELLAR_BARE(target), __VA_ARGS__)
#define CELLAR_TRY_ASSIGN_INNER(result, target, ...) \
  auto result = (__VA_ARGS__);                       \
  if (!result.ok()) return result.status();          \
  target = std::move(result).value()

// CELLAR_BARE(x) is x without the parentheses around it, if there are any.
#define CELLAR_BARE(x) CELLAR_BARE_JOIN(CELLAR_BARE_MARK x)
#define CELLAR_BARE_MARK(...) CELLAR_BARE_MARK __VA_ARGS__
#define CELLAR_BARE_JOIN(...) CELLAR_BARE_ERASE(__VA_ARGS__)
#define CELLAR_BARE_ERASE(...) CELLAR_BARE_NOTHING_##__VA_ARGS__
#define CELLAR_BARE_NOTHING_CELLAR_BARE_MARK
