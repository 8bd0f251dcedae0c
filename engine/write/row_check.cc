// Conditions of CheckAndMutate: reads the row and compares.
#include "engine/write/row_check.h"

#include <fmt/format.h>

#include <compare>
#include <type_traits>
#include <variant>

#include "base/assert.h"
#include "base/bytes.h"
#include "engine/values/check_reader.h"

namespace cellar {
namespace {

Status check_same_row(std::string_view what, std::string_view row, std::string_view of,
                      std::string_view wanted) {
  if (row == wanted) return {};
  return Status::invalid_argument(
             fmt::format("the {} is for row {}, the {} for row {}", what, escaped(row), of, escaped(wanted)))
      .hinting("row mutations change a single row; Engine::write takes a Batch of many rows");
}

std::string_view name_of(const Put&) { return "put"; }
std::string_view name_of(const Delete&) { return "delete"; }
std::string_view name_of(const Increment&) { return "increment"; }
std::string_view name_of(const Append&) { return "append"; }

}  // namespace

Result<Checked> check_condition(const CheckAndMutate& check, const RowChanges::Read& read) {
  const CheckReader reader(check);
  Get get(check.row());
  get.time_range(reader.time_from(), reader.time_until());
  RowBatch found;
  if (reader.filter() != nullptr) {
    // Every family is asked about, as in HBase: SKIP may find a cell in another one that is out.
    get.filter(reader.filter()).load_families_on_demand(false);
    CELLAR_TRY(read(get, found));
    if (found.empty()) return Checked{};
    return Checked{true, found.row().cells().front().timestamp};
  }
  CELLAR_ASSERT(reader.has_column());  // check_change() refuses a check without a condition
  CELLAR_TRY(read(get.column(reader.family(), reader.qualifier()), found));
  const std::string_view expected = reader.expected();
  if (found.empty()) return Checked{expected.empty() && reader.compare() != CompareOp::kNotEqual, 0};
  const CellView& cell = found.row().cells().front();
  if (expected.empty())
    return Checked{(cell.value_size == 0) == (reader.compare() != CompareOp::kNotEqual), cell.timestamp};
  return Checked{holds(reader.compare(), expected <=> cell.value_bytes()), cell.timestamp};
}

Status check_mutations(TableState& table, const RowMutations& mutations, std::vector<Store*>& touched) {
  if (mutations.mutations().empty())
    return Status::invalid_argument(
               fmt::format("the mutations of row \"{}\" are empty", escaped(mutations.row())))
        .hinting("add at least one");
  for (const RowMutations::Mutation& each : mutations.mutations()) {
    const auto check = [&](const auto& mutation) {
      return check_same_row(name_of(mutation), mutation.row(), "row mutations", mutations.row());
    };
    CELLAR_TRY(std::visit(check, each));
    CELLAR_TRY(add_touched(table, each, touched));
    CELLAR_ASSERT(!touched.empty());
  }
  return {};
}

Status check_change(TableState& table, const CheckAndMutate& check, std::vector<Store*>& touched) {
  const CheckReader reader(check);
  if (!reader.has_column() && reader.filter() == nullptr)
    return Status::invalid_argument(
               fmt::format("the check of row \"{}\" has no condition", escaped(check.row())))
        .hinting("add one: if_equals, if_not_exists, if_passes, …");
  if (reader.has_column() && reader.compare() == CompareOp::kNoOp)
    return Status::invalid_argument("the check compares by no_op, which is never true");
  if (reader.has_column() && table.families().find(reader.family()) == nullptr)
    return table.unknown_family(reader.family());
  return std::visit(
      [&](const auto& change) -> Status {
        using Change = std::remove_cvref_t<decltype(change)>;
        if constexpr (std::is_same_v<Change, std::monostate>) {
          return Status::invalid_argument(
                     fmt::format("the check of row \"{}\" has no change", escaped(check.row())))
              .hinting("add the change: then(put)");
        } else if constexpr (std::is_same_v<Change, RowMutations>) {
          CELLAR_TRY(check_same_row("change", change.row(), "check", check.row()));
          return check_mutations(table, change, touched);
        } else {
          CELLAR_TRY(check_same_row(name_of(change), change.row(), "check", check.row()));
          return add_touched(table, change, touched);
        }
      },
      reader.change());
}

}  // namespace cellar
