// Applies single changes to tables, and writes results into answers.
#include "hbase/serve/apply.h"

#include <variant>

#include "hbase/wire/client.pb.h"
#include "hbase/wire/to_wire_result.h"

namespace cellar::hbase::serve {
namespace {

template <class AnyRow>
void add_any(Call& call, const AnyRow& row, wire::WireResult& result) {
  if (!call.cell_blocks()) return wire::to_wire_result(row, result);
  result.set_associated_cell_count(static_cast<int32_t>(wire::append_row(call.cell_block(), row)));
}

}  // namespace

Result<ActionResult> apply_change(Table& table, const wire::ReadMutation& mutation) {
  ActionResult result;
  if (const auto* put = std::get_if<Put>(&mutation.mutation)) {
    CELLAR_TRY(table.put(*put, mutation.options));
  } else if (const auto* erase = std::get_if<Delete>(&mutation.mutation)) {
    CELLAR_TRY(table.erase(*erase, mutation.options));
  } else {
    RowMutations one(wire::row_of(mutation.mutation));
    one.add(mutation.mutation);
    CELLAR_TRY_ASSIGN(result.row, table.mutate(one, mutation.options));
  }
  return result;
}

void add_result(Call& call, const RowView& row, wire::WireResult& result) { add_any(call, row, result); }
void add_result(Call& call, const Row& row, wire::WireResult& result) { add_any(call, row, result); }

}  // namespace cellar::hbase::serve
