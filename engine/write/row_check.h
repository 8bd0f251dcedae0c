// Conditions of CheckAndMutate: checks that they are valid, and whether they hold.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "cellar/check_and_mutate.h"
#include "engine/store/table_state.h"
#include "engine/write/row_changes.h"

namespace cellar {

// Checked: whether a condition holds, and the timestamp of the tested cell. The tested cell is the newest
// visible one of its column, or the first one that its filter passed. Without such a cell the timestamp is 0.
struct Checked {
  bool matches = false;
  int64_t timestamp = 0;
};

// Reads the row with `read` and decides.
Result<Checked> check_condition(const CheckAndMutate& check, const RowChanges::Read& read);

// kInvalidArgument if the check has no condition or no change, or if the change is of another row or family.
// Adds the stores that the change writes to `touched`.
Status check_change(TableState& table, const CheckAndMutate& check, std::vector<Store*>& touched);
// The same for the mutations of one row.
Status check_mutations(TableState& table, const RowMutations& mutations, std::vector<Store*>& touched);

}  // namespace cellar
