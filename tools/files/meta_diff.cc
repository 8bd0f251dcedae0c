// Facts of two files as lists of names and values, compared by name.
#include "tools/files/meta_diff.h"

#include <map>
#include <set>

#include "base/bytes.h"

namespace cellar {
namespace {

struct Fact {
  std::string value;  // what is compared
  std::string text;   // what is shown
};
using FactsByName = std::map<std::string, Fact>;

FactsByName facts_of(const HFileDescription& file) {
  FactsByName facts;
  const auto add = [&](const std::string& name, const std::string& value) {
    facts["trailer." + name] = {value, escaped(value)};
  };
  const auto number = [&](const std::string& name, auto value) { add(name, std::to_string(value)); };
  const Trailer& trailer = file.trailer;
  add("version", file.version);
  add("codec", file.codec);
  add("comparator", file.comparator);
  number("file_info_offset", trailer.file_info_offset);
  number("load_on_open_offset", trailer.load_on_open_offset);
  number("uncompressed_data_index_bytes", trailer.uncompressed_data_index_bytes);
  number("total_uncompressed_bytes", trailer.total_uncompressed_bytes);
  number("data_index_count", trailer.data_index_count);
  number("data_index_levels", trailer.data_index_levels);
  number("meta_index_count", trailer.meta_index_count);
  number("entry_count", trailer.entry_count);
  number("first_data_block_offset", trailer.first_data_block_offset);
  number("last_data_block_offset", trailer.last_data_block_offset);
  for (const HFileInfoLine& line : file.file_info)
    facts["info." + escaped(line.key)] = {line.value, line.text};
  return facts;
}

}  // namespace

std::vector<MetaDifference> diff_meta(const HFileDescription& a, const HFileDescription& b) {
  const FactsByName facts_a = facts_of(a);
  const FactsByName facts_b = facts_of(b);
  std::set<std::string> names;
  for (const auto& [name, fact] : facts_a) names.insert(name);
  for (const auto& [name, fact] : facts_b) names.insert(name);
  std::vector<MetaDifference> differences;
  for (const std::string& name : names) {
    const auto in_a = facts_a.find(name);
    const auto in_b = facts_b.find(name);
    const bool both = in_a != facts_a.end() && in_b != facts_b.end();
    if (both && in_a->second.value == in_b->second.value) continue;
    MetaDifference difference{name, std::nullopt, std::nullopt};
    if (in_a != facts_a.end()) difference.a = in_a->second.text;
    if (in_b != facts_b.end()) difference.b = in_b->second.text;
    if (both && difference.a == difference.b) {  // the text was cut before the place where they differ
      difference.a = escaped(in_a->second.value);
      difference.b = escaped(in_b->second.value);
    }
    differences.push_back(std::move(difference));
  }
  return differences;
}

}  // namespace cellar
