// A small part of JSON Schema, as much as Cellar's schemas use.
#include "tests/tools/schema_check.h"

#include <re2/re2.h>

#include <algorithm>
#include <fstream>

namespace cellar::testing {
namespace {

using Json = nlohmann::json;

bool is_of(const Json& value, const std::string& type) {
  if (type == "integer") return value.is_number_integer();
  if (type == "number") return value.is_number();
  return type == (value.is_boolean() ? "boolean" : value.type_name());
}

bool fits(const Json& value, const Json& types) {
  if (types.is_string()) return is_of(value, types);
  return std::ranges::any_of(types, [&](const Json& type) { return is_of(value, type); });
}

const Json* schema_of_member(const std::string& name, const Json& properties, const Json& patterns) {
  if (properties.contains(name)) return &properties[name];
  for (const auto& [pattern, schema] : patterns.items())
    if (RE2::PartialMatch(name, pattern)) return &schema;
  return nullptr;
}

}  // namespace

Json schema_of(const std::string& name) {
  std::ifstream file(CELLAR_SOURCE_DIR "/share/cellar/schema/" + name + ".json");
  return Json::parse(file, nullptr, false);
}

std::vector<std::string> schema_faults(const Json& document, const Json& schema, const std::string& place) {
  std::vector<std::string> faults;
  const auto descend = [&](const Json& part, const Json& of, const std::string& at) {
    for (std::string& fault : schema_faults(part, of, at)) faults.push_back(std::move(fault));
  };
  if (!schema.is_object() || !schema.contains("type")) return {place + ": the schema says nothing"};
  if (!fits(document, schema["type"]))
    return {place + ": " + document.dump() + " is not " + schema["type"].dump()};
  if (document.is_object()) {
    for (const Json& name : schema.value("required", Json::array()))
      if (!document.contains(name)) faults.push_back(place + ": " + name.dump() + " is missing");
    const Json properties = schema.value("properties", Json::object());
    const Json patterns = schema.value("patternProperties", Json::object());
    for (const auto& [name, value] : document.items()) {
      if (const Json* const of = schema_of_member(name, properties, patterns); of != nullptr) {
        descend(value, *of, place + "." + name);
      } else {
        faults.push_back(place + ": " + name + " is not in the schema");
      }
    }
  }
  if (document.is_array() && schema.contains("items"))
    for (size_t i = 0; i < document.size(); ++i)
      descend(document[i], schema["items"], place + "[" + std::to_string(i) + "]");
  return faults;
}

}  // namespace cellar::testing
