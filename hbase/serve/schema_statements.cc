// Carries out the statements of clients.
#include "hbase/serve/schema_statements.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "hbase/proto/hbase.pb.h"
#include "hbase/wire/master.pb.h"
#include "hbase/wire/schema.h"

namespace cellar::hbase::serve {
namespace {

// Clients wait for the procedure of a statement, and must be told a number for it.
Status answer_done(Call& call) {
  static std::atomic<uint64_t> procedures = 0;
  wire::ProcedureResponse response;
  response.set_proc_id(++procedures);
  return call.answer(response);
}

// Reads a request that names a table.
template <class Request>
Result<std::string> read_with_table(const Call& call, Request& request) {
  CELLAR_TRY(call.read(request));
  return wire::from_wire_name(request.table_name());
}

Status must_not_be_system(Call& call, const std::string& name) {
  if (namespace_of(name) != "hbase") return {};
  return call.refuse(java::kDoNotRetry, fmt::format("{} belongs to the server and cannot be changed", name));
}

bool has_family(const TableOptions& options, std::string_view name) {
  return std::ranges::find(options.families, name, &FamilyOptions::name) != options.families.end();
}

// A message may carry the encryption of a family, which a store would not do.
Status must_be_plain(const FamilyOptions& family) {
  for (const char* each : {"ENCRYPTION", "ENCRYPTION_KEY"})
    if (family.metadata.contains(each))
      return Status::not_supported(fmt::format("family '{}' has {}: files of a store are not encrypted",
                                               escaped(family.name), each))
          .hinting("put the store on an encrypted file system");
  return {};
}

// Reads the schema of a statement.
Result<TableOptions> options_of(const TableSchema& schema) {
  CELLAR_TRY_ASSIGN(TableOptions options, wire::from_wire_schema(schema));
  CELLAR_TRY_ASSIGN(options.families, wire::inheriting_families(schema, options));
  for (const FamilyOptions& each : options.families) CELLAR_TRY(must_be_plain(each));
  return options;
}

}  // namespace

Status create_table(Call& call, Catalog& catalog) {
  wire::CreateTableRequest request;
  CELLAR_TRY(call.read(request));
  CELLAR_TRY_ASSIGN(const std::string name, wire::from_wire_name(request.table_schema().table_name()));
  CELLAR_TRY(must_not_be_system(call, name));
  CELLAR_TRY_ASSIGN(TableOptions options, options_of(request.table_schema()));
  std::vector<std::string> splits(request.split_keys().begin(), request.split_keys().end());
  CELLAR_TRY(catalog.create_table(call, name, std::move(options), std::move(splits)));
  return answer_done(call);
}

Status delete_table(Call& call, Catalog& catalog) {
  wire::TableRequest request;
  CELLAR_TRY_ASSIGN(const std::string name, read_with_table(call, request));
  CELLAR_TRY(must_not_be_system(call, name));
  CELLAR_TRY(catalog.drop_table(call, name));
  return answer_done(call);
}

Status truncate_table(Call& call, Catalog& catalog) {
  wire::TruncateTableRequest request;
  CELLAR_TRY_ASSIGN(const std::string name, read_with_table(call, request));
  CELLAR_TRY(must_not_be_system(call, name));
  CELLAR_TRY(catalog.truncate_table(call, name, request.preserve_splits()));
  return answer_done(call);
}

Status enable_table(Call& call, Catalog& catalog) {
  wire::TableRequest request;
  CELLAR_TRY_ASSIGN(const std::string name, read_with_table(call, request));
  CELLAR_TRY(catalog.set_disabled(call, name, false));
  return answer_done(call);
}

Status disable_table(Call& call, Catalog& catalog) {
  wire::TableRequest request;
  CELLAR_TRY_ASSIGN(const std::string name, read_with_table(call, request));
  CELLAR_TRY(must_not_be_system(call, name));
  CELLAR_TRY(catalog.set_disabled(call, name, true));
  return answer_done(call);
}

Status modify_table(Call& call, Catalog& catalog) {
  wire::ModifyTableRequest request;
  CELLAR_TRY_ASSIGN(const std::string name, read_with_table(call, request));
  CELLAR_TRY(must_not_be_system(call, name));
  CELLAR_TRY_ASSIGN(const auto before, catalog.table(call, name));
  CELLAR_TRY_ASSIGN(TableOptions after, options_of(request.table_schema()));
  TableChange change;
  for (const FamilyOptions& each : before->options.families)
    if (!has_family(after, each.name)) change.remove_families.push_back(each.name);
  change.set_families = std::move(after.families);
  change.durability = after.durability;
  change.default_durability = !after.durability;
  change.read_only = after.read_only;
  change.compaction_enabled = after.compaction_enabled;
  change.memtable_bytes = after.memtable_bytes;
  change.metadata = std::move(after.metadata);
  change.configuration = std::move(after.configuration);
  CELLAR_TRY(catalog.alter_table(call, name, std::move(change)));
  return answer_done(call);
}

namespace {

// Adds a family, or changes one that exists: `is_new` says which.
Status set_family(Call& call, Catalog& catalog, bool is_new) {
  wire::FamilyRequest request;
  CELLAR_TRY_ASSIGN(const std::string name, read_with_table(call, request));
  CELLAR_TRY(must_not_be_system(call, name));
  CELLAR_TRY_ASSIGN(const auto table, catalog.table(call, name));
  CELLAR_TRY_ASSIGN(FamilyOptions family, wire::from_wire_family(request.family()));
  CELLAR_TRY(must_be_plain(family));
  if (has_family(table->options, family.name) == is_new)
    return call.refuse(java::kInvalidFamily,
                       fmt::format("column family '{}' {} in table {}", escaped(family.name),
                                   is_new ? "exists already" : "does not exist", name));
  TableChange change;
  change.set_families.push_back(std::move(family));
  CELLAR_TRY(catalog.alter_table(call, name, std::move(change)));
  return answer_done(call);
}

}  // namespace

Status add_family(Call& call, Catalog& catalog) { return set_family(call, catalog, true); }
Status modify_family(Call& call, Catalog& catalog) { return set_family(call, catalog, false); }

Status delete_family(Call& call, Catalog& catalog) {
  wire::DeleteFamilyRequest request;
  CELLAR_TRY_ASSIGN(const std::string name, read_with_table(call, request));
  CELLAR_TRY(must_not_be_system(call, name));
  CELLAR_TRY_ASSIGN(const auto table, catalog.table(call, name));
  if (!has_family(table->options, request.family()) || table->options.families.size() == 1)
    return call.refuse(java::kInvalidFamily,
                       fmt::format("column family '{}' does not exist in table {}, or is its only one",
                                   escaped(request.family()), name));
  TableChange change;
  change.remove_families.push_back(request.family());
  CELLAR_TRY(catalog.alter_table(call, name, std::move(change)));
  return answer_done(call);
}

Status flush_table(Call& call, Catalog& catalog) {
  wire::FlushTableRequest request;
  CELLAR_TRY_ASSIGN(const std::string name, read_with_table(call, request));
  CELLAR_TRY_ASSIGN(const auto table, catalog.table(call, name));
  if (request.families().empty()) CELLAR_TRY(table->table->flush());
  for (const std::string& family : request.families()) {
    if (!has_family(table->options, family))
      return call.refuse(java::kNoSuchFamily,
                         fmt::format("table {} has no family '{}'", name, escaped(family)));
    CELLAR_TRY(table->table->flush(family));
  }
  return answer_done(call);
}

// ---- Namespaces

namespace {

Status put_namespace(Call& call, Catalog& catalog, bool is_new) {
  wire::NamespaceRequest request;
  CELLAR_TRY(call.read(request));
  const std::string& name = request.descriptor().name();
  const bool fits = !name.empty() && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
  if (!fits)
    return Status::invalid_argument(
        fmt::format("\"{}\" is no name of a namespace: letters, digits and '_' are allowed", escaped(name)));
  std::string descriptor;
  if (!request.descriptor().SerializeToString(&descriptor))
    return Status::limit("the namespace is too large");
  CELLAR_TRY(catalog.put_namespace(call, name, descriptor, is_new));
  return answer_done(call);
}

}  // namespace

Status create_namespace(Call& call, Catalog& catalog) { return put_namespace(call, catalog, true); }
Status modify_namespace(Call& call, Catalog& catalog) { return put_namespace(call, catalog, false); }

Status delete_namespace(Call& call, Catalog& catalog) {
  wire::DeleteNamespaceRequest request;
  CELLAR_TRY(call.read(request));
  CELLAR_TRY(catalog.drop_namespace(call, request.name()));
  return answer_done(call);
}

Status get_namespace(Call& call, Catalog& catalog) {
  wire::GetNamespaceDescriptorRequest request;
  CELLAR_TRY(call.read(request));
  CELLAR_TRY_ASSIGN(const auto all, catalog.namespaces());
  const auto found = all.find(request.name());
  if (found == all.end()) return call.refuse(java::kNamespaceNotFound, request.name());
  wire::GetNamespaceDescriptorResponse response;
  CELLAR_TRY(wire::parse_message(*response.mutable_descriptor(), found->second));
  return call.answer(response);
}

Status list_namespaces(Call& call, Catalog& catalog) {
  CELLAR_TRY_ASSIGN(const auto all, catalog.namespaces());
  wire::ListNamespacesResponse response;
  for (const auto& [name, descriptor] : all) response.add_names(name);
  return call.answer(response);
}

Status list_namespace_descriptors(Call& call, Catalog& catalog) {
  CELLAR_TRY_ASSIGN(const auto all, catalog.namespaces());
  wire::ListNamespaceDescriptorsResponse response;
  for (const auto& [name, descriptor] : all)
    CELLAR_TRY(wire::parse_message(*response.add_descriptors(), descriptor));
  return call.answer(response);
}

}  // namespace cellar::hbase::serve
