// Answers what clients ask of a master.
#include "hbase/serve/master_service.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <map>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "cellar/filter.h"
#include "hbase/proto/hbase.pb.h"
#include "hbase/serve/schema_statements.h"
#include "hbase/wire/cluster.pb.h"
#include "hbase/wire/master.pb.h"
#include "hbase/wire/registry.pb.h"
#include "hbase/wire/schema.h"

namespace cellar::hbase::serve {
namespace {

constexpr std::string_view kVersion = "2.6.0";  // the release whose calls are answered

// NameFilter: which tables a request asks for.
class NameFilter {
 public:
  // `regex`: of whole names; empty: all. `space`: a namespace; empty: all.
  static Result<NameFilter> make(const std::string& regex_text, const std::string& space, bool system) {
    NameFilter filter;
    filter.space_ = space;
    filter.system_ = system;
    if (!regex_text.empty() && regex_text != ".*") {
      CELLAR_TRY_ASSIGN(filter.regex_, regex("^(?:" + regex_text + ")$"));
    }
    return filter;
  }

  bool accepts(const std::string& name) const {
    const std::string_view space = namespace_of(name);
    if (!space_.empty() && space != space_) return false;
    if (!system_ && space == "hbase") return false;
    if (regex_ == nullptr || passes(CompareOp::kEqual, *regex_, name)) return true;
    return space == "default" && passes(CompareOp::kEqual, *regex_, "default:" + name);
  }

