// The schema of an export: JSON of option names and values, read with the checks of any other schema.
#include "tools/store/schema_file.h"

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/bytes.h"
#include "cellar/file_system.h"

namespace cellar {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kFormat = "cellar.table-schema/1";
constexpr uint64_t kBytesMax = 64u << 20;

// Names and values may hold any bytes: they are escaped as everywhere in documents.
template <class Options>
Json json_of(const Options& options) {
  Json json = Json::object();
  for (const auto& [name, value] : option_list(options)) json[escaped(name)] = escaped(value);
  return json;
}

Status malformed(std::string_view what) {
  return Status::corruption(fmt::format("the schema of the export cannot be understood: {}", what));
}

Result<std::string> text_in(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_string()) return malformed(fmt::format("no text \"{}\"", key));
  return unescaped(found->template get<std::string>());
}

template <class Options>
Status set_options(const Json& object, Options& options) {
  const auto found = object.find("options");
  if (found == object.end() || !found->is_object()) return malformed("no \"options\"");
  for (const auto& [name, value] : found->items()) {
    if (!value.is_string()) return malformed(fmt::format("option {} is not a text", name));
    CELLAR_TRY_ASSIGN(const std::string option, unescaped(name));
    CELLAR_TRY_ASSIGN(const std::string text, unescaped(value.template get<std::string>()));
    if (const Status set = set_option(options, option, text); !set.ok()) return malformed(set.message());
  }
  return {};
}

Result<ExportedSchema> parse(const std::string& text) {
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object()) return malformed("it is not a JSON object");
  CELLAR_TRY_ASSIGN(const std::string format, text_in(json, "schema"));
  if (format != kFormat)
    return Status::not_supported(
        fmt::format("the schema of the export is of format {}, known is {}", escaped(format), kFormat));
  ExportedSchema schema;
  CELLAR_TRY_ASSIGN(schema.table, text_in(json, "table"));
  CELLAR_TRY(set_options(json, schema.options));
  const auto families = json.find("families");
  if (families == json.end() || !families->is_array()) return malformed("no \"families\"");
  for (const Json& each : *families) {
    FamilyOptions family;
    CELLAR_TRY_ASSIGN(family.name, text_in(each, "name"));
    CELLAR_TRY(set_options(each, family));
    schema.options.families.push_back(std::move(family));
  }
  return schema;
}

}  // namespace

std::string schema_file_text(const ExportedSchema& schema) {
  Json json = {{"schema", kFormat}, {"table", escaped(schema.table)}, {"options", json_of(schema.options)}};
  json["families"] = Json::array();
  for (const FamilyOptions& family : schema.options.families)
    json["families"].push_back({{"name", escaped(family.name)}, {"options", json_of(family)}});
  return json.dump(2) + "\n";
}

Result<std::optional<ExportedSchema>> read_schema_file(const std::string& directory) {
  const std::string path = fmt::format("{}/{}", directory, kSchemaFileName);
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return std::optional<ExportedSchema>();
  CELLAR_TRY_ASSIGN(const std::unique_ptr<ReadableFile> file, posix_file_system().open_file(path));
  if (file->size() > kBytesMax) return Status::limit("a schema of more than 64 MiB").at(path);
  std::string text(file->size(), '\0');
  CELLAR_TRY(file->read(0, text.size(), text.data()));
  Result<ExportedSchema> schema = parse(text);
  if (!schema.ok()) return schema.status().at(path);
  return std::optional(std::move(*schema));
}

}  // namespace cellar
