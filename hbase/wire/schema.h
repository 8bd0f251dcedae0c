// Schemas of tables as HBase's messages, and back.
#pragma once

#include <string>
#include <string_view>

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
// invalid value, kNotSupported for ENCRYPTION.
Result<TableOptions> from_wire_schema(const TableSchema& from);
Result<FamilyOptions> from_wire_family(const ColumnFamilySchema& from);

}  // namespace cellar::hbase::wire
