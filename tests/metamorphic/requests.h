// Requests: what a plan's operations are in the engine's API, and what a check comes to in the model.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "cellar/check_and_mutate.h"
#include "cellar/filter.h"
#include "tests/metamorphic/mirror.h"
#include "tests/metamorphic/operations.h"

namespace cellar::testing {

Put put_of(const RowChange& change);
Delete delete_of(const RowChange& change);
Increment increment_of(const RowChange& change);
Append append_of(const RowChange& change);
RowMutations::Mutation mutation_of(const RowChange& change);
RowMutations mutations_of(const std::vector<RowChange>& rows);

// Returns true if the written cells depend on stored ones.
bool reads(const Operation& operation);
// Returns true if the change is an increment or append, which answers with cells.
bool computes(const RowChange& change);
// The values of an increment's columns, in the order of the request, of the cells it comes to; of anything
// else none.
std::vector<int64_t> counters_of(const RowChange& change, const std::map<std::string, Cells>& cells);
// Adds cells of one write: of equal coordinates the last one stays.
void add_written(const Cells& cells, Cells& to);
// "expected OP stored"; null: nothing is stored.
bool model_holds(const ModelCheck& check, const std::string& expected, const Cell* stored);

// Copies the columns, versions, times and limits of `scan` that a get has as well.
void choose(const ModelScan& scan, auto& query) {
  for (const auto& [family, columns] : scan.columns) {
    query.family(family);
    for (const std::string& column : columns) query.column(family, column);
  }
  query.versions(scan.versions).time_range(scan.time_from, scan.time_until);
  query.max_per_family(static_cast<uint32_t>(scan.family_max));
  query.family_offset(static_cast<uint32_t>(scan.family_offset));
  query.count_cells_per_family(scan.family_counts_cells);
  for (const auto& [family, times] : scan.family_times)
    query.family_time_range(family, times.first, times.second);
  query.strict_versions(scan.strict_versions);
}

// Returns all of the operation's scan, except for a snapshot.
Scan scan_of(const Operation& operation);
Part part_of(const RowView& row);
FilterPtr filter_of(const ModelFilter& filter);
// Which cells it lets pass, by the model; null where it is no matter of cells.
std::function<bool(const Cell&)> passes_of(const ModelFilter& filter);
// Which rows it lets pass by one of their columns; null where it does not judge them so.
std::function<bool(const Cells&)> row_passes_of(const ModelFilter& filter);

}  // namespace cellar::testing
