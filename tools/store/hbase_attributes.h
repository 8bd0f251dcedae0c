// Notes on attributes and keys of HBase that a store does not act on.
#pragma once

#include <string>
#include <string_view>

#include "engine/schema/carried_attributes.h"

namespace cellar {

// Returns "note   REPLICATION_SCOPE is kept and has no effect: …". Returns "" for a value that asks for the
// usual behaviour, and for notes of the owner, unless they look like HBase's configuration.
std::string carried_note(AttributeOf of, std::string_view name, std::string_view value);
// Returns the note on a key in CONFIGURATION that is no option.
std::string configuration_note(std::string_view key);

// Returns why there is nothing to do for an attribute that HBase's create and alter take and no table keeps:
// SPLITS, REOPEN_REGIONS. Returns "" for other attributes. In a cluster it is about a table that exists.
std::string_view passing_attribute(std::string_view name, bool in_cluster);

}  // namespace cellar
