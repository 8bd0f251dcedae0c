// Answers gets, single changes, and what an administrator asks of a region.
#include "hbase/serve/region_service.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <variant>

#include "base/bytes.h"
#include "cellar/environment.h"
#include "hbase/proto/hbase.pb.h"
#include "hbase/serve/apply.h"
#include "hbase/wire/cell_blocks.h"
#include "hbase/wire/client.pb.h"
#include "hbase/wire/from_wire_read.h"
#include "hbase/wire/master.pb.h"
#include "hbase/wire/to_wire_result.h"

namespace cellar::hbase::serve {

RegionService::RegionService(Catalog& catalog, const ServiceLimits& limits)
    : catalog_(catalog),
      limits_(limits),
      // Numbers of scanners of an earlier run of the server must not be taken for those of this one.
      scanners_(limits.scanners, limits.lease_ms, (system_random() & 0x7fffffff) << 32 | 1),
      nonces_(limits.nonces, limits.nonce_bytes) {}

Status RegionService::client_service(Call& call) {
  if (call.method() == "Get") return get(call);
  if (call.method() == "Mutate") return mutate(call);
  if (call.method() == "Multi") return multi(call);
  if (call.method() == "Scan") return scan(call);
  if (call.method() == "PrepareBulkLoad") return prepare_load(call);
  if (call.method() == "BulkLoadHFile") return load_files(call);
  if (call.method() == "CleanupBulkLoad") return clean_up_load(call);
  return Status::not_supported(
      fmt::format("Cellar does not have the call {} of ClientService", call.method()));
}

Status RegionService::name_failure(Call& call, const Table& table, const Status& status) {
  if (status.ok()) return status;
  // The table was dropped after the region was found.
  if (status.is(Code::kNotFound)) return call.refuse(java::kNotServingRegion, table.name() + " is gone");
  const bool family =
      status.is(Code::kInvalidArgument) && status.message().find("has no family") != std::string::npos;
  return family ? call.refuse(java::kNoSuchFamily, std::string(status.message())) : status;
}

Status RegionService::get(Call& call) {
  wire::GetRequest request;
  CELLAR_TRY(call.read(request));
  CELLAR_TRY_ASSIGN(const std::shared_ptr<const ServedRegion> region,
                    catalog_.region(call, request.region()));
  CELLAR_TRY_ASSIGN(const Get get, wire::from_wire_get(request.get()));
  wire::GetResponse response;
  wire::WireResult& result = *response.mutable_result();
  if (request.get().existence_only()) {
    const Result<bool> exists = region->table->exists(get);
    if (!exists.ok()) return name_failure(call, *region->table, exists.status());
    result.set_exists(*exists);
    return call.answer(response);
  }
  const Result<RowBatch> found = region->table->get(get);
  if (!found.ok()) return name_failure(call, *region->table, found.status());
  add_result(call, found.value().row(), result);
  return call.answer(response);
}

Result<ActionResult> RegionService::apply_once(const NonceTable::Key& key,
                                               const std::function<Result<ActionResult>()>& change) {
  if (key.second == 0) return change();
  CELLAR_TRY_ASSIGN(std::optional<ActionResult> before, nonces_.begin(key));
  if (before) return *std::move(before);
  Result<ActionResult> done = change();
  if (done.ok()) {
    nonces_.finish(key, *done);
  } else {
    nonces_.forget(key);
  }
  return done;
}

Result<ActionResult> RegionService::apply(Table& table, const wire::ReadMutation& mutation,
                                          uint64_t nonce_group) {
  return apply_once({nonce_group, mutation.nonce}, [&] { return apply_change(table, mutation); });
}

Status RegionService::mutate(Call& call) {
  wire::MutateRequest request;
  CELLAR_TRY(call.read(request));
  CELLAR_TRY_ASSIGN(const std::shared_ptr<const ServedRegion> region,
                    catalog_.region(call, request.region()));
  if (region->meta)
    return Status::read_only("hbase:meta follows the tables of the store and cannot be written");
  wire::CellBlockReader cells(call.cells());
  CELLAR_TRY_ASSIGN(wire::ReadMutation mutation, wire::from_wire_mutation(request.mutation(), cells));
  wire::MutateResponse response;
  const auto change = [&]() -> Result<ActionResult> {
    if (!request.has_condition()) return apply(*region->table, mutation, request.nonce_group());
    CELLAR_TRY_ASSIGN(CheckAndMutate check, wire::from_wire_condition(request.condition()));
    std::visit([&](auto& each) { check.then(std::move(each)); }, mutation.mutation);
    return apply_once({request.nonce_group(), mutation.nonce},
                      [&] { return region->table->check_and_mutate(check, mutation.options); });
  };
  const Result<ActionResult> changed = change();
  if (!changed.ok()) return name_failure(call, *region->table, changed.status());
  response.set_processed(changed.value().matched);
  add_result(call, changed.value().row, *response.mutable_result());
  return call.answer(response);
}

// ---- AdminService

namespace {

Status get_region_info(Call& call, Catalog& catalog, Compactions& compactions) {
  wire::GetRegionInfoRequest request;
  CELLAR_TRY(call.read(request));
  CELLAR_TRY_ASSIGN(const std::shared_ptr<const ServedRegion> region, catalog.region(call, request.region()));
  wire::GetRegionInfoResponse response;
  region->write_info(*response.mutable_region_info());
  const Compactions::State state = compactions.state(region->table_name);
  response.set_compaction_state(state.major && state.minor ? wire::GetRegionInfoResponse::MAJOR_AND_MINOR
                                : state.major              ? wire::GetRegionInfoResponse::MAJOR
                                : state.minor              ? wire::GetRegionInfoResponse::MINOR
                                                           : wire::GetRegionInfoResponse::NONE);
  response.set_splittable(false);
  response.set_mergeable(false);
  return call.answer(response);
}

Status flush_region(Call& call, Catalog& catalog) {
  wire::FlushRegionRequest request;
  CELLAR_TRY(call.read(request));
  CELLAR_TRY_ASSIGN(const std::shared_ptr<const ServedRegion> region, catalog.region(call, request.region()));
  CELLAR_TRY(region->table->flush(request.family()));
  wire::FlushRegionResponse response;
  response.set_last_flush_time(static_cast<uint64_t>(system_clock().wall_ms()));
  response.set_flushed(true);
  return call.answer(response);
}

// Answers at once, as HBase does.
Status compact_region(Call& call, Catalog& catalog, Compactions& compactions) {
  wire::CompactRegionRequest request;
  CELLAR_TRY(call.read(request));
  CELLAR_TRY_ASSIGN(const std::shared_ptr<const ServedRegion> region, catalog.region(call, request.region()));
  if (region->meta) return call.answer(wire::CompactRegionResponse());  // it lives in memory
  const TableOptions options = region->table->info().options;
  if (!request.family().empty() &&
      std::ranges::find(options.families, request.family(), &FamilyOptions::name) == options.families.end())
    return call.refuse(java::kNoSuchFamily, fmt::format("table {} has no family '{}'", region->table_name,
                                                        escaped(request.family())));
  compactions.request(region->table, request.family(), request.major());
  return call.answer(wire::CompactRegionResponse());
}

}  // namespace

Status RegionService::admin_service(Call& call) {
  if (call.method() == "GetRegionInfo") return get_region_info(call, catalog_, compactions_);
  if (call.method() == "FlushRegion") return flush_region(call, catalog_);
  if (call.method() == "CompactRegion") return compact_region(call, catalog_, compactions_);
  return Status::not_supported(
      fmt::format("Cellar does not have the call {} of AdminService", call.method()));
}

}  // namespace cellar::hbase::serve
