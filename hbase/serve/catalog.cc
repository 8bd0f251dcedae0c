// Reads and writes the catalog: tables of the store, and rows of hbase:meta in a store that lives in memory.
#include "hbase/serve/catalog.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "base/bytes.h"
#include "base/coding.h"
#include "base/memory_file_system.h"
#include "cellar/keys.h"
#include "hbase/proto/hbase.pb.h"
#include "hbase/wire/common.pb.h"
#include "hbase/wire/schema.h"

namespace cellar::hbase::serve {
namespace {

constexpr std::string_view kStateNote = "CELLAR.state";    // DISABLED
constexpr std::string_view kSplitsNote = "CELLAR.splits";  // the first rows of regions, in hexadecimal digits
constexpr std::string_view kProtobufMagic = "PBUF";

std::string joined_splits(const std::vector<std::string>& splits) {
  std::string text;
  for (const std::string& each : splits) text += (text.empty() ? "" : ",") + hex(each);
  return text;
}

int digit_of(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

// Returns no splits if the note was damaged: the table then has a single region.
std::vector<std::string> splits_of(std::string_view text) {
  std::vector<std::string> splits;
  while (!text.empty()) {
    const std::string_view digits = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), digits.size() + 1));
    std::string row;
    for (size_t at = 0; at + 1 < digits.size(); at += 2) {
      const int high = digit_of(digits[at]);
      const int low = digit_of(digits[at + 1]);
      if (high < 0 || low < 0) return {};
      row += static_cast<char>(high * 16 + low);
    }
    if (digits.size() % 2 != 0 || row.empty() || (!splits.empty() && row <= splits.back())) return {};
    splits.push_back(std::move(row));
  }
  return splits;
}

// Takes a note of the catalog out of the metadata, which clients do not see.
std::string take_note(TableOptions& options, std::string_view name) {
  const auto found = options.metadata.find(std::string(name));
  if (found == options.metadata.end()) return {};
  std::string value = found->second;
  options.metadata.erase(found);
  return value;
}

void name_region(ServedRegion& region) {
  const std::string begin = fmt::format("{},{},{}", region.table_name, region.start, region.id);
  if (region.meta) {
    region.name = begin;
    region.encoded_name = "1588230740";  // HBase's name of the only region of hbase:meta
  } else {
    region.encoded_name = md5_hex(begin);
    region.name = fmt::format("{}.{}.", begin, region.encoded_name);
  }
}

std::string bytes_of(const google::protobuf::MessageLite& message) {
  std::string bytes;
  CELLAR_ASSERT(message.SerializeToString(&bytes));
  return bytes;
}

FamilyOptions meta_family(std::string name) {
  FamilyOptions family;
  family.name = std::move(name);
  family.max_versions = 3;
  family.delete_order = MarkerOrder::kSequence;  // a row that is written again within a millisecond shows
  return family;
}

TableOptions meta_options() {
  TableOptions options;
  for (const char* name : {"info", "ns", "rep_barrier", "table"})
    options.families.push_back(meta_family(name));
  return options;
}

}  // namespace

std::string_view table_of_region(std::string_view region_name) {
  return region_name.substr(0, region_name.find(','));
}

std::string_view namespace_of(std::string_view table) {
  const size_t colon = table.find(':');
  return colon == table.npos ? "default" : table.substr(0, colon);
}

void ServedRegion::write_info(RegionInfo& to) const {
  wire::to_wire_name(table_name, *to.mutable_table_name());
  to.set_region_id(id);
  to.set_start_key(start);
  to.set_end_key(end);
  to.set_offline(false);
  to.set_split(false);
  to.set_replica_id(0);
}

Catalog::~Catalog() = default;

Result<std::unique_ptr<Catalog>> Catalog::open(Engine& engine) {
  std::unique_ptr<Catalog> catalog(new Catalog(engine));
  catalog->meta_files_ = make_memory_file_system();
  EngineOptions options;
  options.create_if_missing = true;
  options.environment.files = catalog->meta_files_.get();
  options.log_segment_bytes = 64u << 10;
  options.memtable_bytes = 1u << 20;
  options.cache_bytes = 1u << 20;
  CELLAR_TRY_ASSIGN(catalog->meta_engine_, Engine::open("meta", options));
  auto region = std::make_shared<ServedRegion>();
  CELLAR_TRY_ASSIGN(region->table,
                    catalog->meta_engine_->create_table(std::string(kMetaTable), meta_options()));
  region->table_name = kMetaTable;
  region->id = 1;
  region->meta = true;
  name_region(*region);
  catalog->meta_region_ = std::move(region);
  return catalog;
}

