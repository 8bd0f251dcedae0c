// Lines of operations (region.py describes them) as Cellar's requests. A malformed line ends the program: the
// lines are this repository's own.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cellar/check_and_mutate.h"
#include "cellar/mutation.h"
#include "cellar/query.h"

namespace cellar::interop {

using Fields = std::span<const std::string>;

// At most `parts` pieces; the last one takes the rest.
std::vector<std::string> split(std::string_view text, char at, size_t parts = SIZE_MAX);
int64_t number(std::string_view text);

Put read_put(Fields fields);
Delete read_delete(Fields fields);
Increment read_increment(Fields fields);
Append read_append(Fields fields);
RowMutations read_mutations(Fields fields);
Result<CheckAndMutate> read_check(Fields fields);
Result<Get> read_get(Fields fields);
Result<Scan> read_scan(Fields fields);

}  // namespace cellar::interop
