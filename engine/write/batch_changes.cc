// BatchChanges: one visit for each question about an entry.
#include "engine/write/batch_changes.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

#include "base/assert.h"
#include "base/bytes.h"
#include "engine/values/batch_reader.h"
#include "engine/values/mutation_reader.h"
#include "engine/write/row_changes.h"

namespace cellar {
namespace {

std::string_view row_of(const Cell& cell) { return cell.row; }
std::string_view row_of(const RowMutation& mutation) { return mutation.row(); }

bool follows_from_row(const Put&) { return false; }
bool follows_from_row(const Cell&) { return false; }
bool follows_from_row(const Delete& erase) { return looks_up(erase); }
bool follows_from_row(const Increment&) { return true; }
bool follows_from_row(const Append&) { return true; }

// A put is checked further, and a delete and a cell at all, when their cells are added.
Status check_entry(TableState&, const Cell&) { return {}; }
Status check_entry(TableState&, const Delete&) { return {}; }
Status check_entry(TableState&, const Put& put) {
  return put.empty() ? no_columns("put", put.row()) : Status();
}
template <class ReadingMutation>
Status check_entry(TableState& table, const ReadingMutation& mutation) {
  std::vector<Store*> touched;
  return add_touched(table, mutation, touched);
}

using Columns = std::set<std::pair<std::string_view, std::string_view>>;  // family, qualifier

void add_pieces(const RowMutation& mutation, Columns& columns) {
  const MutationReader reader(mutation);
  for (const MutationPiece& each : reader.pieces())
    columns.emplace(reader.family(each), reader.qualifier(each));
}
void add_columns(const Increment& increment, Columns& columns) { add_pieces(increment, columns); }
void add_columns(const Append& append, Columns& columns) { add_pieces(append, columns); }
template <class BlindMutation>
void add_columns(const BlindMutation&, Columns&) {}

}  // namespace

Result<BatchChanges> BatchChanges::check(const TableHost& host, const Batch& batch) {
  BatchChanges changes;
  changes.all_.reserve(entries_of(batch).size());
  TableState* table = nullptr;
  const Table* last = nullptr;
  for (const BatchEntry& entry : entries_of(batch)) {
    if (entry.table != last) table = TableState::of(host, entry.table);
    last = entry.table;
    if (table == nullptr) return Status::invalid_argument("the batch names a table of another engine");
    CELLAR_TRY(table->check_writable());
    CELLAR_TRY(std::visit([&](const auto& each) { return check_entry(*table, each); }, entry.change));
    changes.all_.push_back(
        {.table = table,
         .row = std::visit([](const auto& each) { return row_of(each); }, entry.change),
         .looks_up = std::visit([](const auto& each) { return follows_from_row(each); }, entry.change),
         .entry = &entry});
  }
  CELLAR_ASSERT(changes.all_.size() == entries_of(batch).size());
  return changes;
}

std::vector<std::string_view> BatchChanges::rows() const {
  std::vector<std::string_view> rows;
  rows.reserve(all_.size());
  for (const Change& each : all_) rows.push_back(each.row);
  return rows;
}

std::vector<Store*> BatchChanges::stores() const {
  std::vector<Store*> stores;
  for (const Change& change : all_)
    for (const auto& store : change.table->families().stores)
      if (std::ranges::find(stores, store.get()) == stores.end()) stores.push_back(store.get());
  CELLAR_ASSERT(stores.empty() == all_.empty());  // every table has a family
  return stores;
}

Status BatchChanges::check_changed_once() const {
  std::set<std::tuple<const TableState*, std::string_view, std::string_view, std::string_view>> changed;
  for (const Change& change : all_) {
    Columns columns;
    std::visit([&](const auto& each) { add_columns(each, columns); }, change.entry->change);
    for (const auto& [family, qualifier] : columns)
      if (!changed.emplace(change.table, change.row, family, qualifier).second)
        return Status::invalid_argument(
                   fmt::format("row {}, column {}:{} is changed by two increments or appends of the batch",
                               escaped(change.row), family, escaped(qualifier)))
            .hinting("add them up, or write two batches");
  }
  return {};
}

Status BatchChanges::add_to(PreparedBatch& prepared, int64_t now_ms) const {
  for (const Change& change : all_) {
    CELLAR_ASSERT(change.table != nullptr && change.entry != nullptr);
    RowChanges row(*change.table, prepared, now_ms);
    CELLAR_TRY(std::visit([&](const auto& each) { return row.apply(each); }, change.entry->change));
  }
  return {};
}

}  // namespace cellar
