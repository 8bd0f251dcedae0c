// Schemas in plain words: f versions=3 ttl=86400 is {NAME => 'f', VERSIONS => 3, TTL => 86400}.
#pragma once

#include <span>
#include <vector>

#include "tools/shell/shell_syntax.h"

namespace cellar {

// The arguments of create or alter behind the table's name, without words that hold an equals sign: such a
// word is an attribute, of the table where tables have one of that name, else of the family named last (by a
// word, or by name=f). Texts in quotes are never taken apart. A method and its name make braces of their own.
std::vector<ShellValue> words_as_braces(std::span<const ShellValue> arguments);

}  // namespace cellar
