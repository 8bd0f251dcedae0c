// The schema of a table's keys: rows are shown by it, and --key names rows by their fields.
#pragma once

#include <optional>
#include <string>

#include "cellar/key_schema.h"
#include "cellar/table.h"
#include "tools/frame/session.h"
#include "tools/frame/value_rules.h"

namespace cellar {

// Returns the schema that the table keeps as KEY_FIELDS, or nothing. A text that is no schema, which only a
// cluster may have, is told in a note.
std::optional<KeySchema> table_key_schema(const Session& session, const Table& table);

// Lets the rules show rows by the schema of the table, unless --decode asks for another form.
void use_table_schema(const Session& session, const Table& table, ValueRules& rules);

// Returns the schema of --decode row=key(…), or else that of the table.
std::optional<KeySchema> key_schema_of(const Session& session, const Table& table, const ValueRules& rules);

// Return the row, or the range of rows, whose fields have these values: "user=alice, when=17" of --key.
// CEL-USAGE if there is no schema; kInvalidArgument for a text that does not fit it, or names no field.
Result<std::string> row_of_fields(Session& session, const std::optional<KeySchema>& schema,
                                  const std::string& fields);
Result<KeyRange> range_of_fields(Session& session, const std::optional<KeySchema>& schema,
                                 const std::string& fields);

}  // namespace cellar
