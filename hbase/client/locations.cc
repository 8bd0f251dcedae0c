// Cluster: regions by what meta says. A row of meta is a region: its name is the key, "table,first
// row,time.digits."; info:regioninfo describes it, and info:server is where it is.
#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>

#include "base/bytes.h"
#include "hbase/client/cluster.h"
#include "hbase/client/znodes.h"
#include "hbase/proto/hbase.pb.h"
#include "hbase/wire/cell_blocks.h"
#include "hbase/wire/client.pb.h"
#include "hbase/wire/frames.h"
#include "hbase/wire/from_wire_result.h"

namespace cellar::hbase {
namespace {

constexpr std::string_view kMetaRegion = "hbase:meta,,1";
constexpr std::string_view kMetaTable = "hbase:meta";
constexpr std::string_view kInfo = "info";
constexpr std::string_view kMagic = "PBUF";
constexpr std::string_view kLatestTime =
    "99999999999999";  // of a region's name: after every region of the row
constexpr uint32_t kRowsOfLookup =
    5;  // the region that is looked for, and parents of splits that are still there

// The parts of a row of meta.
struct MetaRow {
  RegionInfo info;
  std::string server;
};

Status parse_meta_row(const std::vector<CellView>& cells, MetaRow& row) {
  for (const CellView& cell : cells) {
    if (cell.family() != kInfo) continue;
    if (cell.qualifier() == "server") row.server = cell.value_bytes();
    if (cell.qualifier() != "regioninfo") continue;
    std::string_view bytes = cell.value_bytes();
    if (!bytes.starts_with(kMagic)) return Status::corruption("meta describes a region in an unknown form");
    bytes.remove_prefix(kMagic.size());
    CELLAR_TRY(wire::parse_message(row.info, bytes));
  }
  return {};
}

// Returns null for a region that is split, and a place without a port for one that has no server.
Result<PlacePtr> place_of(const std::string& table, const std::vector<CellView>& cells) {
  MetaRow row;
  CELLAR_TRY(parse_meta_row(cells, row));
  const size_t colon = row.server.rfind(':');
  const bool is_replica = row.info.replica_id() != 0;
  if (row.info.split() || row.info.offline() || is_replica) return PlacePtr();
  auto place = std::make_shared<RegionPlace>();
  if (colon != std::string::npos) {
    wire::ServerName server;
    server.set_host_name(row.server.substr(0, colon));
    server.set_port(static_cast<uint32_t>(std::strtoul(row.server.c_str() + colon + 1, nullptr, 10)));
    CELLAR_TRY_ASSIGN(place->server, address_of(server));
  }
  place->table = table;
  place->name = cells.front().row();
  place->start = row.info.start_key();
  place->end = row.info.end_key();
  return PlacePtr(std::move(place));
}

bool fits(const RegionPlace& place, std::string_view row, Side side) {
  if (side == Side::kHolds) return place.holds(row);
  if (row.empty()) return place.end.empty();
  return place.start < row && (place.end.empty() || place.end >= row);
}

Status no_table(const std::string& table) {
  return Status::not_found(fmt::format("the cluster has no table \"{}\"", escaped(table)));
}

}  // namespace

CallOutcome Cluster::scan_meta(const std::string& table, std::string_view from, bool inclusive, bool reversed,
                               uint32_t rows, int64_t deadline_us, std::vector<PlacePtr>& found) {
  const auto failed = [](const Status& status) {
    return CallOutcome{.error = CallError{.status = status.with_context("hbase:meta")}};
  };
  const Result<ServerAddress> meta = find_meta(deadline_us);
  if (!meta.ok()) return failed(meta.status());
  wire::ScanRequest request;
  request.mutable_region()->set_type(wire::RegionSpecifier::NAME);
  request.mutable_region()->set_value(std::string(kMetaRegion));
  wire::WireScan& scan = *request.mutable_scan();
  scan.add_columns()->set_family(std::string(kInfo));
  scan.set_start_row(std::string(from));
  scan.set_include_start_row(inclusive);
  scan.set_stop_row(reversed ? table + ",," : table + " ,,");
  scan.set_include_stop_row(reversed);
  scan.set_reversed(reversed);
  request.set_number_of_rows(rows);
  request.set_limit_of_rows(rows);
  request.set_close_scanner(true);
  request.set_client_handles_partials(false);
  request.set_client_handles_heartbeats(false);
  wire::ScanResponse response;
  CallOutcome outcome = rpc_->call({.server = *meta,
                                    .service = wire::kClientService,
                                    .method = "Scan",
                                    .request = &request,
                                    .response = &response},
                                   std::min(deadline_us, now_us() + 30'000'000));
  if (!outcome.ok()) {
    if (outcome.error->remedy == Remedy::kRelocate) {
      const MutexLock lock(mutex_);
      meta_.reset();
    }
    return outcome;
  }
  wire::CellBlockReader block(outcome.cell_block);
  for (const uint32_t count : response.cells_per_result()) {
    std::vector<CellView> cells;
    if (const Status taken = wire::take_cells(block, count, cells); !taken.ok()) return failed(taken);
    if (cells.empty()) continue;
    Result<PlacePtr> place = place_of(table, cells);
    if (!place.ok()) return failed(place.status());
    found.push_back(std::move(*place));  // null: no use, and yet the table is there
  }
  return outcome;
}

PlacePtr Cluster::known(const std::string& table, std::string_view row, Side side) {
  const MutexLock lock(mutex_);
  const auto found = places_.find(table);
  if (found == places_.end() || found->second.empty()) return nullptr;
  const auto& by_start = found->second;
  const bool last = side == Side::kEndsAt && row.empty();
  auto at = last                   ? by_start.end()
            : side == Side::kHolds ? by_start.upper_bound(row)
                                   : by_start.lower_bound(row);
  if (at == by_start.begin()) return nullptr;
  --at;
  return fits(*at->second, row, side) ? at->second : nullptr;
}

void Cluster::learn(const PlacePtr& place) {
  const MutexLock lock(mutex_);
  auto& by_start = places_[place->table];
  // Regions that it overlaps are those of before a split or merge.
  for (auto at = by_start.lower_bound(place->start);
       at != by_start.end() && (place->end.empty() || at->first < place->end);)
    at = by_start.erase(at);
  if (auto at = by_start.lower_bound(place->start); at != by_start.begin()) {
    --at;
    if (at->second->holds(place->start)) by_start.erase(at);
  }
  by_start[place->start] = place;
}

void Cluster::forget(const RegionPlace& place, const std::optional<ServerAddress>& moved_to) {
  const MutexLock lock(mutex_);
  const auto table = places_.find(place.table);
  if (table == places_.end()) return;
  const auto at = table->second.find(place.start);
  if (at == table->second.end() || at->second->name != place.name) return;
  if (at->second->server != place.server) return;  // another thread has learnt better
  if (!moved_to) {
    table->second.erase(at);
    return;
  }
  auto moved = std::make_shared<RegionPlace>(place);
  moved->server = *moved_to;
  at->second = std::move(moved);
}

CallOutcome Cluster::try_locate(const std::string& table, std::string_view row, Side side,
                                int64_t deadline_us, PlacePtr& place) {
  place = known(table, row, side);
  if (place != nullptr) return {};
  if (table == kMetaTable)
    return {.error = CallError{Status::not_supported("hbase:meta is the cluster's own table")}};
  std::string from = table;
  if (side == Side::kHolds) from.append(",").append(row).append(",").append(kLatestTime);
  if (side == Side::kEndsAt) from.append(row.empty() ? " ," : ",").append(row).append(",");
  std::vector<PlacePtr> found;
  const CallOutcome outcome = scan_meta(table, from, true, true, kRowsOfLookup, deadline_us, found);
  for (const PlacePtr& each : found) {
    if (each == nullptr || !fits(*each, row, side)) continue;
    place = each;
    if (each->server.port == 0) continue;
    learn(each);
    return {};
  }
  if (!outcome.ok()) return {.error = outcome.error};
  if (found.empty()) return {.error = CallError{no_table(table)}};
  if (place == nullptr) {  // a split or merge is under way there
    auto hole = std::make_shared<RegionPlace>();
    hole->table = table;
    hole->start = row;
    hole->end = std::string(row) + '\0';
    place = std::move(hole);
  }
  return {.error =
              CallError{Status::busy(fmt::format("no server has the region of row \"{}\" of table \"{}\" now",
                                                 escaped(row), escaped(table))),
                        Remedy::kWait}};
}

Result<PlacePtr> Cluster::locate(const std::string& table, std::string_view row, Side side,
                                 int64_t deadline_us) {
  Retry retry(*this, deadline_us);
  while (true) {
    PlacePtr place;
    const CallOutcome outcome = try_locate(table, row, side, deadline_us, place);
    if (outcome.ok()) return place;
    if (outcome.error->remedy == Remedy::kNone) return outcome.error->status;
    CELLAR_TRY(retry.wait(*outcome.error));
  }
}

Result<std::vector<std::string>> Cluster::region_starts(const std::string& table, int64_t deadline_us) {
  constexpr uint32_t kRowsAtOnce = 1000;
  Retry retry(*this, deadline_us);
  std::vector<std::string> starts;
  std::string from = table + ",,";
  for (bool more = true; more;) {
    std::vector<PlacePtr> found;
    const CallOutcome outcome =
        scan_meta(table, from, starts.empty(), false, kRowsAtOnce, deadline_us, found);
    if (!outcome.ok()) {
      if (outcome.error->remedy == Remedy::kNone) return outcome.error->status;
      CELLAR_TRY(retry.wait(*outcome.error));
      continue;
    }
    more = false;
    for (const PlacePtr& each : found) {
      if (each == nullptr) continue;  // split or merged: others have its rows
      starts.push_back(each->start);
      from = each->name;
      more = found.size() == kRowsAtOnce;
    }
  }
  if (starts.empty()) return no_table(table);
  std::ranges::sort(starts);  // regions of a split that is under way may stand next to those before it
  starts.erase(std::unique(starts.begin(), starts.end()), starts.end());
  return starts;
}

Result<std::vector<PlacePtr>> Cluster::regions(const std::string& table, int64_t deadline_us) {
  std::vector<PlacePtr> all;
  std::string row;
  do {
    CELLAR_TRY_ASSIGN(const PlacePtr place, locate(table, row, Side::kHolds, deadline_us));
    row = place->end;
    all.push_back(place);
  } while (!row.empty());
  return all;
}

}  // namespace cellar::hbase
