// Parts that the calls of a region share: changes without a condition, and results in answers.
#pragma once

#include "cellar/check_and_mutate.h"
#include "cellar/table.h"
#include "hbase/serve/call.h"
#include "hbase/wire/from_wire_mutation.h"

namespace cellar::hbase::wire {
class WireResult;
}

namespace cellar::hbase::serve {

// Makes a change. The row of the answer has the new cells of an increment or append.
Result<ActionResult> apply_change(Table& table, const wire::ReadMutation& mutation);

// Add the cells of a row to the answer: to its cell block, or to the message if the client takes none.
void add_result(Call& call, const RowView& row, wire::WireResult& result);
void add_result(Call& call, const Row& row, wire::WireResult& result);

}  // namespace cellar::hbase::serve
