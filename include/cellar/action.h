// Action: one of several requests that Table::batch takes together and answers one by one.
#pragma once

#include <variant>

#include "cellar/check_and_mutate.h"
#include "cellar/mutation.h"
#include "cellar/query.h"
#include "cellar/row_batch.h"
#include "cellar/status.h"

namespace CELLAR_PUBLIC cellar {

using Action = std::variant<Get, Put, Delete, Increment, Append, RowMutations, CheckAndMutate>;

}  // namespace cellar
