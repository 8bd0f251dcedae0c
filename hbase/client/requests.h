// Calls of a region's server, and what their answers are made of, for the parts of ClusterTable.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cellar/check_and_mutate.h"
#include "cellar/row_batch.h"
#include "hbase/client/cluster.h"
#include "hbase/wire/cell_blocks.h"

namespace cellar::hbase {

namespace wire {
class WireResult;
}

// Calls the server of the region of `row` with `request`, whose region it sets at each attempt.
template <class Request, class Response>
Result<CallOutcome> call_region(Cluster& cluster, const std::string& table, std::string_view row,
                                Cluster::Effect effect, int64_t deadline_us, std::string_view service,
                                std::string_view method, Request& request, std::string_view cell_block,
                                Response& response) {
  return cluster.with_region(table, row, effect, deadline_us,
                             [&](const RegionPlace& place, int64_t attempt_deadline_us) {
                               set_region(place, *request.mutable_region());
                               response.Clear();
                               return cluster.rpc().call({.server = place.server,
                                                          .service = service,
                                                          .method = method,
                                                          .request = &request,
                                                          .cell_block = cell_block,
                                                          .response = &response},
                                                         attempt_deadline_us);
                             });
}

// Returns the families that a read or write names, for messages.
template <class Query>
requires(
    requires(const Query& query) { query.cells(); } ||
    requires(const Query& query) {
      query.chooses_nothing();
    }) std::vector<std::string> families_of(const Query& query) {
  std::vector<std::string> families;
  if constexpr (requires { query.cells(); }) {
    for (const Cell& cell : query.cells()) families.push_back(cell.family);
  } else {
    query.for_each_family([&](std::string_view family, const auto&) { families.emplace_back(family); });
  }
  return families;
}

// The cells of a result as a row that owns its bytes, in the order of families and qualifiers.
Result<Row> row_of(std::string_view row, const wire::WireResult& result, wire::CellBlockReader& block);
// The same as a batch of one row, or of none, which the pin keeps.
Status fill_batch(const wire::WireResult& result, wire::CellBlockReader& block, const Pin& frame,
                  RowBatch& batch);

// Returns true if the mutation changes what a second one would do: it deletes versions that are found when it
// runs.
bool is_delete_of_latest(const RowMutation& mutation);

}  // namespace cellar::hbase
