// Refuses numbers where the API takes bytes: rows, qualifiers and values. The compiler says what to write.
#pragma once

#include <type_traits>

#include "cellar/visibility.h"

namespace CELLAR_PUBLIC cellar {
namespace internal {

// The types that are no bytes: numbers, enumerators and null pointers. A literal 0 is a null pointer too.
template <class T>
concept NotBytes = std::is_arithmetic_v<T> || std::is_enum_v<T> || std::is_null_pointer_v<T>;

template <class T>
inline constexpr bool kIsBytes = !NotBytes<T>;

// Stops the compilation with an explanation.
template <class T>
constexpr void refuse_number() {
  static_assert(
      kIsBytes<T>,
      "Rows, qualifiers and values are bytes, and a number does not say which bytes. Encode it first, as "
      "HBase's Bytes.toBytes does: plain_int64(n) for a long or a counter, plain_int32(n) for an int, "
      "plain_float64(x) for a double (cellar/keys.h). For digits, write std::to_string(n).");
}

}  // namespace internal
}  // namespace cellar
