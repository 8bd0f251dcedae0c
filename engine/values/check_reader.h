// CheckReader: what the engine reads of a CheckAndMutate: its condition and its change.
#pragma once

#include <cstdint>
#include <string>

#include "cellar/check_and_mutate.h"

namespace cellar {

// A borrowed view of one check, which must outlive it.
class CheckReader {
 public:
  explicit CheckReader(const CheckAndMutate& check) : check_(check) {}

  // Returns whether the condition is on a column. Else it is filter(), or missing if that is null.
  bool has_column() const { return check_.has_column_; }
  const std::string& family() const { return check_.family_; }
  const std::string& qualifier() const { return check_.qualifier_; }
  // The condition holds if `expected() compare() stored`.
  CompareOp compare() const { return check_.compare_; }
  const std::string& expected() const { return check_.expected_; }
  const FilterPtr& filter() const { return check_.filter_; }
  int64_t time_from() const { return check_.from_; }
  int64_t time_until() const { return check_.until_; }
  const CheckAndMutate::Change& change() const { return check_.change_; }

 private:
  const CheckAndMutate& check_;
};

}  // namespace cellar