Status Catalog::begin(const std::string& host, uint16_t port) {
  const StatementLock statement(statements_);
  host_ = host;
  port_ = port;
  start_code_ = static_cast<uint64_t>(system_clock().wall_ms());
  for (const std::string& name : engine_.list_tables()) CELLAR_TRY(load(name));
  return {};
}

Status Catalog::close() {
  const StatementLock statement(statements_);
  std::map<std::string, std::shared_ptr<const ServedTable>, std::less<>> last_use;
  {
    const MutexLock lock(mutex_);
    last_use.swap(tables_);
  }
  last_use.clear();
  return meta_engine_->close();
}

void Catalog::write_server(wire::ServerName& to) const {
  to.set_host_name(host_);
  to.set_port(port_);
  to.set_start_code(start_code_);
}

std::string Catalog::cluster_id() const {
  const std::string id = engine_.status().identity;
  if (id.size() != 32) return id;
  return fmt::format("{}-{}-{}-{}-{}", id.substr(0, 8), id.substr(8, 4), id.substr(12, 4), id.substr(16, 4),
                     id.substr(20));
}

Result<std::shared_ptr<const ServedRegion>> Catalog::region(Call& call,
                                                            const wire::RegionSpecifier& specifier) {
  const std::string& name = specifier.value();
  const bool encoded = specifier.type() == wire::RegionSpecifier::ENCODED_NAME;
  if (name == (encoded ? meta_region_->encoded_name : meta_region_->name)) return meta_region_;
  const MutexLock lock(mutex_);
  for (auto at = encoded ? tables_.begin() : tables_.find(table_of_region(name)); at != tables_.end(); ++at) {
    const std::shared_ptr<const ServedTable>& table = at->second;
    for (const ServedRegion& each : table->regions)
      if ((encoded ? each.encoded_name : each.name) == name && !table->disabled)
        return std::shared_ptr<const ServedRegion>(table, &each);
    if (!encoded) break;
  }
  return call.refuse(java::kNotServingRegion,
                     fmt::format("{} is not online on {}:{}", escaped(name), host_, port_));
}

Result<std::shared_ptr<const ServedTable>> Catalog::table(Call& call, const std::string& name) {
  const MutexLock lock(mutex_);
  const auto found = tables_.find(name);
  if (found == tables_.end()) return call.refuse(java::kTableNotFound, name);
  return found->second;
}

std::vector<std::string> Catalog::table_names() {
  const MutexLock lock(mutex_);
  std::vector<std::string> names;
  for (const auto& [name, table] : tables_) names.push_back(name);
  return names;
}

// ---- hbase:meta

Status Catalog::load(const std::string& name) {
  CELLAR_TRY_ASSIGN(std::shared_ptr<Table> opened, engine_.open_table(name));
  const TableInfo info = opened->info();
  auto table = std::make_shared<ServedTable>();
  table->table = opened;
  table->options = info.options;
  table->disabled = take_note(table->options, kStateNote) == "DISABLED";
  std::vector<std::string> bounds = splits_of(take_note(table->options, kSplitsNote));
  bounds.insert(bounds.begin(), "");
  for (size_t at = 0; at < bounds.size(); ++at) {
    ServedRegion region;
    region.table = opened;
    region.table_name = name;
    region.start = bounds[at];
    if (at + 1 < bounds.size()) region.end = bounds[at + 1];
    region.id = info.id;
    name_region(region);
    table->regions.push_back(std::move(region));
  }
  CELLAR_TRY(write_meta(*table));
  std::shared_ptr<const ServedTable> served = std::move(table);
  const MutexLock lock(mutex_);
  tables_[name].swap(served);  // the one before ends without the lock
  return {};
}

// Removes the rows of a table from hbase:meta, and the table from the catalog.
Status Catalog::forget(const std::string& name) {
  Batch batch;
  batch.erase(meta_region_->table, Delete(name));
  CELLAR_TRY(erase_regions(name, {}, batch));
  CELLAR_TRY(meta_engine_->write(batch));
  std::shared_ptr<const ServedTable> last_use;  // ends without the lock
  const MutexLock lock(mutex_);
  if (const auto found = tables_.find(name); found != tables_.end()) {
    last_use = std::move(found->second);
    tables_.erase(found);
  }
  return {};
}

