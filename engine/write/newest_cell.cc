// newest_in_memory: one search in one memtable, instead of a merge of all sources.
#include "engine/write/newest_cell.h"

#include "base/assert.h"
#include "cell/cell_key.h"
#include "cell/rules.h"

namespace cellar {
namespace {

// Returns whether the cell has outlived the family's time to live or its own.
bool is_over(const FamilyRules& family, const CellView& cell, Mvcc& mvcc) {
  if (family.ttl_ms == kTtlForeverMs && cell.tags_size == 0) return false;  // and the clock is not read
  const int64_t now_ms = mvcc.now_ms();
  return expired(family, cell.timestamp, now_ms) || cell_ttl_over(cell, now_ms);
}

// Search: a key, and where the thread's last search for it ended. A hot counter is found there again.
struct Search {
  OwnedCell key;
  Spot spot;
  bool used = false;

  void aim(std::string_view row, std::string_view family, std::string_view qualifier) {
    CELLAR_ASSERT(!row.empty());
    const CellView& last = key.view();
    if (used && last.row() == row && last.family() == family && last.qualifier() == qualifier) return;
    first_of_column(key, row, family, qualifier);
    spot = {};
    used = true;
  }
};

}  // namespace

// The memtable's first cell of the column is newer than everything outside the memtable. So no put there
// takes its place, and no marker there reaches up to it. A marker of the column in the memtable would come
// first, as newer cells and, at one time, markers do. A marker of the family sorts elsewhere; with one, a get
// decides.
bool newest_in_memory(const Store& store, std::string_view row, std::string_view qualifier, Mvcc& mvcc,
                      NewestCell& found) {
  found.view = store.view();
  const StoreView& view = *found.view;
  const FamilyRules& family = view.config->rules;
  if (view.active.get() == nullptr || family.delete_order != MarkerOrder::kTimestamp) return false;
  const Memtable& memtable = *view.active.get();
  if (!memtable.may_contain_row(row) || memtable.summary().family_deletes != 0) return false;
  thread_local Search search;
  search.aim(row, store.family(), qualifier);
  if (!memtable.find(search.key.view(), found.cell, search.spot)) return false;
  found.spot = search.spot;
  const CellView& cell = found.cell;
  CELLAR_DCHECK(cell.family() == store.family());
  return cell.row() == row && cell.qualifier() == qualifier && cell.type() == CellType::kPut &&
         cell.timestamp > view.older_time_max && cell.sequence <= mvcc.read_point() &&
         !is_over(family, cell, mvcc);
}

}  // namespace cellar
