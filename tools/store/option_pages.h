// OptionPage: an option as `cellar config explain` shows it.
#pragma once

#include <span>
#include <string_view>

namespace cellar {

// The texts are those of docs/options.md: a test keeps both equal to the code.
struct OptionPage {
  std::string_view scope;       // "engine", "table" or "family"
  std::string_view name;        // "files_stop"
  std::string_view hbase_name;  // "hbase.hstore.blockingStoreFiles"; empty: HBase has no such option
  std::string_view standard;    // the default; may be empty
  std::string_view range;       // the values that it may have; empty: any of its kind
  std::string_view purpose;     // its effect, and when to change it
  std::string_view example;     // another value
};

// Returns all options: those of engines, tables and families, in the order of their declarations.
std::span<const OptionPage> option_pages();

}  // namespace cellar
