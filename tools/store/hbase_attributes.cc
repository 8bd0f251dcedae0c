// Notes on what HBase has and a store has not.
#include "tools/store/hbase_attributes.h"

#include <fmt/format.h>

#include "base/bytes.h"
#include "engine/schema/option_fields.h"

namespace cellar {
namespace {

constexpr std::string_view kRegions = "a table of a store is not cut into regions";
constexpr std::string_view kRegionsStay = "only create cuts a table into regions";

struct Passing {
  std::string_view name;
  std::string_view why;         // it has no effect in a store
  std::string_view in_cluster;  // the same of a statement that alters a table of a cluster
};

constexpr Passing kPassing[] = {
    {"SPLITS", kRegions, kRegionsStay},
    {"SPLITS_FILE", kRegions, kRegionsStay},
    {"NUMREGIONS", kRegions, kRegionsStay},
    {"SPLITALGO", kRegions, kRegionsStay},
    {"REOPEN_REGIONS", "it is altered at once", "it is altered at once"},
};

}  // namespace

std::string carried_note(AttributeOf of, std::string_view name, std::string_view value) {
  const CarriedAttribute* const attribute = find_carried_attribute(of, name);
  if (attribute == nullptr) {
    const bool told = name.starts_with("hbase.") && name != "hbase.store.file-tracker.impl";
    return told ? configuration_note(name) : std::string();
  }
  if (attribute->why.empty() || asks_for_usual(*attribute, value)) return {};
  return fmt::format("note   {} is kept and has no effect: {}", upper_ascii(name), attribute->why);
}

std::string configuration_note(std::string_view key) {
  return fmt::format("note   {} is kept and has no effect: {}", escaped(key),
                     is_family_key(key) ? "it is for another compaction policy, or another Bloom filter"
                                        : "a store has no option of this name");
}

std::string_view passing_attribute(std::string_view name, bool in_cluster) {
  for (const Passing& each : kPassing)
    if (each.name == name) return in_cluster ? each.in_cluster : each.why;
  return {};
}

}  // namespace cellar
