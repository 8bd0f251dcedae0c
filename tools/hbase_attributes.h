// Attributes of HBase's families and tables that a store has not: which value asks for nothing, and why
// another one cannot be obeyed.
#pragma once

#include <string>
#include <string_view>

namespace cellar {

// What is to be said of an attribute, or a key of CONFIGURATION and METADATA.
struct AttributeAnswer {
  bool known = false;
  std::string note = {};  // empty: the value asks for nothing that is not so
};

// An attribute of a family or of a table, in capitals, with its value as text.
AttributeAnswer answer_attribute(std::string_view name, std::string_view value);
// A key in CONFIGURATION or, with `metadata`, METADATA, that is no option of a family.
AttributeAnswer answer_key(std::string_view key, std::string_view value, bool metadata);

}  // namespace cellar
