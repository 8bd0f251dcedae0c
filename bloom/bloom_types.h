// Bloom types and hashes by the names that options and files have for them.
#pragma once

#include <memory>
#include <string_view>

#include "base/hash.h"
#include "cellar/bloom_type.h"

namespace cellar {

// Returns the type that an option names, in any case: "row", "rowprefix_fixed_length(prefix_length=8)"; null
// for "none". kInvalidArgument with the nearest name if the name is unknown.
Result<std::shared_ptr<const BloomType>> make_bloom_type(std::string_view text);
// Returns the type of a filter in a file, from HBase's name and its parameter, which is 0 if it has none.
// Returns null if no plug-in has this name.
std::shared_ptr<const BloomType> bloom_type_of_file(std::string_view name, size_t prefix_bytes);

// "jenkins", "murmur" or "murmur3", any case: kInvalidArgument for others.
Result<BloomHash> bloom_hash_by_name(std::string_view name);

}  // namespace cellar
