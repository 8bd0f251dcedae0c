// The shell's commands about tables: create, alter, describe, drop, flush, compact, and the questions about
// them.
#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <array>

#include "base/bytes.h"
#include "cellar/plugin.h"
#include "tools/output.h"
#include "tools/progress.h"
#include "tools/shell_call.h"
#include "tools/store.h"
#include "tools/store_reports.h"

namespace cellar {
namespace {

using Kind = ShellValue::Kind;

// Attributes of families and tables that only a cluster, or HBase's own code, can heed.
constexpr std::array<std::string_view, 33> kOfClusters = {"REPLICATION_SCOPE",
                                                          "DFS_REPLICATION",
                                                          "STORAGE_POLICY",
                                                          "IS_MOB",
                                                          "MOB_THRESHOLD",
                                                          "MOB_COMPACT_PARTITION_POLICY",
                                                          "EVICT_BLOCKS_ON_CLOSE",
                                                          "CACHE_DATA_ON_WRITE",
                                                          "CACHE_INDEX_ON_WRITE",
                                                          "CACHE_BLOOMS_ON_WRITE",
                                                          "PREFETCH_BLOCKS_ON_OPEN",
                                                          "CACHE_DATA_IN_L1",
                                                          "CONFIGURATION",
                                                          "METADATA",
                                                          "SPLITS",
                                                          "SPLITS_FILE",
                                                          "NUMREGIONS",
                                                          "SPLITALGO",
                                                          "REGION_REPLICATION",
                                                          "REGION_MEMSTORE_REPLICATION",
                                                          "SPLIT_ENABLED",
                                                          "MERGE_ENABLED",
                                                          "MAX_FILESIZE",
                                                          "MEMSTORE_FLUSHSIZE",
                                                          "SPLIT_POLICY",
                                                          "FLUSH_POLICY",
                                                          "NORMALIZATION_ENABLED",
                                                          "NORMALIZER_TARGET_REGION_COUNT",
                                                          "NORMALIZER_TARGET_REGION_SIZE_MB",
                                                          "PRIORITY",
                                                          "OWNER",
                                                          "COMPACTION_ENABLED",
                                                          "REOPEN_REGIONS"};

bool is_of_clusters(std::string_view name) {
  return std::ranges::find(kOfClusters, name) != kOfClusters.end();
}

// HBase's name of an option; of one that is no attribute of a family there, ours in capitals.
std::string attribute_name(std::string_view option) {
  const std::string name = hbase_option_name(option);
  return name.empty() || name.find('.') != std::string::npos ? upper_ascii(option) : name;
}

// Names the nearest in HBase's spelling, and ours.
Status check_attribute(ShellCall& call, const ShellValue& pair, const std::string& name) {
  std::vector<std::string> names;
  for (const auto& [option, value] : option_list(FamilyOptions())) {
    const std::string ours = upper_ascii(option);
    names.push_back(attribute_name(option));
    if (name == names.back() || name == ours) return {};
  }
  const std::string nearest = nearest_name(name, names);
  return call.fault(pair, fmt::format("a family has no attribute {}", escaped(pair.text)),
                    nearest.empty() ? fmt::format("attributes: {}", fmt::join(names, ", "))
                                    : fmt::format("did you mean {} ?", nearest));
}

// Sets one attribute of a family, or says that it has no effect.
Status set_attribute(ShellCall& call, FamilyOptions& family, const ShellValue& pair) {
  const std::string name = upper_ascii(pair.text);
  if (name == "NAME") return {};
  if (is_of_clusters(name)) {
    call.session().talk(fmt::format("note   {} has no effect: a store has no use for it", name));
    return {};
  }
  CELLAR_TRY(check_attribute(call, pair, name));
  CELLAR_TRY_ASSIGN(std::string value, call.text_of(pair.items.front()));
  // "65536 B (64KB)", as describe prints it in HBase.
  if (name == "BLOCKSIZE") value = value.substr(0, value.find(' '));
  if (name == "TTL" && value.find("SECONDS") != std::string::npos) value = value.substr(0, value.find(' '));
  return call.at(pair, set_option(family, name, value));
}

// {NAME => 'f', VERSIONS => 5}: the family's name.
Result<std::string> name_in(ShellCall& call, const ShellValue& map) {
  for (const ShellValue& pair : map.items)
    if (upper_ascii(pair.text) == "NAME") return call.text_of(pair.items.front());
  return std::string();
}

Status set_attributes(ShellCall& call, FamilyOptions& family, const ShellValue& map) {
  for (const ShellValue& pair : map.items) CELLAR_TRY(set_attribute(call, family, pair));
  return call.at(map, validate(family));
}

// DURABILITY and what only clusters heed.
Status set_table_attribute(ShellCall& call, TableOptions& table, const ShellValue& pair) {
  const std::string name = upper_ascii(pair.text);
  if (name == "DURABILITY") {
    CELLAR_TRY_ASSIGN(const std::string value, call.text_of(pair.items.front()));
    const std::string wanted = lower_ascii(value);
    if (wanted == "use_default") return {};
    for (const Durability each :
         {Durability::kSkipWal, Durability::kAsyncWal, Durability::kSyncWal, Durability::kFsyncWal})
      if (durability_name(each) == wanted) table.durability = each;
    if (table.durability) return {};
    return call.fault(pair, fmt::format("there is no durability \"{}\"", escaped(value)),
                      "SKIP_WAL, ASYNC_WAL, SYNC_WAL, FSYNC_WAL, USE_DEFAULT");
  }
  if (is_of_clusters(name)) {
    call.session().talk(fmt::format("note   {} has no effect: a store has no use for it", name));
    return {};
  }
  return call.fault(pair, fmt::format("a table has no attribute {}", escaped(pair.text)),
                    "attributes of a family stand in braces with its NAME: {NAME => 'f', VERSIONS => 5}");
}

Status run_create(ShellCall& call) {
  const std::vector<ShellValue>& arguments = call.arguments();
  if (arguments.size() < 2) return call.take({}, 2, SIZE_MAX, SIZE_MAX);
  CELLAR_TRY_ASSIGN(const std::string name, call.text_of(arguments[0]));
  TableOptions options;
  for (size_t i = 1; i < arguments.size(); ++i) {
    const ShellValue& argument = arguments[i];
    if (argument.plain()) {
      options.families.emplace_back().name = argument.text;
      CELLAR_TRY(call.at(argument, validate(options.families.back())));
      continue;
    }
    if (argument.kind == Kind::kPair) {
      CELLAR_TRY(set_table_attribute(call, options, argument));
      continue;
    }
    if (argument.kind == Kind::kList)
      return call.fault(argument, "a family is expected here", "'f' or {NAME => 'f'}");
    CELLAR_TRY_ASSIGN(const std::string family, name_in(call, argument));
    if (family.empty()) {
      for (const ShellValue& pair : argument.items) CELLAR_TRY(set_table_attribute(call, options, pair));
      continue;
    }
    options.families.emplace_back().name = family;
    CELLAR_TRY(set_attributes(call, options.families.back(), argument));
  }
  CELLAR_TRY(validate(options));
  CELLAR_TRY_ASSIGN(Engine* const store, call.state().open(call.session(), true));
  const Result<std::shared_ptr<Table>> table = store->create_table(name, options);
  if (!table.ok()) return call.at(arguments[0], table.status());
  call.session().talk(fmt::format("created table {} with {} {}", escaped(name), options.families.size(),
                                  options.families.size() == 1 ? "family" : "families"));
  return {};
}

// One {NAME => 'f', …}, or the pairs of the statement without braces.
Status alter_one(ShellCall& call, const std::shared_ptr<Table>& table, const ShellValue& map) {
  CELLAR_TRY_ASSIGN(const std::string name, name_in(call, map));
  for (const ShellValue& pair : map.items) {
    const std::string key = lower_ascii(pair.text);
    if (key != "delete" && key != "method") continue;
    return call.at(pair, Status::not_supported("a family cannot be removed, nor can a table's attributes")
                             .hinting("make a table without it and copy: cellar export, cellar load"));
  }
  if (name.empty()) {
    TableOptions options;
    for (const ShellValue& pair : map.items) CELLAR_TRY(set_table_attribute(call, options, pair));
    if (!options.durability) return {};
    return call.at(map, Status::not_supported("the durability of a table is set when it is created")
                            .hinting("each write of the C++ interface can have its own"));
  }
  FamilyOptions family;
  bool known = false;
  for (const FamilyInfo& each : table->info().families) {
    if (each.options.name != name) continue;
    family = each.options;
    known = true;
  }
  family.name = name;
  CELLAR_TRY(set_attributes(call, family, map));
  CELLAR_TRY_ASSIGN(Engine* const store, call.engine());
  CELLAR_TRY(call.at(map, store->alter_family(table->name(), family)));
  call.session().talk(fmt::format("{} family {} of table {}", known ? "changed" : "added", escaped(name),
                                  escaped(table->name())));
  return {};
}

Status run_alter(ShellCall& call) {
  const std::vector<ShellValue>& arguments = call.arguments();
  if (arguments.size() < 2) return call.take({}, 2, SIZE_MAX, SIZE_MAX);
  CELLAR_TRY_ASSIGN(const std::string name, call.text_of(arguments[0]));
  CELLAR_TRY_ASSIGN(Engine* const store, call.engine());
  const Result<std::shared_ptr<Table>> table = open_table(call.session(), *store, call.state().path, name);
  if (!table.ok()) return call.at(arguments[0], table.status());
  ShellValue loose{.kind = Kind::kMap};
  for (size_t i = 1; i < arguments.size(); ++i) {
    const ShellValue& argument = arguments[i];
    if (argument.kind == Kind::kList)
      return call.fault(argument, "a family is expected here", "'f' or {NAME => 'f'}");
    if (argument.kind == Kind::kPair) {
      if (loose.items.empty()) loose.at = argument.at;
      loose.items.push_back(argument);
    } else if (argument.kind == Kind::kMap) {
      CELLAR_TRY(alter_one(call, *table, argument));
    } else {
      ShellValue named{.kind = Kind::kPair, .at = argument.at, .text = "NAME", .items = {argument}};
      CELLAR_TRY(
          alter_one(call, *table, {.kind = Kind::kMap, .at = argument.at, .items = {std::move(named)}}));
    }
  }
  return loose.items.empty() ? Status() : alter_one(call, *table, loose);
}

// {NAME => 'd', VERSIONS => '3', …}: what create takes.
std::string family_text(const FamilyOptions& family) {
  std::string text = fmt::format("{{NAME => '{}'", escaped(family.name));
  for (const auto& [name, value] : option_list(family)) {
    std::string shown = name == "compaction" ? value : upper_ascii(value);
    if (name == "delete_order") shown = value == "sequence" ? "true" : "false";
    if (value == "true" || value == "false") shown = value;
    text += fmt::format(", {} => '{}'", attribute_name(name), shown);
  }
  return text + "}";
}

Status run_describe(ShellCall& call) {
  CELLAR_TRY(call.take({}, 1, 1, 1));
  CELLAR_TRY_ASSIGN(const std::shared_ptr<Table> table, call.table());
  const TableInfo info = table->info();
  Session& session = call.session();
  if (session.format() != Format::kTable) {
    session.out().write(description_json({info}));
    return {};
  }
  std::string text = fmt::format("table {}", escaped(info.name));
  if (info.durability)
    text += fmt::format(", DURABILITY => '{}'", upper_ascii(durability_name(*info.durability)));
  text += "\n";
  for (const FamilyInfo& family : info.families) text += family_text(family.options) + "\n";
  session.out().write(text);
  return {};
}

Status run_list(ShellCall& call) {
  CELLAR_TRY(call.take({}, 0, 1, 1));
  CELLAR_TRY_ASSIGN(Engine* const store, call.engine());
  std::vector<std::string> names = store->list_tables();
  if (call.positions() == 1) {
    CELLAR_TRY_ASSIGN(const auto pattern, call.pattern(0));
    std::erase_if(names, [&](const std::string& name) { return !RE2::FullMatch(name, *pattern); });
  }
  CELLAR_TRY(print_table_list(call.session(), *store, names));
  if (call.session().format() == Format::kTable) call.session().talk(counted(names.size(), "table"));
  return {};
}

Result<bool> table_exists(ShellCall& call) {
  CELLAR_TRY_ASSIGN(const std::string name, call.text(0));
  CELLAR_TRY_ASSIGN(Engine* const store, call.engine());
  const std::vector<std::string> names = store->list_tables();
  return std::ranges::find(names, name) != names.end();
}

Status run_exists(ShellCall& call) {
  CELLAR_TRY(call.take({}, 1, 1, 1));
  CELLAR_TRY_ASSIGN(const bool there, table_exists(call));
  const std::string name = escaped(call.position(0).text);
  call.answer(fmt::format("table {} {}", name, there ? "exists" : "does not exist"), "exists",
              there ? "true" : "false");
  return {};
}

Status run_drop(ShellCall& call) {
  CELLAR_TRY(call.take({}, 1, 1, 1));
  CELLAR_TRY_ASSIGN(std::shared_ptr<Table> table, call.table());
  const std::string name = table->name();
  table.reset();
  CELLAR_TRY_ASSIGN(Engine* const store, call.engine());
  CELLAR_TRY(store->drop_table(name));
  call.session().talk(fmt::format("dropped table {}", escaped(name)));
  return {};
}

Status run_truncate(ShellCall& call) {
  CELLAR_TRY(call.take({}, 1, 1, 1));
  CELLAR_TRY_ASSIGN(const std::shared_ptr<Table> table, call.table());
  CELLAR_TRY_ASSIGN(Engine* const store, call.engine());
  CELLAR_TRY(store->truncate_table(table->name()));
  call.session().talk(fmt::format("emptied table {}", escaped(table->name())));
  return {};
}

Status run_disable(ShellCall& call) {
  CELLAR_TRY(call.take({}, 1, 1, 1));
  CELLAR_TRY(call.table().status());
  call.session().talk(
      "note   nothing to do: a table of a store is always enabled, and dropped or altered so");
  return {};
}

Status run_is_enabled(ShellCall& call) {
  CELLAR_TRY(call.take({}, 1, 1, 1));
  CELLAR_TRY(call.table().status());
  const bool answer = call.statement().name == "is_enabled";
  call.answer(answer ? "true" : "false", call.statement().name, answer ? "true" : "false");
  return {};
}

Status run_flush(ShellCall& call) {
  CELLAR_TRY(call.take({}, 0, 2, 2));
  CELLAR_TRY_ASSIGN(Engine* const store, call.engine());
  const Progress clock(call.session(), "flush", 0);
  if (call.positions() == 0) {
    CELLAR_TRY(store->flush());
  } else {
    CELLAR_TRY_ASSIGN(const std::shared_ptr<Table> table, call.table());
    if (call.positions() == 2) {
      CELLAR_TRY_ASSIGN(const std::string family, call.text(1));
      CELLAR_TRY(call.at(call.position(1), check_family(call.session(), *table, family)));
      call.session().talk("note   all families of the table are flushed");
    }
    CELLAR_TRY(table->flush());
  }
  const EngineStatus status = store->status();
  call.session().talk(fmt::format("flushed: the store has {} of {}",
                                  counted(status.store_files, "store file"),
                                  human_bytes(status.store_bytes)));
  return {};
}

Status run_compact(ShellCall& call) {
  CELLAR_TRY(call.take({}, 1, 3, 3));
  CELLAR_TRY_ASSIGN(const std::shared_ptr<Table> table, call.table());
  CompactOptions options{.major = call.statement().name == "major_compact"};
  if (call.positions() > 1 && !call.position(1).is_word("nil")) {
    CELLAR_TRY_ASSIGN(options.family, call.text(1));
    CELLAR_TRY(call.at(call.position(1), check_family(call.session(), *table, options.family)));
  }
  if (call.positions() > 2)
    return call.at(call.position(2),
                   Status::not_supported("a store keeps no values in files of their own (MOB)")
                       .hinting("leave it out: all files of the family are compacted"));
  CELLAR_TRY(table->compact(options));
  size_t files = 0;
  for (const FamilyInfo& family : table->info().families)
    if (options.family.empty() || family.options.name == options.family) files += family.files.size();
  call.session().talk(fmt::format("compacted: {} now; what is in memory was not touched (flush does that)",
                                  counted(files, "store file")));
  return {};
}

constexpr std::array kVerbs = {
    ShellVerb{"create",
              "create 't', 'f', …, {NAME => 'f', ATTRIBUTE => value, …}, …\n"
              "create 'visits', 'c', 'd'\n"
              "create 'people', {NAME => 'd', VERSIONS => 5, TTL => 2592000, COMPRESSION => 'GZ'}",
              "Make a table, and the store with its first one", run_create},
    ShellVerb{"alter",
              "alter 't', {NAME => 'f', ATTRIBUTE => value, …}, …\n"
              "alter 'orders', NAME => 'd', VERSIONS => 5\n"
              "alter 'orders', 'notes', {NAME => 'd', BLOOMFILTER => 'ROWCOL'}",
              "Change options of families, or add families", run_alter},
    ShellVerb{"describe", "describe 't'\ndescribe 'orders'", "A table's families, as create takes them",
              run_describe},
    ShellVerb{"desc", "desc 't'", "The same as describe", run_describe},
    ShellVerb{"list", "list ['pattern']\nlist 'ord.*'", "Tables, those whose whole name matches", run_list},
    ShellVerb{"exists", "exists 't'", "Whether there is such a table", run_exists},
    ShellVerb{"drop", "drop 't'", "Remove a table with all its data, at once and for good", run_drop},
    ShellVerb{"truncate", "truncate 't'", "Remove all rows, at once and for good", run_truncate},
    ShellVerb{"truncate_preserve", "truncate_preserve 't'", "The same as truncate", run_truncate},
    ShellVerb{"disable", "disable 't'", "Accepted, and does nothing", run_disable},
    ShellVerb{"enable", "enable 't'", "Accepted, and does nothing", run_disable},
    ShellVerb{"is_enabled", "is_enabled 't'", "Always true", run_is_enabled},
    ShellVerb{"is_disabled", "is_disabled 't'", "Always false", run_is_enabled},
    ShellVerb{"flush", "flush ['t']\nflush 'orders'", "Write what is in memory into store files", run_flush},
    ShellVerb{"compact", "compact 't'[, 'f']\ncompact 'orders'", "Merge the store files the policy picks",
              run_compact},
    ShellVerb{"major_compact", "major_compact 't'[, 'f']\nmajor_compact 'orders', 'd'",
              "All files of a family into one, without what nobody can see", run_compact},
};

}  // namespace

std::span<const ShellVerb> shell_table_verbs() { return kVerbs; }

}  // namespace cellar
