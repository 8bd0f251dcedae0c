// Action: one of many requests that are handed over together and answered one by one.
#pragma once

#include <variant>

#include "cellar/check_and_mutate.h"
#include "cellar/mutation.h"
#include "cellar/query.h"
#include "cellar/row_batch.h"
#include "cellar/status.h"

namespace CELLAR_PUBLIC cellar {

using Action = std::variant<Get, Put, Delete, Increment, Append, RowMutations, CheckAndMutate>;

struct ActionResult {
  Status status;
  Row row;              // what a get found; the new cells of increments and appends
  bool matched = true;  // of a CheckAndMutate: the condition held, and the change was made
};

}  // namespace cellar
