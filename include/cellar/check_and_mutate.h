// CheckAndMutate: a change of a row that is made only if a condition on the row holds.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "cellar/bytes_only.h"
#include "cellar/filter.h"
#include "cellar/mutation.h"
#include "cellar/row_batch.h"

namespace CELLAR_PUBLIC cellar {

// CheckAndMutate: a condition and a change of the same row. No other write comes between the check and the
// change. A value; one thread at a time. HBase: CheckAndMutate.
//
//   table->check_and_mutate(CheckAndMutate("user42").if_equals("d", "name", "Ada").then(put))
//
// The condition tests the newest visible value of one column (if_equals, if_not_exists, if_stored,
// if_matches). Or it requires that a filter passes a cell of the row (if_passes). A check has exactly one
// condition: each of these functions replaces the one set before. A check without a condition or without a
// change is refused with kInvalidArgument.
//
// Values are compared byte by byte. An empty expected value means what it means in HBase, whose client does
// not distinguish it from a missing one:
//  - The column has a value, and the expected value is not empty: the two are compared.
//  - The column has no value, and the expected value is not empty: the condition fails, also for kNotEqual.
//  - The expected value is empty: kNotEqual matches a value that is not empty. Every other operator
//    matches an empty value and a missing one.
class CheckAndMutate {
 public:
  using Change = std::variant<std::monostate, Put, Delete, Increment, Append, RowMutations>;

  explicit CheckAndMutate(std::string_view row) : row_(row) {}
  template <internal::NotBytes Number>
  explicit CheckAndMutate(Number) {
    internal::refuse_number<Number>();
  }

  CheckAndMutate& if_equals(std::string_view family, std::string_view qualifier, std::string_view expected) {
    return if_matches(family, qualifier, CompareOp::kEqual, expected);
  }
  // Holds if the column has no value, or an empty one.
  CheckAndMutate& if_not_exists(std::string_view family, std::string_view qualifier) {
    return if_matches(family, qualifier, CompareOp::kEqual, {});
  }
  // Holds if `stored compare value`: if_stored("c", "stock", CompareOp::kGreater, "5") means "stored > 5".
  CheckAndMutate& if_stored(std::string_view family, std::string_view qualifier, CompareOp compare,
                            std::string_view value);
  // Holds if `expected compare stored`, the opposite direction of if_stored: kLess means "expected < stored".
  // HBase: CheckAndMutate.ifMatches.
  CheckAndMutate& if_matches(std::string_view family, std::string_view qualifier, CompareOp compare,
                             std::string_view expected);
  template <internal::NotBytes Number>
  CheckAndMutate& if_equals(std::string_view, std::string_view, Number) {
    return internal::refuse_number<Number>(), *this;
  }
  template <internal::NotBytes Number>
  CheckAndMutate& if_stored(std::string_view, std::string_view, CompareOp, Number) {
    return internal::refuse_number<Number>(), *this;
  }
  template <internal::NotBytes Number>
  CheckAndMutate& if_matches(std::string_view, std::string_view, CompareOp, Number) {
    return internal::refuse_number<Number>(), *this;
  }
  // Holds if a get of the row with this filter returns something. A null filter is no condition.
  CheckAndMutate& if_passes(FilterPtr filter);
  // Lets the condition look only at cells with a timestamp in [from, until).
  CheckAndMutate& time_range(int64_t from, int64_t until) { return from_ = from, until_ = until, *this; }

  // Sets the change, of the same row. Puts without a timestamp get one that is not older than the cell that
  // was checked.
  CheckAndMutate& then(Change change) { return change_ = std::move(change), *this; }

  const std::string& row() const { return row_; }

 private:
  friend class CheckReader;  // the engine's

  std::string row_;
  bool has_column_ = false;  // the condition is on a column
  std::string family_;
  std::string qualifier_;
  CompareOp compare_ = CompareOp::kEqual;  // expected_ OP stored
  std::string expected_;
  FilterPtr filter_;
  int64_t from_ = 0;
  int64_t until_ = kLatestTimestamp;
  Change change_;
};

// ActionResult: what Table::check_and_mutate and each action of Table::batch returns.
struct ActionResult {
  // True if the condition of a CheckAndMutate held, so that its change was made. Other actions: true.
  bool matched = true;
  // The row that a get found, without cells if it found nothing; or the new cells of increments and appends.
  Row row;
};

}  // namespace cellar
