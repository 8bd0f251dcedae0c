// Catalog: the tables of a store as a cluster shows them: regions, states, namespaces, and hbase:meta.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/mutex.h"
#include "cellar/engine.h"
#include "hbase/serve/call.h"
#include "hbase/serve/statement_turn.h"

namespace cellar::hbase {
class RegionInfo;
}
namespace cellar::hbase::wire {
class RegionSpecifier;
class ServerName;
}  // namespace cellar::hbase::wire

namespace cellar::hbase::serve {

inline constexpr std::string_view kMetaTable = "hbase:meta";
// The table in which namespaces are kept, in HBase's form. It is created with the first one.
inline constexpr std::string_view kNamespaceTable = "hbase:namespace";

// ServedRegion: rows from `start` up to but not including `end` of a table. Empty: open.
struct ServedRegion {
  std::shared_ptr<Table> table;
  std::string table_name;
  std::string start;
  std::string end;
  uint64_t id = 0;
  bool meta = false;         // the region of hbase:meta
  std::string name;          // "orders,,7.0a1b….", by which clients name the region
  std::string encoded_name;  // the 32 hex digits in it

  void write_info(RegionInfo& to) const;
};

// ServedTable: a table, and what HBase knows of it in addition to its schema.
struct ServedTable {
  std::shared_ptr<Table> table;
  TableOptions options;  // without the notes of the catalog
  bool disabled = false;
  std::vector<ServedRegion> regions;  // in the order of their rows
};

// Any thread may call any function. Tables must be created, changed and dropped through the catalog alone.
//
// A table is cut into regions as create_table was told to. The cuts are notes in the table's metadata, and
// so is its state. They are there after a restart. Other commands of Cellar do not act on them.
class Catalog {
 public:
  // `engine` must outlive the catalog.
  static Result<std::unique_ptr<Catalog>> open(Engine& engine);
  ~Catalog();

  // Sets the name under which clients reach the server, and writes hbase:meta.
  Status begin(const std::string& host, uint16_t port);
  // Closes hbase:meta. Scanners must be gone.
  Status close();

  Engine& engine() { return engine_; }
  void write_server(wire::ServerName& to) const;
  const std::string& host() const { return host_; }
  uint16_t port() const { return port_; }
  std::string cluster_id() const;

  // Returns the region that a request names. NotServingRegionException if none has the name, or if its
  // table is disabled.
  Result<std::shared_ptr<const ServedRegion>> region(Call& call, const wire::RegionSpecifier& specifier);
  const ServedRegion& meta_region() const { return *meta_region_; }
  // Returns a table. TableNotFoundException.
  Result<std::shared_ptr<const ServedTable>> table(Call& call, const std::string& name);
  // Returns the names of all tables, sorted, hbase:namespace included and hbase:meta not.
  std::vector<std::string> table_names();

  // Statements. Errors have the classes that HBase's master throws.
  Status create_table(Call& call, const std::string& name, TableOptions options,
                      std::vector<std::string> splits);
  Status drop_table(Call& call, const std::string& name);
  Status truncate_table(Call& call, const std::string& name, bool keep_splits);
  Status alter_table(Call& call, const std::string& name, TableChange change);
  Status set_disabled(Call& call, const std::string& name, bool disabled);

  // Namespaces, "default" and "hbase" included. The text is HBase's NamespaceDescriptor message.
  Result<std::map<std::string, std::string>> namespaces();
  Status put_namespace(Call& call, const std::string& name, const std::string& descriptor, bool is_new);
  Status drop_namespace(Call& call, const std::string& name);

 private:
  explicit Catalog(Engine& engine) : engine_(engine) {}
  Status load(const std::string& name) CELLAR_REQUIRES(statements_);
  Status forget(const std::string& name) CELLAR_REQUIRES(statements_);
  Status erase_regions(const std::string& name, std::span<const ServedRegion> kept, Batch& batch)
      CELLAR_REQUIRES(statements_);
  Status write_meta(const ServedTable& table) CELLAR_REQUIRES(statements_);
  Status change_notes(const ServedTable& table, bool disabled, const std::vector<std::string>& splits)
      CELLAR_REQUIRES(statements_);
  Result<std::shared_ptr<Table>> namespace_table(bool create) CELLAR_REQUIRES(statements_);
  Result<std::map<std::string, std::string>> namespaces_of_store() CELLAR_REQUIRES(statements_);
  Status must_be_disabled(Call& call, const std::string& name) CELLAR_REQUIRES(statements_);

  Engine& engine_;
  std::unique_ptr<FileSystem> meta_files_;
  std::unique_ptr<Engine> meta_engine_;
  std::shared_ptr<const ServedRegion> meta_region_;
  std::string host_;
  uint16_t port_ = 0;
  uint64_t start_code_ = 0;
  StatementTurn statements_;
  Mutex mutex_;
  std::map<std::string, std::shared_ptr<const ServedTable>, std::less<>> tables_ CELLAR_GUARDED_BY(mutex_);
};

// Returns the table in the name of a region: "shop:orders" of "shop:orders,row,7.0a1b….".
std::string_view table_of_region(std::string_view region_name);
// Returns the namespace of a table: "default" of "orders".
std::string_view namespace_of(std::string_view table);

}  // namespace cellar::hbase::serve
