// Schemas in plain words: f versions=3 ttl=86400 is {NAME => 'f', VERSIONS => 3, TTL => 86400}.
#pragma once

#include <span>
#include <vector>

#include "tools/shell/shell_syntax.h"

namespace cellar {

// Returns the arguments of create or alter after the table's name, with words that hold an equals sign turned
// into attributes. Such a word belongs to the table if tables have an attribute of that name. Else it belongs
// to the family named last (by a word, or by name=f). Texts in quotes are never taken apart. A method and its
// name make braces of their own.
std::vector<ShellValue> words_as_braces(std::span<const ShellValue> arguments);

}  // namespace cellar
