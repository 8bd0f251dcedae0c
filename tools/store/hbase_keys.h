// HBaseKey: a key of HBase's configuration, and the option of Cellar that decides the same.
#pragma once

#include <span>
#include <string_view>

namespace cellar {

struct HBaseKey {
  std::string_view key;     // "hbase.hstore.blockingWaitTime"
  std::string_view scope;   // of the option: "engine", "table" or "family"
  std::string_view option;  // "stall_ms_max"
  std::string_view note;    // how the value differs; empty: it is the same
};

// Returns the keys of hbase-default.xml and of HBase's classes that decide what an option decides. Keys that
// are the name of an option in option_pages() are not repeated.
std::span<const HBaseKey> hbase_keys();

}  // namespace cellar
