// Attributes of HBase's families and tables that a store keeps for their owner, and for HBase, and does not
// act on. KEY_FIELDS is Cellar's: the tools show keys by it.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "cellar/status.h"

namespace cellar {

enum class AttributeOf : uint8_t { kFamily, kTable };

struct CarriedAttribute {
  AttributeOf of;
  std::string_view name;   // in capitals
  std::string_view usual;  // HBase's default, in capitals: carried by not being there; empty: none
  Status (*check)(std::string_view name, std::string_view value);
  std::string_view why;  // why it has no effect; empty: whatever it says is so
};

// All but coprocessors, of which a table may have any number.
std::span<const CarriedAttribute> carried_attributes();
// The one of that name, in either case; coprocessors are COPROCESSOR$1 and so on. Null: a store does not know
// it, or has an option for it.
const CarriedAttribute* find_carried_attribute(AttributeOf of, std::string_view name);

// Returns the class in "path|class|priority|arguments".
std::string_view coprocessor_class(std::string_view value);

// Returns true if the value is the usual one, also in other words: "102400 B (100KB)".
bool asks_for_usual(const CarriedAttribute& attribute, std::string_view value);

}  // namespace cellar
