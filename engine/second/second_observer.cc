// SecondObserver: the difference of two reads.
#include "engine/second/second_observer.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "base/assert.h"

namespace cellar {

Put second_row_put(std::string_view key, const SecondRows::Cells& after, const SecondRows::Cells* before) {
  Put put(key);
  for (const auto& [column, value] : after) {
    const auto known = before != nullptr ? before->find(column) : after.end();
    if (before == nullptr || known == before->end() || known->second != value)
      put.add_at(column.first, column.second, kSecondTimestamp, value);
  }
  return put;
}

Status SecondObserver::before_write(const RowView& row, ObserverContext& context) {
  const auto decides = [&](const CellView& cell) { return definition_.uses(cell.family()); };
  if (std::ranges::none_of(row, decides)) return {};
  const Result<std::shared_ptr<Table>> found = context.table(table_);
  if (!found.ok())
    return Status::conflict(fmt::format("second table {} was dropped during the write", table_))
        .hinting("write again");
  Get get(row.row());
  definition_.choose(get);
  CELLAR_TRY_ASSIGN(const RowBatch old, context.get(context.observed_table(), get));
  CELLAR_TRY_ASSIGN(const RowBatch fresh, context.get_after(context.observed_table(), get));
  CELLAR_TRY_ASSIGN(const SecondRows after, definition_.rows_of(fresh.row()));
  // A row that cannot have a key has none: the table was not built with it.
  const Result<SecondRows> known = definition_.rows_of(old.row());
  const SecondRows before = known.ok() ? *known : SecondRows();
  CELLAR_ASSERT(std::ranges::is_sorted(after.keys) && std::ranges::is_sorted(before.keys));
  for (const std::string& key : before.keys)
    if (!std::ranges::binary_search(after.keys, key)) {
      const Delete erase(key, kSecondTimestamp);
      CELLAR_TRY(context.erase(*found, erase));
    }
  for (const std::string& key : after.keys) {
    const bool there = std::ranges::binary_search(before.keys, key);
    const Put put = second_row_put(key, after.cells, there ? &before.cells : nullptr);
    if (!put.empty()) CELLAR_TRY(context.put(*found, put));
    if (!there) continue;
    Delete gone(key, kSecondTimestamp);
    bool any = false;
    for (const auto& [column, value] : before.cells)
      if (!after.cells.contains(column)) {
        gone.column(column.first, column.second);
        any = true;
      }
    if (any) CELLAR_TRY(context.erase(*found, gone));
  }
  return {};
}

}  // namespace cellar
