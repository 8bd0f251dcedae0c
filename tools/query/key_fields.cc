// Reading KEY_FIELDS and --key.
#include "tools/query/key_fields.h"

#include <fmt/format.h>

#include "tools/frame/operands.h"

namespace cellar {
namespace {

using Values = std::vector<std::optional<std::string>>;

constexpr std::string_view kOption = "--key";

Result<Values> parse_fields(Session& session, const std::optional<KeySchema>& schema,
                            const std::string& fields) {
  if (!schema)
    return session.name_failure(
        "CEL-USAGE", Exit::kUsage,
        Status::invalid_argument("--key needs to know the fields of keys, and the table has no KEY_FIELDS")
            .hinting("cellar alter STORE TABLE --set key_fields='user text, when int64'"));
  CELLAR_TRY_ASSIGN(Values values, for_argument(kOption, schema->parse_values(fields)));
  if (values.empty())
    return Status::invalid_argument("--key names no field").hinting("the fields are: " + schema->to_text());
  return values;
}

}  // namespace

std::optional<KeySchema> table_key_schema(const Session& session, const Table& table) {
  const TableOptions options = table.info().options;
  const auto found = options.metadata.find(std::string(KeySchema::kTableAttribute));
  if (found == options.metadata.end()) return std::nullopt;
  const Result<KeySchema> schema = KeySchema::parse(found->second);
  if (schema.ok()) return *schema;
  session.talk(fmt::format("note   KEY_FIELDS of the table is not used: {}", schema.status().message()));
  return std::nullopt;
}

void use_table_schema(const Session& session, const Table& table, ValueRules& rules) {
  if (rules.has_row_rule()) return;
  const std::optional<KeySchema> schema = table_key_schema(session, table);
  if (schema) rules.set_table_schema(*schema, session.format());
}

std::optional<KeySchema> key_schema_of(const Session& session, const Table& table, const ValueRules& rules) {
  return rules.row_schema() ? rules.row_schema() : table_key_schema(session, table);
}

Result<std::string> row_of_fields(Session& session, const std::optional<KeySchema>& schema,
                                  const std::string& fields) {
  CELLAR_TRY_ASSIGN(const Values values, parse_fields(session, schema, fields));
  if (values.size() < schema->names().size())
    return Status::invalid_argument(
               fmt::format("{}: field {} of the row is missing", kOption, schema->names()[values.size()]))
        .hinting("cellar scan STORE TABLE --key reads all rows that begin with some fields");
  return for_argument(kOption, schema->key(values));
}

Result<KeyRange> range_of_fields(Session& session, const std::optional<KeySchema>& schema,
                                 const std::string& fields) {
  CELLAR_TRY_ASSIGN(const Values values, parse_fields(session, schema, fields));
  return for_argument(kOption, schema->range(values));
}

}  // namespace cellar
