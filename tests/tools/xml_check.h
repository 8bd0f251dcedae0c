// xml_fault: whether a text is well-formed XML, for the pictures that the tool writes.
#pragma once

#include <string>

namespace cellar::testing {

// Returns what is wrong and where; empty if nothing is. It knows elements, attributes, text and the five
// entities, which is all that the pictures use; anything else is a fault.
std::string xml_fault(const std::string& text);

}  // namespace cellar::testing
