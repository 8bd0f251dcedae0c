// What is said of attributes and keys of HBase's that a store does not act on.
#pragma once

#include <string>
#include <string_view>

#include "engine/schema/carried_attributes.h"

namespace cellar {

// "note   REPLICATION_SCOPE is kept and has no effect: …"; empty where nothing is to be said, as of a value
// that asks for what is so anyway, and of notes of the owner's, unless they look like HBase's configuration.
std::string carried_note(AttributeOf of, std::string_view name, std::string_view value);
// Of a key in CONFIGURATION that is no option.
std::string configuration_note(std::string_view key);

// Why there is nothing to do for an attribute that HBase's create and alter take and no table keeps: SPLITS,
// REOPEN_REGIONS. Empty: it is none of those.
std::string_view passing_attribute(std::string_view name);

}  // namespace cellar
