// CheckAndMutate: a change of a row that is made only if the row is as expected.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "cellar/filter.h"
#include "cellar/mutation.h"
#include "cellar/row_batch.h"

namespace CELLAR_PUBLIC cellar {

// A condition and what follows, both on one row, with nothing between them:
//
//   table->check_and_mutate(CheckAndMutate("user42").if_equals("d", "name", "Ada").then(put))
//
// The condition is about the newest visible value of a column, or about the row: whether a filter passes any
// of it. It needs one, and the last one named counts.
// Values are compared byte by byte, and empty ones as in HBase, whose client knows no difference between an
// empty expected value and none:
//  - there is a value, and one is expected: they are compared;
//  - there is none, and one is expected: no match, kNotEqual included;
//  - an empty one is expected: kNotEqual matches a value that is not empty; every other operator matches a
//    value that is empty and a missing one.
class CheckAndMutate {
 public:
  using Change = std::variant<std::monostate, Put, Delete, Increment, Append, RowMutations>;
  struct ColumnCondition {
    std::string family;
    std::string qualifier;
    CompareOp compare = CompareOp::kEqual;  // expected OP stored
    std::string expected;
  };

  explicit CheckAndMutate(std::string_view row) : row_(row) {}

  CheckAndMutate& if_equals(std::string_view family, std::string_view qualifier, std::string_view expected) {
    return if_matches(family, qualifier, CompareOp::kEqual, expected);
  }
  // There is no value, or it is empty.
  CheckAndMutate& if_not_exists(std::string_view family, std::string_view qualifier) {
    return if_matches(family, qualifier, CompareOp::kEqual, {});
  }
  // The stored value stands so to `value`: if_stored("c", "stock", CompareOp::kGreater, "5") reads
  // "stored > 5".
  CheckAndMutate& if_stored(std::string_view family, std::string_view qualifier, CompareOp compare,
                            std::string_view value);
  // In HBase's direction, which is the other one: `expected` stands so to the stored value; kLess matches
  // when expected < stored.
  CheckAndMutate& if_matches(std::string_view family, std::string_view qualifier, CompareOp compare,
                             std::string_view expected);
  // A get of the row with this filter returns something. HBase's filter form.
  CheckAndMutate& if_passes(FilterPtr filter) {
    filter_ = std::move(filter);
    condition_.reset();
    return *this;
  }
  // Only cells with a timestamp in [from, until) are looked at by the condition.
  CheckAndMutate& time_range(int64_t from, int64_t until) { return from_ = from, until_ = until, *this; }

  // What is done, to the same row. Puts without a timestamp get one not older than the cell that was checked.
  CheckAndMutate& then(Change change) { return change_ = std::move(change), *this; }

  const std::string& row() const { return row_; }
  const std::optional<ColumnCondition>& condition() const { return condition_; }
  const FilterPtr& filter() const { return filter_; }
  int64_t time_from() const { return from_; }
  int64_t time_until() const { return until_; }
  const Change& change() const { return change_; }

 private:
  std::string row_;
  std::optional<ColumnCondition> condition_;
  FilterPtr filter_;
  int64_t from_ = 0;
  int64_t until_ = kLatestTimestamp;
  Change change_;
};

struct CheckAndMutateResult {
  bool success = false;  // the condition held, and the change was made
  Row row;               // the new cells of increments and appends
};

}  // namespace cellar