// Adds to a batch the deletion of those rows of a table in hbase:meta that are none of `kept`.
Status Catalog::erase_regions(const std::string& name, std::span<const ServedRegion> kept, Batch& batch) {
  const Scan rows(keys_with_prefix(name + ","));
  CELLAR_TRY_ASSIGN(const std::unique_ptr<Scanner> scanner, meta_region_->table->scan(rows));
  for (const RowView row : *scanner)
    if (std::ranges::find(kept, row.row(), &ServedRegion::name) == kept.end())
      batch.erase(meta_region_->table, Delete(row.row()));
  return scanner->status();
}

// A table that changes has its rows at every moment: clients take a table without rows for one that is gone.
Status Catalog::write_meta(const ServedTable& table) {
  CELLAR_ASSERT(!table.regions.empty());
  Batch batch;
  CELLAR_TRY(erase_regions(table.regions.front().table_name, table.regions, batch));
  wire::TableState state;
  state.set_state(table.disabled ? wire::TableState::DISABLED : wire::TableState::ENABLED);
  batch.put(meta_region_->table,
            Put(table.regions.front().table_name).add("table", "state", bytes_of(state)));
  std::string start_code;
  append_be64(start_code, start_code_);
  std::string sequence;
  append_be64(sequence, 1);
  for (const ServedRegion& region : table.regions) {
    RegionInfo info;
    region.write_info(info);
    Put put(region.name);
    put.add("info", "regioninfo", std::string(kProtobufMagic) + bytes_of(info));
    put.add("info", "seqnumDuringOpen", sequence);
    put.add("info", "server", fmt::format("{}:{}", host_, port_));
    put.add("info", "serverstartcode", start_code);
    put.add("info", "sn", fmt::format("{},{},{}", host_, port_, start_code_));
    put.add("info", "state", table.disabled ? "CLOSED" : "OPEN");
    batch.put(meta_region_->table, put);
  }
  return meta_engine_->write(batch);
}

// ---- Statements

Status Catalog::create_table(Call& call, const std::string& name, TableOptions options,
                             std::vector<std::string> splits) {
  const StatementLock statement(statements_);
  CELLAR_TRY_ASSIGN(const auto spaces, namespaces_of_store());
  const std::string space(namespace_of(name));
  if (!spaces.contains(space)) return call.refuse(java::kNamespaceNotFound, space);
  if (std::ranges::binary_search(engine_.list_tables(), name)) return call.refuse(java::kTableExists, name);
  std::ranges::sort(splits);
  if (!splits.empty()) options.metadata[std::string(kSplitsNote)] = joined_splits(splits);
  CELLAR_TRY(engine_.create_table(name, options, splits));  // which refuses invalid splits
  return load(name);
}

Status Catalog::must_be_disabled(Call& call, const std::string& name) {
  CELLAR_TRY_ASSIGN(const std::shared_ptr<const ServedTable> found, table(call, name));
  return found->disabled ? Status() : call.refuse(java::kTableNotDisabled, name);
}

Status Catalog::drop_table(Call& call, const std::string& name) {
  const StatementLock statement(statements_);
  CELLAR_TRY(must_be_disabled(call, name));
  CELLAR_TRY(engine_.drop_table(name));
  return forget(name);
}

Status Catalog::change_notes(const ServedTable& table, bool disabled,
                             const std::vector<std::string>& splits) {
  TableChange change;
  change.metadata = table.options.metadata;
  if (disabled) change.metadata->emplace(kStateNote, "DISABLED");
  if (!splits.empty()) change.metadata->emplace(kSplitsNote, joined_splits(splits));
  const std::string& name = table.regions.front().table_name;
  CELLAR_TRY(engine_.alter_table(name, change));
  return load(name);
}

namespace {

// Returns the first rows of all regions but the first.
std::vector<std::string> splits_of(const ServedTable& table) {
  std::vector<std::string> splits;
  for (const ServedRegion& each : table.regions)
    if (!each.start.empty()) splits.push_back(each.start);
  return splits;
}

}  // namespace

