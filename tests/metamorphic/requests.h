// Requests: what a plan's operations are in the engine's API, and what a check comes to in the model.
#pragma once

#include <string>
#include <vector>

#include "cellar/check_and_mutate.h"
#include "tests/metamorphic/operations.h"

namespace cellar::testing {

Put put_of(const RowChange& change);
Delete delete_of(const RowChange& change);
Increment increment_of(const RowChange& change);
Append append_of(const RowChange& change);
RowMutations::Mutation mutation_of(const RowChange& change);
RowMutations mutations_of(const std::vector<RowChange>& rows);

// Whether what is written depends on what is there.
bool reads(const Operation& operation);
// Whether the change is an increment or append, which answers with cells.
bool computes(const RowChange& change);
// "expected OP stored"; null: nothing is stored.
bool model_holds(const ModelCheck& check, const std::string& expected, const Cell* stored);

}  // namespace cellar::testing
