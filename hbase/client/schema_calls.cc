// Statements of the master. Each begins a procedure, whose end is waited for.
#include "hbase/client/schema_calls.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/bytes.h"
#include "cellar/plugin.h"
#include "engine/schema/names.h"
#include "hbase/proto/hbase.pb.h"
#include "hbase/wire/common.pb.h"
#include "hbase/wire/master.pb.h"
#include "hbase/wire/schema.h"

namespace cellar::hbase {
namespace {

using Effect = Cluster::Effect;

constexpr int64_t kFirstLookUs = 10'000;
constexpr int64_t kLooksUsMax = 500'000;

Status wait_for_procedure(Cluster& cluster, uint64_t id, int64_t deadline_us) {
  wire::GetProcedureResultRequest request;
  request.set_proc_id(id);
  for (int64_t pause = kFirstLookUs;; pause = std::min(2 * pause, kLooksUsMax)) {
    wire::GetProcedureResultResponse response;
    CELLAR_TRY(cluster.call_master("getProcedureResult", request, response, Effect::kRead, deadline_us));
    if (response.has_exception()) {
      wire::NameBytesPair exception;
      exception.set_name(response.exception().exception().class_name());
      exception.set_value(response.exception().exception().message());
      return error_of(exception).status;
    }
    // A procedure that is not found ended a while ago, and without an exception.
    if (response.state() != wire::GetProcedureResultResponse::RUNNING) return {};
    if (cluster.now_us() + pause > deadline_us)
      return Status::busy("the master has not finished in time; it goes on by itself");
    cluster.rpc().pause(pause);
  }
}

// Begins a procedure and waits for its end.
template <class Request>
Status run_procedure(Cluster& cluster, std::string_view method, Request& request) {
  const int64_t deadline = cluster.deadline_us();
  request.set_nonce_group(cluster.nonce_group());
  request.set_nonce(cluster.next_nonce());  // the same procedure is begun once
  wire::ProcedureResponse response;
  CELLAR_TRY(cluster.call_master(method, request, response, Effect::kRepeat, deadline));
  return response.has_proc_id() ? wait_for_procedure(cluster, response.proc_id(), deadline) : Status();
}

Status run_on_table(Cluster& cluster, std::string_view method, const std::string& name) {
  wire::TableRequest request;
  wire::to_wire_name(name, *request.mutable_table_name());
  return run_procedure(cluster, method, request);
}

Result<TableSchema> fetch_schema(Cluster& cluster, const std::string& name) {
  wire::GetTableDescriptorsRequest request;
  wire::to_wire_name(name, *request.add_table_names());
  wire::GetTableDescriptorsResponse response;
  CELLAR_TRY(
      cluster.call_master("GetTableDescriptors", request, response, Effect::kRead, cluster.deadline_us()));
  if (response.table_schemas_size() == 1) return response.table_schemas(0);
  const Result<std::vector<std::string>> names = fetch_names(cluster);
  return Status::not_found(fmt::format("the cluster has no table \"{}\"", escaped(name)))
      .hinting(names.ok() ? nearest_hint(name, *names) : "");
}

bool names_exception(const Status& status, std::string_view exception) {
  return status.message().find(exception) != std::string_view::npos;
}

// A table must be disabled before it is dropped or truncated. It may be so already.
Status disable(Cluster& cluster, const std::string& name) {
  CELLAR_TRY(fetch_schema(cluster, name).status());
  wire::GetTableStateRequest request;
  wire::to_wire_name(name, *request.mutable_table_name());
  wire::GetTableStateResponse response;
  CELLAR_TRY(cluster.call_master("GetTableState", request, response, Effect::kRead, cluster.deadline_us()));
  if (response.table_state().state() == wire::TableState::DISABLED) return {};
  return run_on_table(cluster, "DisableTable", name);
}

// A store has no namespaces, and a table's name is all that it needs. So that the same call works on both,
// the namespace of a new table is made here. Another client may be faster, which is no failure. If the look
// fails otherwise, the creation of the table tells why.
Status make_namespace(Cluster& cluster, const std::string& table) {
  TableName name;
  wire::to_wire_name(table, name);
  wire::GetNamespaceDescriptorRequest asked;
  asked.set_name(name.namespace_());
  wire::GetNamespaceDescriptorResponse found;
  const Status looked =
      cluster.call_master("GetNamespaceDescriptor", asked, found, Effect::kRead, cluster.deadline_us());
  if (!looked.is(Code::kNotFound)) return {};
  wire::NamespaceRequest request;
  request.mutable_descriptor()->set_name(name.namespace_());
  const Status made = run_procedure(cluster, "CreateNamespace", request);
  return names_exception(made, "NamespaceExistException") ? Status() : made;
}

}  // namespace

Result<TableOptions> fetch_table(Cluster& cluster, const std::string& name) {
  CELLAR_TRY_ASSIGN(const TableSchema schema, fetch_schema(cluster, name));
  Result<TableOptions> options = wire::from_wire_schema(schema);
  if (!options.ok()) return options.status().with_context("table " + name);
  return options;
}

Result<std::vector<std::string>> fetch_names(Cluster& cluster) {
  wire::GetTableNamesRequest request;
  request.set_include_sys_tables(false);
  wire::GetTableNamesResponse response;
  CELLAR_TRY(cluster.call_master("GetTableNames", request, response, Effect::kRead, cluster.deadline_us()));
  std::vector<std::string> names;
  for (const TableName& each : response.table_names()) {
    CELLAR_TRY_ASSIGN(std::string name, wire::from_wire_name(each));
    names.push_back(std::move(name));
  }
  std::ranges::sort(names);
  return names;
}

Status create_table(Cluster& cluster, const std::string& name, const TableOptions& options,
                    const std::vector<std::string>& splits) {
  CELLAR_TRY(check_table_name(name));
  CELLAR_TRY(validate(options));
  CELLAR_TRY(check_splits(splits).with_context("table " + name));
  if (name.find(':') != std::string::npos)
    CELLAR_TRY(make_namespace(cluster, name).with_context("create the namespace of table " + name));
  wire::CreateTableRequest request;
  wire::to_wire_schema(name, options, *request.mutable_table_schema());
  for (const std::string& row : splits) request.add_split_keys(row);
  const Status made = run_procedure(cluster, "CreateTable", request);
  if (names_exception(made, "TableExistsException"))
    return Status::invalid_argument("table " + name + " already exists");  // as a store says it
  return made.with_context("create table " + name);
}

Status drop_table(Cluster& cluster, const std::string& name) {
  CELLAR_TRY(disable(cluster, name));
  return run_on_table(cluster, "DeleteTable", name).with_context("drop table " + name);
}

Status truncate_table(Cluster& cluster, const std::string& name) {
  CELLAR_TRY(disable(cluster, name));
  wire::TruncateTableRequest request;
  wire::to_wire_name(name, *request.mutable_table_name());
  request.set_preserve_splits(true);
  return run_procedure(cluster, "truncateTable", request).with_context("truncate table " + name);
}

// Changes the schema as the master has it, so that attributes that are no options stay.
Status alter_table(Cluster& cluster, const std::string& name, const TableChange& change) {
  CELLAR_TRY_ASSIGN(TableOptions options, fetch_table(cluster, name));
  std::vector<std::string> known;
  for (const FamilyOptions& family : options.families) known.push_back(family.name);
  for (const std::string& removed : change.remove_families) {
    const auto at = std::ranges::find(options.families, removed, &FamilyOptions::name);
    if (at == options.families.end())
      return Status::not_found(fmt::format("table {} has no family \"{}\"", name, escaped(removed)))
          .hinting(nearest_hint(removed, known));
    options.families.erase(at);
  }
  for (const FamilyOptions& family : change.set_families) {
    const auto at = std::ranges::find(options.families, family.name, &FamilyOptions::name);
    if (at == options.families.end())
      options.families.push_back(family);
    else
      *at = family;
  }
  if (change.durability) options.durability = change.durability;
  if (change.default_durability) options.durability.reset();
  if (change.read_only) options.read_only = *change.read_only;
  if (change.compaction_enabled) options.compaction_enabled = *change.compaction_enabled;
  if (change.memtable_bytes) options.memtable_bytes = *change.memtable_bytes;
  if (change.metadata) options.metadata = *change.metadata;
  if (change.configuration) options.configuration = *change.configuration;
  CELLAR_TRY(validate(options));
  wire::ModifyTableRequest request;
  wire::to_wire_name(name, *request.mutable_table_name());
  wire::to_wire_schema(name, options, *request.mutable_table_schema());
  return run_procedure(cluster, "ModifyTable", request).with_context("alter table " + name);
}

}  // namespace cellar::hbase
