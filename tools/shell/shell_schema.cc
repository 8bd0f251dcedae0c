// Schemas in HBase's syntax: what its describe prints is taken whole.
#include "tools/shell/shell_schema.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <span>

#include "base/bytes.h"
#include "cellar/plugin.h"
#include "engine/schema/carried_attributes.h"
#include "tools/frame/output.h"
#include "tools/shell/schema_reader.h"
#include "tools/shell/schema_words.h"
#include "tools/store/region_splits.h"
#include "tools/store/schema_text.h"
#include "tools/store/store.h"
#include "tools/store/store_reports.h"

namespace cellar {

namespace {

using Kind = ShellValue::Kind;

bool has_key(const ShellValue& map, std::string_view key) {
  return std::ranges::any_of(map.items,
                             [&](const ShellValue& pair) { return upper_ascii(pair.text) == key; });
}

// Reads the table's options of create, in arguments and in braces without a NAME.
void read_table_arguments(SchemaReader& reader, std::span<const ShellValue> arguments,
                          TableOptions& options) {
  std::set<std::string> set;
  for (const ShellValue& argument : arguments) {
    if (argument.kind == Kind::kPair) reader.read_table(options, argument, set);
    if (argument.kind == Kind::kList)
      reader.misuse(argument, "a family is expected here", "'f' or {NAME => 'f'}");
    if (argument.kind == Kind::kMap && !has_key(argument, "NAME"))
      for (const ShellValue& pair : argument.items) reader.read_table(options, pair, set);
  }
}

void read_family_argument(SchemaReader& reader, const ShellValue& argument, TableOptions& options) {
  if (argument.kind != Kind::kMap || !has_key(argument, "NAME")) return;
  const std::string name = reader.name_in(argument);
  if (find_family(options, name) != nullptr)
    reader.add(argument,
               Status::invalid_argument(fmt::format("family \"{}\" is named twice", escaped(name))));
  FamilyOptions& family = options.families.emplace_back();
  family.name = name;
  reader.apply_keys(family);
  reader.read_family(family, argument);
}

}  // namespace

Status run_create(ShellCall& call) {
  const std::vector<ShellValue>& arguments = call.arguments();
  if (arguments.size() < 2) return call.take({}, 2, SIZE_MAX);
  CELLAR_TRY_ASSIGN(const std::string name, call.table_name(arguments[0]));
  const std::vector<ShellValue> schema = words_as_braces(std::span(arguments).subspan(1));
  TableOptions options;
  NewRegions regions;
  SchemaReader reader(call, &regions);
  read_table_arguments(reader, schema, options);
  for (const ShellValue& argument : schema) read_family_argument(reader, argument, options);
  CELLAR_TRY(reader.finish());
  CELLAR_TRY(validate(options));
  CELLAR_TRY_ASSIGN(const std::vector<std::string> splits, regions.rows(call));
  tell_carried(call.session(), TableOptions(), options);
  CELLAR_TRY_ASSIGN(Engine* const store, call.state().open(call.session(), true));
  const Result<std::shared_ptr<Table>> table = store->create_table(name, options, splits);
  if (!table.ok()) return call.at(arguments[0], table.status());
  call.session().talk(fmt::format("created table {} with {}{}", escaped(name),
                                  counted(options.families.size(), "family"), regions_text(splits)));
  return {};
}

namespace {

// The change of an alter statement: read completely, then applied atomically.
class Alteration {
 public:
  Alteration(ShellCall& call, const Table& table)
      : reader_(call), table_(table.name()), before_(table.info().options) {
    after_ = before_;
    after_.families.clear();
  }

  // In order: everything about the table, then each {NAME => 'f', …}. Among maps that are one or the other
  // are the pairs of the statement without braces.
  void add_table(const ShellValue& map);
  void apply_keys();
  void add_family(const ShellValue& map);
  void misuse(const ShellValue& at) {
    reader_.misuse(at, "a family is expected here", "'f' or {NAME => 'f'}");
  }
  Status finish() { return reader_.finish(); }
  TableChange change() const { return change_of(before_, after_, removed_); }
  // Prints the change in words.
  void tell(Session& session, const std::string& table) const;

 private:
  static bool is_of_family(const ShellValue& map) {
    return has_key(map, "NAME") && !has_key(map, "METHOD") && !has_key(map, "DELETE");
  }
  void add_method(const ShellValue& map, const ShellValue& method);
  FamilyOptions& family_named(const std::string& name);
  void remove(const ShellValue& at, const std::string& name);
  void unset(const ShellValue& names);
  void remove_coprocessors(const ShellValue& classes);

