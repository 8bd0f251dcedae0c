// The list of what HBase has and a store has not, and which values HBase takes.
#include "engine/schema/carried_attributes.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>

#include "base/assert.h"
#include "base/bytes.h"
#include "base/units.h"
#include "cellar/key_schema.h"
#include "engine/schema/option_field.h"
#include "engine/schema/option_text.h"

namespace cellar {
namespace {

constexpr auto kFamily = AttributeOf::kFamily;
constexpr auto kTable = AttributeOf::kTable;

constexpr std::string_view kRegions = "a table of a store is not cut into regions";
constexpr std::string_view kMob = "values are stored with their cells, whatever their size";
constexpr std::string_view kReplicas = "a table has no replicas";
constexpr std::string_view kPlace = "files are stored in the directory of the store";
constexpr std::string_view kJava = "a store runs no Java; C++ code can observe writes";

Status any(std::string_view, std::string_view) { return {}; }

Status one_of(std::string_view name, std::string_view value, std::initializer_list<std::string_view> words) {
  if (std::ranges::find(words, upper_ascii(value)) != words.end()) return {};
  return unfit(name, value, fmt::format("one of {}", fmt::join(words, ", ")));
}

Status flag(std::string_view name, std::string_view value) {
  const std::string word = upper_ascii(value);
  return word == "TRUE" || word == "FALSE" ? Status() : unfit(name, value, "true or false");
}

template <int64_t kLeast, int64_t kMost>
Status number(std::string_view name, std::string_view value) {
  int64_t read = 0;
  if (parse_bytes_in_words(value, read) && read >= kLeast && read <= kMost) return {};
  if (value == "-1" && kLeast <= -1) return {};
  return unfit(name, value, fmt::format("a number from {} to {}", kLeast, kMost));
}

Status memory_compaction(std::string_view name, std::string_view value) {
  return one_of(name, value, {"NONE", "BASIC", "EAGER", "ADAPTIVE"});
}
Status index_encoding(std::string_view name, std::string_view value) {
  return one_of(name, value, {"NONE", "PREFIX_TREE"});
}
Status mob_partition(std::string_view name, std::string_view value) {
  return one_of(name, value, {"DAILY", "WEEKLY", "MONTHLY"});
}
// Not kept: who reads that files are encrypted would believe it.
Status encryption(std::string_view, std::string_view) {
  return Status::not_supported("files of a store are not encrypted")
      .hinting("put the store on an encrypted file system");
}

// "path|class|priority|arguments"; only the class must be there (HBase's CP_HTD_ATTR_VALUE_PATTERN).
Status coprocessor(std::string_view name, std::string_view value) {
  std::string_view rest = value;
  const auto take = [&rest] {
    const std::string_view part = rest.substr(0, rest.find('|'));
    rest.remove_prefix(std::min(part.size() + 1, rest.size()));
    return part;
  };
  take();
  const bool has_class = !take().empty();
  const std::string_view priority = take();
  const bool fits = std::ranges::all_of(priority, [](char c) { return (c >= '0' && c <= '9') || c == ' '; });
  return has_class && fits ? Status() : unfit(name, value, "path|class|priority|arguments");
}

// It has an effect: the tools show keys by it.
Status key_fields(std::string_view name, std::string_view value) {
  return KeySchema::parse(value).status().with_context(name);
}

constexpr int64_t kInt = INT32_MAX;
constexpr int64_t kShort = INT16_MAX;
constexpr int64_t kRegionBytesMin = 2 << 20;  // HBase's TableDescriptorChecker

constexpr CarriedAttribute kAttributes[] = {
    {kFamily, "REPLICATION_SCOPE", "0", number<0, 1>, "a store sends no writes elsewhere; a feed can"},
    {kFamily, "DFS_REPLICATION", "0", number<0, kShort>, kReplicas},
    {kFamily, "STORAGE_POLICY", "", any, kPlace},
    {kFamily, "IS_MOB", "FALSE", flag, kMob},
    {kFamily, "MOB_THRESHOLD", "102400", number<0, INT64_MAX>, kMob},
    {kFamily, "MOB_COMPACT_PARTITION_POLICY", "DAILY", mob_partition, kMob},
    {kFamily, "EVICT_BLOCKS_ON_CLOSE", "FALSE", flag, ""},  // they are, always
    {kFamily, "CACHE_DATA_IN_L1", "FALSE", flag, "a store has a single block cache"},
    {kFamily, "INDEX_BLOCK_ENCODING", "NONE", index_encoding, "indexes are written without an encoding"},
    {kFamily, "IN_MEMORY_COMPACTION", "NONE", memory_compaction, "memtables are not compacted in memory"},
    {kFamily, "ENCRYPTION", "", encryption, ""},
    {kFamily, "ENCRYPTION_KEY", "", encryption, ""},
    {kTable, "SPLIT_ENABLED", "TRUE", flag, kRegions},
    {kTable, "MERGE_ENABLED", "TRUE", flag, kRegions},
    {kTable, "MAX_FILESIZE", "", number<kRegionBytesMin, INT64_MAX>, kRegions},
    {kTable, "SPLIT_POLICY", "", any, kRegions},
    {kTable, "FLUSH_POLICY", "", any, "families are flushed one by one, when their memtable is full"},
    {kTable, "NORMALIZATION_ENABLED", "FALSE", flag, kRegions},
    {kTable, "NORMALIZER_TARGET_REGION_COUNT", "-1", number<-1, kInt>, kRegions},
    {kTable, "NORMALIZER_TARGET_REGION_SIZE", "-1", number<-1, INT64_MAX>, kRegions},
    {kTable, "NORMALIZER_TARGET_REGION_SIZE_MB", "-1", number<-1, INT64_MAX>, kRegions},
    {kTable, "REGION_REPLICATION", "1", number<1, kInt>, kReplicas},
    {kTable, "REGION_MEMSTORE_REPLICATION", "TRUE", flag, kReplicas},
    {kTable, "ERASURE_CODING_POLICY", "", any, kPlace},
    {kTable, "PRIORITY", "0", number<0, kInt>, "a store has no request handlers"},
    {kTable, "OWNER", "", any, "the owner of the directory owns the store"},
    {kTable, KeySchema::kTableAttribute, "", key_fields, ""},
    {kTable, "IS_META", "FALSE", flag, "a store has no meta table"},
    {kTable, "IS_ROOT", "FALSE", flag, "a store has no root table"},
};

constexpr CarriedAttribute kCoprocessor = {kTable, "COPROCESSOR$", "", coprocessor, kJava};

bool is_coprocessor(std::string_view name) {
  if (!name.starts_with(kCoprocessor.name)) return false;
  name.remove_prefix(kCoprocessor.name.size());
  return !name.empty() && std::ranges::all_of(name, [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

std::span<const CarriedAttribute> carried_attributes() { return kAttributes; }

std::string_view coprocessor_class(std::string_view value) {
  const size_t begin = std::min(value.find('|'), value.size());
  const std::string_view rest = value.substr(std::min(begin + 1, value.size()));
  return rest.substr(0, rest.find('|'));
}

const CarriedAttribute* find_carried_attribute(AttributeOf of, std::string_view name) {
  const std::string wanted = upper_ascii(name);
  for (const CarriedAttribute& each : kAttributes)
    if (each.of == of && each.name == wanted) return &each;
  return of == kTable && is_coprocessor(wanted) ? &kCoprocessor : nullptr;
}

bool asks_for_usual(const CarriedAttribute& attribute, std::string_view value) {
  CELLAR_DCHECK(find_carried_attribute(attribute.of, attribute.name) != nullptr ||
                &attribute == &kCoprocessor);
  if (attribute.usual.empty()) return false;
  int64_t usual = 0;
  int64_t asked = 0;
  return upper_ascii(value) == attribute.usual || (parse_bytes_in_words(attribute.usual, usual) &&
                                                   parse_bytes_in_words(value, asked) && usual == asked);
}

}  // namespace cellar
