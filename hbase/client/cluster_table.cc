// ClusterTable: reads, and writes of one row.
#include "hbase/client/cluster_table.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "base/bytes.h"
#include "engine/schema/names.h"
#include "engine/values/mutation_reader.h"
#include "hbase/client/bulk_load.h"
#include "hbase/client/cluster_scanner.h"
#include "hbase/client/multi.h"
#include "hbase/client/refused.h"
#include "hbase/client/requests.h"
#include "hbase/client/schema_calls.h"
#include "hbase/wire/client.pb.h"
#include "hbase/wire/frames.h"
#include "hbase/wire/from_wire_result.h"
#include "hbase/wire/to_wire.h"

namespace cellar::hbase {
namespace {

using Effect = Cluster::Effect;

// A client can count what it was given, and nothing else of the cost of a read.
void count_returned(const Get& get, const RowBatch& batch) {
  if (get.stats() == nullptr) return;
  get.stats()->cells_returned += batch.cells();
  get.stats()->rows_returned += batch.size();
}

// Sends one mutation of one row, with a condition or without.
Result<CallOutcome> send(Cluster& cluster, const std::string& table, std::string_view row, Effect effect,
                         wire::MutateRequest& request, const std::string& cells,
                         wire::MutateResponse& response) {
  request.set_nonce_group(cluster.nonce_group());
  return call_region(cluster, table, row, effect, cluster.deadline_us(), wire::kClientService, "Mutate",
                     request, cells, response);
}

}  // namespace

Result<Row> row_of(std::string_view row, const wire::WireResult& result, wire::CellBlockReader& block) {
  std::vector<CellView> cells;
  std::vector<std::string> room;
  CELLAR_TRY(wire::take_cells(result, block, room, cells));
  Row taken{std::string(row), {}};
  for (const CellView& cell : cells) taken.cells.emplace_back(cell);
  return taken;
}

Status fill_batch(const wire::WireResult& result, wire::CellBlockReader& block, const Pin& frame,
                  RowBatch& batch) {
  std::vector<CellView> cells;
  std::vector<std::string> room;
  CELLAR_TRY(wire::take_cells(result, block, room, cells));
  wire::add_row(batch, cells, room.empty() ? frame.get() : nullptr);
  return {};
}

bool is_delete_of_latest(const RowMutation& mutation) {
  const MutationReader reader(mutation);
  return std::ranges::any_of(reader.pieces(),
                             [](const MutationPiece& piece) { return piece.latest_version; });
}

std::vector<std::string> ClusterTable::family_names() const {
  const MutexLock lock(mutex_);
  std::vector<std::string> names;
  for (const FamilyOptions& family : options_.families) names.push_back(family.name);
  return names;
}

Status ClusterTable::explained(const Status& status, const std::vector<std::string>& families) const {
  if (!status.is(Code::kInvalidArgument) ||
      status.message().find("NoSuchColumnFamily") == std::string_view::npos)
    return status;
  const std::vector<std::string> known = family_names();
  for (const std::string& family : families)
    if (std::ranges::find(known, family) == known.end()) return unknown_family(name_, family, known);
  return status;
}

Status ClusterTable::check_family(std::string_view family) const {
  if (family.empty()) return {};
  const std::vector<std::string> known = family_names();
  if (std::ranges::find(known, family) != known.end()) return {};
  return unknown_family(name_, family, known);
}

TableInfo ClusterTable::info() const {
  Result<TableOptions> fetched = fetch_table(*cluster_, name_);
  const MutexLock lock(mutex_);
  if (fetched.ok()) options_ = std::move(fetched).value();
  TableInfo info;
  info.name = name_;
  info.options = options_;
  for (const FamilyOptions& family : options_.families) {
    FamilyInfo& each = info.families.emplace_back();
    each.options = family;
  }
  std::ranges::sort(info.families, {}, [](const FamilyInfo& each) { return each.options.name; });
  return info;
}

// ---- Reads

Status ClusterTable::get_into(const Get& get, RowBatch& batch) {
  batch.clear();
  wire::GetRequest request;
  CELLAR_TRY(wire::to_wire_get(get, *request.mutable_get()));
  wire::GetResponse response;
  Result<CallOutcome> outcome =
      call_region(*cluster_, name_, get.row(), Effect::kRead, cluster_->deadline_us(), wire::kClientService,
                  "Get", request, {}, response);
  if (!outcome.ok()) return explained(outcome.status(), families_of(get));
  wire::CellBlockReader block(outcome->cell_block);
  CELLAR_TRY(fill_batch(response.result(), block, outcome->frame, batch));
  count_returned(get, batch);
  return {};
}

Result<RowBatch> ClusterTable::get(const Get& get) {
  RowBatch batch;
  CELLAR_TRY(get_into(get, batch));
  return batch;
}

Result<bool> ClusterTable::exists(const Get& get) {
  wire::GetRequest request;
  CELLAR_TRY(wire::to_wire_get(get, *request.mutable_get()));
  request.mutable_get()->set_existence_only(true);
  wire::GetResponse response;
  const Result<CallOutcome> outcome =
      call_region(*cluster_, name_, get.row(), Effect::kRead, cluster_->deadline_us(), wire::kClientService,
                  "Get", request, {}, response);
  if (!outcome.ok()) return explained(outcome.status(), families_of(get));
  return response.result().exists();
}

Result<std::vector<bool>> ClusterTable::exists_many(std::span<const Get> gets) {
  std::vector<char> found(gets.size(), 0);  // not vector<bool>: its elements share bytes
  std::vector<MultiTask> tasks;
  for (size_t i = 0; i < gets.size(); ++i) {
    const auto write = [&gets, i](wire::WireAction& action, std::string&) -> Status {
      CELLAR_TRY(wire::to_wire_get(gets[i], *action.mutable_get()));
      action.mutable_get()->set_existence_only(true);
      return {};
    };
    const auto read = [&found, i](const wire::WireResult& result, wire::CellBlockReader&,
                                  const Pin&) -> Status {
      found[i] = result.exists() ? 1 : 0;
      return {};
    };
    tasks.push_back({.row = gets[i].row(), .write = write, .read = read});
  }
  run_multi(*cluster_, name_, tasks, cluster_->deadline_us());
  for (size_t i = 0; i < tasks.size(); ++i) CELLAR_TRY(explained(tasks[i].status, families_of(gets[i])));
  return std::vector<bool>(found.begin(), found.end());
}

Result<std::vector<RowBatch>> ClusterTable::get_many(std::span<const Get> gets) {
  std::vector<RowBatch> batches(gets.size());
  std::vector<MultiTask> tasks;
  for (size_t i = 0; i < gets.size(); ++i) {
    const auto write = [&gets, i](wire::WireAction& action, std::string&) {
      return wire::to_wire_get(gets[i], *action.mutable_get());
    };
    const auto read = [&batches, i](const wire::WireResult& result, wire::CellBlockReader& block,
                                    const Pin& frame) {
      return fill_batch(result, block, frame, batches[i]);
    };
    tasks.push_back({.row = gets[i].row(), .write = write, .read = read});
  }
  run_multi(*cluster_, name_, tasks, cluster_->deadline_us());
  for (size_t i = 0; i < tasks.size(); ++i) {
    CELLAR_TRY(explained(tasks[i].status, families_of(gets[i])));
    count_returned(gets[i], batches[i]);
  }
  return batches;
}

Result<std::unique_ptr<Scanner>> ClusterTable::scan(const Scan& scan) {
  for (const auto& [family, qualifiers] : scan.columns()) CELLAR_TRY(check_family(family));
  CELLAR_TRY_ASSIGN(std::unique_ptr<ClusterScanner> scanner, ClusterScanner::open(cluster_, name_, scan));
  return std::unique_ptr<Scanner>(std::move(scanner));
}

Result<std::vector<std::unique_ptr<Scanner>>> ClusterTable::scan_many(std::span<const Scan> scans) {
  std::vector<std::unique_ptr<Scanner>> scanners;
  for (const Scan& each : scans) {
    CELLAR_TRY_ASSIGN(std::unique_ptr<Scanner> scanner, scan(each));
    scanners.push_back(std::move(scanner));
  }
  return scanners;
}

Result<RangeEstimate> ClusterTable::estimate(const KeyRange&, const std::vector<std::string>&) {
  return cluster_has_no("estimates of ranges", "count the range with Table::count");
}

Result<RangeSplits> ClusterTable::split_points(size_t, const KeyRange&, const std::vector<std::string>&) {
  return cluster_has_no("split points of ranges", "choose them from the keys, or read in one range");
}

Result<std::vector<std::string>> ClusterTable::region_starts() {
  return cluster_->region_starts(name_, cluster_->deadline_us());
}

Result<IngestInfo> ClusterTable::ingest(const IngestRequest& request) {
  for (const IngestFile& file : request.files) CELLAR_TRY(check_family(file.family));
  return bulk_load(*cluster_, name_, request);
}

Result<std::optional<CompactionInfo>> ClusterTable::next_compaction(std::string_view, bool,
                                                                    std::vector<std::string>*) {
  return cluster_has_no("view of its next compaction",
                        "its servers choose by themselves; Table::compact asks them to");
}

// ---- Writes

Status ClusterTable::put(const Put& put, const WriteOptions& options) {
  wire::MutateRequest request;
  std::string cells;
  CELLAR_TRY(wire::to_wire_mutation(put, options, *request.mutable_mutation(), cells));
  wire::MutateResponse response;
  return explained(send(*cluster_, name_, put.row(), Effect::kRepeat, request, cells, response).status(),
                   families_of(put));
}

Status ClusterTable::erase(const Delete& erase, const WriteOptions& options) {
  wire::MutateRequest request;
  std::string cells;
  CELLAR_TRY(wire::to_wire_mutation(erase, options, *request.mutable_mutation(), cells));
  wire::MutateResponse response;
  const Effect effect = is_delete_of_latest(erase) ? Effect::kOnce : Effect::kRepeat;
  return explained(send(*cluster_, name_, erase.row(), effect, request, cells, response).status(),
                   families_of(erase));
}

Result<std::vector<int64_t>> ClusterTable::increment(const Increment& increment,
                                                     const WriteOptions& options) {
  Increment asked = increment;
  asked.return_cells(true);
  wire::MutateRequest request;
  std::string cells;
  CELLAR_TRY(wire::to_wire_mutation(asked, options, *request.mutable_mutation(), cells));
  request.mutable_mutation()->set_nonce(cluster_->next_nonce());
  wire::MutateResponse response;
  Result<CallOutcome> outcome =
      send(*cluster_, name_, increment.row(), Effect::kRepeat, request, cells, response);
  if (!outcome.ok()) return explained(outcome.status(), families_of(increment));
  wire::CellBlockReader block(outcome->cell_block);
  CELLAR_TRY_ASSIGN(const Row row, row_of(increment.row(), response.result(), block));
  std::vector<int64_t> sums;
  for (const Cell& cell : increment.cells()) {
    const std::optional<int64_t> sum = row.counter(cell.family, cell.qualifier);
    if (!sum)
      return Status::corruption(fmt::format("table {}: a server left a counter out of its answer", name_));
    sums.push_back(*sum);
  }
  return sums;
}

Result<Row> ClusterTable::append(const Append& append, const WriteOptions& options) {
  wire::MutateRequest request;
  std::string cells;
  CELLAR_TRY(wire::to_wire_mutation(append, options, *request.mutable_mutation(), cells));
  request.mutable_mutation()->set_nonce(cluster_->next_nonce());
  wire::MutateResponse response;
  Result<CallOutcome> outcome =
      send(*cluster_, name_, append.row(), Effect::kRepeat, request, cells, response);
  if (!outcome.ok()) return explained(outcome.status(), families_of(append));
  wire::CellBlockReader block(outcome->cell_block);
  return row_of(append.row(), response.result(), block);
}

}  // namespace cellar::hbase