  SchemaReader reader_;
  std::string table_;
  TableOptions before_;
  TableOptions after_;         // families: those that are set
  std::set<std::string> set_;  // what was set of the table, in HBase's spelling
  std::set<std::string> unset_;
  std::vector<std::string> removed_;
};

void Alteration::remove(const ShellValue& at, const std::string& name) {
  if (name.empty()) return reader_.misuse(at, "which family?", "alter 't', NAME => 'f', METHOD => 'delete'");
  removed_.push_back(name);
  if (find_family(before_, name) != nullptr) return;
  std::vector<std::string> names;
  for (const FamilyOptions& each : before_.families) names.push_back(each.name);
  reader_.add(at,
              Status::not_found(fmt::format("table {} has no family \"{}\"", escaped(table_), escaped(name)))
                  .hinting(nearest_hint(name, names)));
}

void Alteration::unset(const ShellValue& names) {
  const auto texts = reader_.texts_of(names);
  if (!texts) return;
  std::map<std::string, std::string> defaults;
  for (const auto& [option, value] : option_list(TableOptions())) defaults[option] = value;
  for (const std::string& text : *texts) {
    const std::string name = upper_ascii(text);
    const std::string option = table_option(name);
    const TableOptions before = after_;
    if (!option.empty()) {
      reader_.add(names, set_option(after_, option, defaults[option]));
      unset_.insert(hbase_table_option_name(option));
    } else if (after_.metadata.contains(text)) {
      after_.metadata.erase(text);
      unset_.insert(escaped(text));
    } else if (find_carried_attribute(AttributeOf::kTable, name) != nullptr) {
      after_.metadata.erase(name);
      unset_.insert(name);
    } else {
      reader_.misuse(names, fmt::format("a table has no attribute {}", escaped(text)),
                     "DURABILITY, READONLY, COMPACTION_ENABLED, MEMSTORE_FLUSHSIZE");
      continue;
    }
    if (after_ == before)
      reader_.add(names, Status::not_found(fmt::format("the table does not have {}", escaped(text)))
                             .hinting("describe prints what it has"));
  }
}

// By their classes.
void Alteration::remove_coprocessors(const ShellValue& classes) {
  const auto names = reader_.texts_of(classes);
  if (!names) return;
  for (const std::string& name : *names) {
    const auto is_it = [&](const auto& each) {
      return each.first.starts_with("COPROCESSOR$") && coprocessor_class(each.second) == name;
    };
    if (std::erase_if(after_.metadata, is_it) == 0)
      reader_.add(classes, Status::not_found(fmt::format("the table has no coprocessor {}", escaped(name))));
    unset_.insert("COPROCESSOR");
  }
}

void Alteration::add_method(const ShellValue& map, const ShellValue& method) {
  const std::string name = lower_ascii(reader_.text_of(method.items.front()).value_or(""));
  const std::string_view operand = name == "table_remove_coprocessor" ? "CLASSNAME" : "NAME";
  for (const ShellValue& pair : map.items)
    if (name != "table_att" && &pair != &method && upper_ascii(pair.text) != operand)
      reader_.misuse(pair, fmt::format("{} does not take {}", name, escaped(pair.text)),
                     "put each change in its own braces");
  if (name == "delete") return remove(map, reader_.name_in(map));
  if (name == "table_att") {
    for (const ShellValue& pair : map.items)
      if (&pair != &method) reader_.read_table(after_, pair, set_);
    return;
  }
  const auto value_of = [&](std::string_view key, std::string_view example) -> const ShellValue* {
    for (const ShellValue& pair : map.items)
      if (upper_ascii(pair.text) == key) return &pair.items.front();
    reader_.misuse(method, fmt::format("{} needs {}", name, key),
                   fmt::format("METHOD => '{}', {} => '{}'", name, key, example));
    return nullptr;
  };
  if (name == "table_att_unset") {
    if (const ShellValue* names = value_of("NAME", "READONLY")) unset(*names);
  } else if (name == "table_conf_unset") {
    if (const ShellValue* keys = value_of("NAME", "hbase.hregion.majorcompaction"))
      reader_.unset_keys(after_, before_.families, *keys, unset_);
  } else if (name == "table_remove_coprocessor") {
    if (const ShellValue* classes = value_of("CLASSNAME", "org.x.Y")) remove_coprocessors(*classes);
  } else {
    reader_.misuse(method, fmt::format("unknown method {}", escaped(name)),
                   "delete, table_att, table_att_unset, table_conf_unset, table_remove_coprocessor");
  }
}

FamilyOptions& Alteration::family_named(const std::string& name) {
  const auto family = std::ranges::find(after_.families, name, &FamilyOptions::name);
  if (family != after_.families.end()) return *family;
  const FamilyOptions* const known = find_family(before_, name);
  FamilyOptions& added = after_.families.emplace_back(known != nullptr ? *known : FamilyOptions());
  added.name = name;
  if (known == nullptr) reader_.apply_keys(added);
  return added;
}

void Alteration::add_table(const ShellValue& map) {
  if (is_of_family(map)) return;
  const auto is = [](std::string_view key) {
    return [key](const ShellValue& pair) { return lower_ascii(pair.text) == key; };
  };
  const auto method = std::ranges::find_if(map.items, is("method"));
  if (method != map.items.end()) return add_method(map, *method);
  for (const ShellValue& pair : map.items) {
    if (!is("delete")(pair)) {
      reader_.read_table(after_, pair, set_);
    } else if (const auto names = reader_.texts_of(pair.items.front())) {
      for (const std::string& each : *names) remove(pair, each);
    }
  }
}

// Applies the keys to the families of the table that they change.
void Alteration::apply_keys() {
  for (const FamilyOptions& known : before_.families) {
    FamilyOptions family = known;
    if (reader_.apply_keys(family) && family != known &&
        std::ranges::find(removed_, known.name) == removed_.end())
      after_.families.push_back(std::move(family));
  }
}

void Alteration::add_family(const ShellValue& map) {
  if (!is_of_family(map)) return;
  if (std::ranges::count_if(map.items,
                            [](const ShellValue& pair) { return upper_ascii(pair.text) == "NAME"; }) > 1)
    return reader_.misuse(map, "one family in each pair of braces", "{NAME => 'f', …}, {NAME => 'g', …}");
  if (const std::string name = reader_.name_in(map); !name.empty()) {
    reader_.read_family(family_named(name), map);
  } else {
    reader_.misuse(map, "which family?", "{NAME => 'f', VERSIONS => 5}");
  }
}

void Alteration::tell(Session& session, const std::string& table) const {
  tell_carried(session, before_, after_);
  tell_families(session, table, before_, change());
  for (const std::string& option : set_)
    session.talk(fmt::format("set {} of table {}", option, escaped(table)));
  for (const std::string& option : unset_)
    session.talk(fmt::format("unset {} of table {}", option, escaped(table)));
}

}  // namespace

Status run_alter(ShellCall& call) {
  const std::vector<ShellValue>& arguments = call.arguments();
  if (arguments.size() < 2) return call.take({}, 2, SIZE_MAX);
  CELLAR_TRY_ASSIGN(const std::string name, call.table_name(arguments[0]));
  CELLAR_TRY_ASSIGN(Engine* const store, call.engine());
  const Result<std::shared_ptr<Table>> table = open_table(call.session(), *store, call.state().path, name);
  if (!table.ok()) return call.at(arguments[0], table.status());
  // The alteration points at these until it has been told.
  std::vector<ShellValue> maps;
  ShellValue loose{.kind = Kind::kMap};
  Alteration alteration(call, **table);
  for (const ShellValue& argument : words_as_braces(std::span(arguments).subspan(1))) {
    if (argument.kind == Kind::kList) {
      alteration.misuse(argument);
    } else if (argument.kind == Kind::kPair) {
      if (loose.items.empty()) loose.at = argument.at;
      loose.items.push_back(argument);
    } else {
      maps.push_back(argument);
    }
  }
  if (!loose.items.empty()) maps.push_back(std::move(loose));
  for (const ShellValue& map : maps) alteration.add_table(map);
  alteration.apply_keys();
  for (const ShellValue& map : maps) alteration.add_family(map);
  CELLAR_TRY(alteration.finish());
  CELLAR_TRY(call.at(arguments[1], store->alter_table(name, alteration.change())));
  alteration.tell(call.session(), name);
  return {};
}

Status run_describe(ShellCall& call) {
  CELLAR_TRY(call.take({}, 1, 1));
  CELLAR_TRY(call.answers_a_document());
  CELLAR_TRY_ASSIGN(const std::shared_ptr<Table> table, call.table());
  const TableInfo info = table->info();
  Session& session = call.session();
  if (session.format() == Format::kTable)
    return session.out().write(create_arguments(info.name, info.options)), Status();
  std::vector<uint64_t> regions;
  if (call.on_cluster()) {
    CELLAR_TRY_ASSIGN(const std::vector<std::string> starts, table->region_starts());
    regions.push_back(starts.size());
  }
  session.out().write(description_json({info}, session.format(), regions));
  return {};
}

}  // namespace cellar
