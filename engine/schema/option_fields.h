// Options of families and tables, and their names in HBase.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cellar/options.h"

namespace cellar {

constexpr int64_t kBlockBytesMin = 1024;
constexpr int64_t kBlockBytesMax = 16 << 20;
constexpr int64_t kMemtableBytesMin = 4096;
constexpr int64_t kVersionsMax = INT32_MAX;  // HBase's int

constexpr std::string_view kSameCompression = "same";

// A value other than the default that somebody might set, as set_option takes it; of an unknown option
// nothing.
std::string option_example(const FamilyOptions& family, std::string_view option);
std::string option_example(const TableOptions& table, std::string_view option);
std::string option_example(const EngineOptions& engine, std::string_view option);

// Returns the option that an attribute or a key of HBase sets: "the option max_versions". Such a key is not
// carried. Returns "" if it sets none.
std::string option_of_metadata(const FamilyOptions& family, std::string_view key);
std::string option_of_metadata(const TableOptions& table, std::string_view key);
std::string option_of_configuration(const FamilyOptions& family, std::string_view key);
std::string option_of_configuration(const TableOptions& table, std::string_view key);

// Returns true if a key of HBase's configuration is, or may be, an option of a family.
bool is_family_key(std::string_view key);

// Returns true if the key is a parameter that the family's text of the plug-in lacks.
bool lacks_parameter(const FamilyOptions& family, std::string_view key);

// A family's configuration as HBase would have it: what is carried, and the options that are keys there and
// differ from their defaults.
CarriedTexts hbase_configuration(const FamilyOptions& family);

}  // namespace cellar