// The table is enabled afterwards, as in HBase.
Status Catalog::truncate_table(Call& call, const std::string& name, bool keep_splits) {
  const StatementLock statement(statements_);
  CELLAR_TRY(must_be_disabled(call, name));
  CELLAR_TRY_ASSIGN(const std::shared_ptr<const ServedTable> found, table(call, name));
  CELLAR_TRY(engine_.truncate_table(name));
  return change_notes(*found, false, keep_splits ? splits_of(*found) : std::vector<std::string>());
}

Status Catalog::set_disabled(Call& call, const std::string& name, bool disabled) {
  const StatementLock statement(statements_);
  CELLAR_TRY_ASSIGN(const std::shared_ptr<const ServedTable> found, table(call, name));
  if (found->disabled == disabled)
    return call.refuse(disabled ? java::kTableNotEnabled : java::kTableNotDisabled, name);
  return change_notes(*found, disabled, splits_of(*found));
}

Status Catalog::alter_table(Call& call, const std::string& name, TableChange change) {
  const StatementLock statement(statements_);
  CELLAR_TRY_ASSIGN(const std::shared_ptr<const ServedTable> found, table(call, name));
  if (change.metadata) {
    if (found->disabled) change.metadata->emplace(kStateNote, "DISABLED");
    const std::vector<std::string> splits = splits_of(*found);
    if (!splits.empty()) change.metadata->emplace(kSplitsNote, joined_splits(splits));
  }
  CELLAR_TRY(engine_.alter_table(name, change));
  return load(name);
}

// ---- Namespaces

Result<std::shared_ptr<Table>> Catalog::namespace_table(bool create) {
  const std::string name(kNamespaceTable);
  if (!create) return engine_.open_table(name);
  if (std::ranges::binary_search(engine_.list_tables(), name)) return engine_.open_table(name);
  TableOptions options;
  options.families.push_back(meta_family("info"));
  CELLAR_TRY(engine_.create_table(name, options));
  CELLAR_TRY(load(name));
  return engine_.open_table(name);
}

Result<std::map<std::string, std::string>> Catalog::namespaces_of_store() {
  std::map<std::string, std::string> all;
  const auto add = [&all](const std::string& name) {
    wire::NamespaceDescriptor descriptor;
    descriptor.set_name(name);
    all.emplace(name, bytes_of(descriptor));
  };
  const std::vector<std::string> tables = engine_.list_tables();
  if (std::ranges::binary_search(tables, kNamespaceTable)) {
    CELLAR_TRY_ASSIGN(const std::shared_ptr<Table> table, namespace_table(false));
    CELLAR_TRY_ASSIGN(const std::unique_ptr<Scanner> scanner, table->scan(Scan()));
    for (const RowView row : *scanner)
      if (const auto value = row.value("info", "d")) all.emplace(row.row(), *value);
    CELLAR_TRY(scanner->status());
  }
  add("default");
  add("hbase");
  // Cellar needs no namespace for a table: those of tables that other commands made exist as well.
  for (const std::string& each : tables) add(std::string(namespace_of(each)));
  return all;
}

Result<std::map<std::string, std::string>> Catalog::namespaces() {
  const StatementLock statement(statements_);
  return namespaces_of_store();
}

Status Catalog::put_namespace(Call& call, const std::string& name, const std::string& descriptor,
                              bool is_new) {
  const StatementLock statement(statements_);
  CELLAR_TRY_ASSIGN(const auto all, namespaces_of_store());
  if (is_new == all.contains(name))
    return call.refuse(is_new ? java::kNamespaceExists : java::kNamespaceNotFound, name);
  CELLAR_TRY_ASSIGN(const std::shared_ptr<Table> table, namespace_table(true));
  return table->put(Put(name).add("info", "d", descriptor));
}

Status Catalog::drop_namespace(Call& call, const std::string& name) {
  const StatementLock statement(statements_);
  CELLAR_TRY_ASSIGN(const auto all, namespaces_of_store());
  if (!all.contains(name)) return call.refuse(java::kNamespaceNotFound, name);
  if (name == "default" || name == "hbase")
    return call.refuse(java::kConstraint, fmt::format("the namespace {} cannot be removed", name));
  for (const std::string& each : engine_.list_tables())
    if (namespace_of(each) == name)
      return call.refuse(
          java::kConstraint,
          fmt::format("only empty namespaces can be removed: {} has the table {}", name, each));
  CELLAR_TRY_ASSIGN(const std::shared_ptr<Table> table, namespace_table(true));
  return table->erase(Delete(name));
}

}  // namespace cellar::hbase::serve