 private:
  std::string space_;
  bool system_ = false;
  ComparatorPtr regex_;
};

TableOptions options_of_meta(const Catalog& catalog) { return catalog.meta_region().table->info().options; }

Status get_descriptors(Call& call, Catalog& catalog) {
  wire::GetTableDescriptorsRequest request;
  CELLAR_TRY(call.read(request));
  wire::GetTableDescriptorsResponse response;
  std::vector<std::string> names;
  for (const TableName& each : request.table_names()) {
    CELLAR_TRY_ASSIGN(std::string name, wire::from_wire_name(each));
    names.push_back(std::move(name));
  }
  const bool chosen = !names.empty();
  if (!chosen) {
    CELLAR_TRY_ASSIGN(const NameFilter filter,
                      NameFilter::make(request.regex(), request.namespace_(), request.include_sys_tables()));
    names = catalog.table_names();
    names.emplace_back(kMetaTable);
    std::erase_if(names, [&](const std::string& name) { return !filter.accepts(name); });
  }
  for (const std::string& name : names) {
    if (name == kMetaTable) {
      wire::to_wire_schema(name, options_of_meta(catalog), *response.add_table_schemas());
      continue;
    }
    const auto found = catalog.table(call, name);
    if (found.ok()) {
      wire::to_wire_schema(name, (*found)->options, *response.add_table_schemas());
    } else {
      call.take_failure(found.status());  // the client names the table that is missing
    }
  }
  return call.answer(response);
}

Status get_names(Call& call, Catalog& catalog, const std::string& regex_text, const std::string& space,
                 bool system) {
  CELLAR_TRY_ASSIGN(const NameFilter filter, NameFilter::make(regex_text, space, system));
  std::vector<std::string> names = catalog.table_names();
  names.emplace_back(kMetaTable);
  wire::GetTableNamesResponse response;
  for (const std::string& name : names)
    if (filter.accepts(name)) wire::to_wire_name(name, *response.add_table_names());
  return call.answer(response);
}

Status get_table_names(Call& call, Catalog& catalog) {
  wire::GetTableNamesRequest request;
  CELLAR_TRY(call.read(request));
  return get_names(call, catalog, request.regex(), request.namespace_(), request.include_sys_tables());
}

Status list_names_of_namespace(Call& call, Catalog& catalog) {
  wire::NamespaceName request;
  CELLAR_TRY(call.read(request));
  return get_names(call, catalog, "", request.name(), true);
}

Status list_tables_of_namespace(Call& call, Catalog& catalog) {
  wire::NamespaceName request;
  CELLAR_TRY(call.read(request));
  wire::GetTableDescriptorsResponse response;
  for (const std::string& name : catalog.table_names()) {
    if (namespace_of(name) != request.name()) continue;
    CELLAR_TRY_ASSIGN(const auto found, catalog.table(call, name));
    wire::to_wire_schema(name, found->options, *response.add_table_schemas());
  }
  return call.answer(response);
}

Status get_table_state(Call& call, Catalog& catalog) {
  wire::GetTableStateRequest request;
  CELLAR_TRY(call.read(request));
  CELLAR_TRY_ASSIGN(const std::string name, wire::from_wire_name(request.table_name()));
  bool disabled = false;
  if (name != kMetaTable) {
    CELLAR_TRY_ASSIGN(const auto found, catalog.table(call, name));
    disabled = found->disabled;
  }
  wire::GetTableStateResponse response;
  response.mutable_table_state()->set_state(disabled ? wire::TableState::DISABLED
                                                     : wire::TableState::ENABLED);
  return call.answer(response);
}

Status get_cluster_status(Call& call, Catalog& catalog) {
  wire::GetClusterStatusResponse response;
  wire::ClusterStatus& status = *response.mutable_cluster_status();
  status.mutable_hbase_version()->set_text(std::string(kVersion));
  status.mutable_cluster_id()->set_text(catalog.cluster_id());
  catalog.write_server(*status.mutable_master());
  catalog.write_server(*status.add_servers());
  wire::LiveServer& live = *status.add_live_servers();
  catalog.write_server(*live.mutable_server());
  live.mutable_load();
  status.set_balancer_on(false);
  return call.answer(response);
}

Status is_master_running(Call& call, Catalog&) {
  wire::IsMasterRunningResponse response;
  response.set_is_master_running(true);
  return call.answer(response);
}

Status get_procedure_result(Call& call, Catalog&) {
  wire::GetProcedureResultResponse response;
  response.set_state(wire::GetProcedureResultResponse::FINISHED);
  return call.answer(response);
}

Status get_security(Call& call, Catalog&) {
  wire::SecurityCapabilities response;
  response.add_capabilities(0);
  return call.answer(response);
}

// Answers about the balancer, the normalizer, splits and other work of a master. A store does not have them:
// they are off, and switching them on has no effect.
Status is_off(Call& call, Catalog&) {
  wire::Flag response;
  response.set_value(false);
  return call.answer(response);
}

Status lists_nothing(Call& call, Catalog&) { return call.answer(wire::Nothing()); }

using Method = Status (*)(Call&, Catalog&);

const std::map<std::string_view, Method>& methods() {
  static const std::map<std::string_view, Method> all = {
      {"IsMasterRunning", is_master_running},
      {"GetTableDescriptors", get_descriptors},
      {"GetTableNames", get_table_names},
      {"ListTableNamesByNamespace", list_names_of_namespace},
      {"ListTableDescriptorsByNamespace", list_tables_of_namespace},
      {"GetTableState", get_table_state},
      {"GetClusterStatus", get_cluster_status},
      {"getProcedureResult", get_procedure_result},
      {"getSecurityCapabilities", get_security},
      {"CreateTable", create_table},
      {"DeleteTable", delete_table},
      {"truncateTable", truncate_table},
      {"EnableTable", enable_table},
      {"DisableTable", disable_table},
      {"ModifyTable", modify_table},
      {"AddColumn", add_family},
      {"ModifyColumn", modify_family},
      {"DeleteColumn", delete_family},
      {"FlushTable", flush_table},
      {"GetSchemaAlterStatus", lists_nothing},  // no region waits for a change
      {"CreateNamespace", create_namespace},
      {"ModifyNamespace", modify_namespace},
      {"DeleteNamespace", delete_namespace},
      {"GetNamespaceDescriptor", get_namespace},
      {"ListNamespaces", list_namespaces},
      {"ListNamespaceDescriptors", list_namespace_descriptors},
      {"IsBalancerEnabled", is_off},
      {"SetBalancerRunning", is_off},
      {"Balance", is_off},
      {"IsNormalizerEnabled", is_off},
      {"SetNormalizerRunning", is_off},
      {"IsSplitOrMergeEnabled", is_off},
      {"IsCatalogJanitorEnabled", is_off},
      {"IsCleanerChoreEnabled", is_off},
      {"IsSnapshotCleanupEnabled", is_off},
      {"IsRpcThrottleEnabled", is_off},
      {"IsMasterInMaintenanceMode", is_off},
      {"GetCompletedSnapshots", lists_nothing},
      {"ListReplicationPeers", lists_nothing},
      {"ListDecommissionedRegionServers", lists_nothing},
      {"GetProcedures", lists_nothing},
      {"GetLocks", lists_nothing},
  };
  return all;
}

}  // namespace

Status MasterService::master_service(Call& call) {
  const auto method = methods().find(call.method());
  if (method != methods().end()) return method->second(call, catalog_);
  return Status::not_supported(
             fmt::format("Cellar does not have the call {} of MasterService", escaped(call.method())))
      .hinting("docs/serve.md lists the calls that it answers");
}

Status MasterService::registry_service(Call& call) {
  if (call.method() == "GetClusterId") {
    wire::GetClusterIdResponse response;
    response.set_cluster_id(catalog_.cluster_id());
    return call.answer(response);
  }
  if (call.method() == "GetActiveMaster") {
    wire::GetActiveMasterResponse response;
    catalog_.write_server(*response.mutable_server_name());
    return call.answer(response);
  }
  if (call.method() == "GetMasters") {
    wire::GetMastersResponse response;
    wire::GetMastersResponse::Master& master = *response.add_masters();
    catalog_.write_server(*master.mutable_server_name());
    master.set_is_active(true);
    return call.answer(response);
  }
  if (call.method() == "GetBootstrapNodes") {
    wire::GetBootstrapNodesResponse response;
    catalog_.write_server(*response.add_server_names());
    return call.answer(response);
  }
  if (call.method() == "GetMetaRegionLocations") {
    wire::GetMetaRegionLocationsResponse response;
    wire::RegionLocation& location = *response.add_meta_locations();
    catalog_.meta_region().write_info(*location.mutable_region_info());
    catalog_.write_server(*location.mutable_server_name());
    location.set_seq_num(0);
    return call.answer(response);
  }
  return Status::not_supported(
      fmt::format("Cellar does not have the call {} of ClientMetaService", escaped(call.method())));
}

}  // namespace cellar::hbase::serve
