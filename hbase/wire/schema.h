// Schemas of tables as HBase's messages, and back.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cellar/options.h"
#include "cellar/status.h"

namespace cellar::hbase {
class ColumnFamilySchema;
class TableName;
class TableSchema;
}  // namespace cellar::hbase

namespace cellar::hbase::wire {

// Sets namespace and qualifier: "default" and "orders" for "orders", "shop" and "orders" for "shop:orders".
void to_wire_name(std::string_view table, TableName& to);
// The inverse. kInvalidArgument for a message without a name.
Result<std::string> from_wire_name(const TableName& from);

// Writes all options in HBase's spelling. Options without a name in HBase stand in attributes
// "CELLAR.option" if they differ from their default, and so do codecs with parameters. Clients of HBase carry
// such attributes along.
void to_wire_schema(std::string_view table, const TableOptions& options, TableSchema& to);
void to_wire_family(const FamilyOptions& family, ColumnFamilySchema& to);
// The inverse. Options that the message does not name have Cellar's defaults. kInvalidArgument for an
// invalid value. Keys of families in a table, and ENCRYPTION, are kept as metadata or configuration, although
// no store takes them.
Result<TableOptions> from_wire_schema(const TableSchema& from);
Result<FamilyOptions> from_wire_family(const ColumnFamilySchema& from);
// Returns the families with the keys that they inherit from the table, as in HBase. Takes these keys out of
// `table`, since a store keeps them in families alone.
Result<std::vector<FamilyOptions>> inheriting_families(const TableSchema& from, TableOptions& table);

}  // namespace cellar::hbase::wire
