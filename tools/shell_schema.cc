// Schemas in HBase's syntax: what its describe prints is taken whole, and every fault is told at once.
#include "tools/shell_schema.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "base/bytes.h"
#include "cellar/plugin.h"
#include "tools/hbase_attributes.h"
#include "tools/output.h"
#include "tools/schema_text.h"
#include "tools/store.h"
#include "tools/store_reports.h"

namespace cellar {
namespace {

using Kind = ShellValue::Kind;

// Our name of a table's option, given HBase's or ours; empty: there is none.
std::string table_option(const std::string& name) {
  for (const auto& [option, value] : option_list(TableOptions()))
    if (name == upper_ascii(option) || name == hbase_table_option_name(option)) return option;
  return {};
}

Status of_family(const FamilyOptions& family, const Status& status) {
  return status.ok() ? status : status.with_context("family " + family.name);
}

// Reads attributes into options and collects what is wrong with them. One statement.
class SchemaReader {
 public:
  explicit SchemaReader(ShellCall& call) : call_(call) {}

  // {NAME => 'f', VERSIONS => 5, …}, into the family's options so far.
  void read_family(FamilyOptions& family, const ShellValue& map);
  // READONLY => true, TABLE_ATTRIBUTES => {…}, … Names of ours that were set are added to `set`.
  void read_table(TableOptions& table, const ShellValue& pair, std::set<std::string>& set);
  // The text, or nothing and a fault.
  std::optional<std::string> text_of(const ShellValue& value);
  std::optional<std::vector<std::string>> texts_of(const ShellValue& value);
  // `map`'s NAME; empty: there is none.
  std::string name_in(const ShellValue& map);

  // A statement that is not written as it should be.
  void misuse(const ShellValue& at, std::string message, std::string_view hint);
  // What is written well and does not fit.
  void add(const ShellValue& at, const Status& status);
  // Ok, or all faults, at the first of them.
  Status finish();

 private:
  void note(const std::string& text) {
    if (!text.empty()) call_.session().talk(text);
  }
  void read_attribute(FamilyOptions& family, const ShellValue& pair);
  void read_keys(FamilyOptions* family, const ShellValue& pair);
  bool answered(const std::string& name, const ShellValue& pair);
  void unknown_attribute(const ShellValue& pair, const std::string& name);

  ShellCall& call_;
  const ShellValue* first_ = nullptr;
  bool misused_ = false;
  std::vector<Status> faults_;
};

void SchemaReader::misuse(const ShellValue& at, std::string message, std::string_view hint) {
  misused_ = true;
  add(at, Status::invalid_argument(std::move(message)).hinting(hint));
}

void SchemaReader::add(const ShellValue& at, const Status& status) {
  if (status.ok()) return;
  if (first_ == nullptr) first_ = &at;
  faults_.push_back(status);
}

Status SchemaReader::finish() {
  if (faults_.empty()) return {};
  const Status all = all_faults(faults_);
  return misused_ ? call_.fault(*first_, std::string(all.message()), all.hint()) : call_.at(*first_, all);
}

std::optional<std::string> SchemaReader::text_of(const ShellValue& value) {
  if (value.plain()) return value.text;
  misuse(value, "a text is expected here", "a text with brackets or => is written in quotes");
  return {};
}

std::optional<std::vector<std::string>> SchemaReader::texts_of(const ShellValue& value) {
  std::vector<std::string> texts;
  const std::vector<ShellValue> alone = {value};
  for (const ShellValue& item : value.kind == Kind::kList ? value.items : alone) {
    if (!item.plain()) return text_of(value), std::nullopt;
    texts.push_back(item.text);
  }
  return texts;
}

std::string SchemaReader::name_in(const ShellValue& map) {
  for (const ShellValue& pair : map.items)
    if (upper_ascii(pair.text) == "NAME") return text_of(pair.items.front()).value_or("");
  return {};
}

// Whether it is one that a store has not.
bool SchemaReader::answered(const std::string& name, const ShellValue& pair) {
  const ShellValue& value = pair.items.front();
  const AttributeAnswer answer = answer_attribute(name, value.plain() ? value.text : "");
  note(answer.note);
  return answer.known;
}

// Names the nearest in HBase's spelling.
void SchemaReader::unknown_attribute(const ShellValue& pair, const std::string& name) {
  std::vector<std::string> names;
  for (const auto& [option, value] : option_list(FamilyOptions())) names.push_back(family_attribute(option));
  const std::string nearest = nearest_name(name, names);
  misuse(pair, fmt::format("a family has no attribute {}", escaped(pair.text)),
         nearest.empty() ? fmt::format("attributes: {}", fmt::join(names, ", "))
                         : fmt::format("did you mean {} ?", nearest));
}

void SchemaReader::read_attribute(FamilyOptions& family, const ShellValue& pair) {
  const std::string name = upper_ascii(pair.text);
  if (name == "ENCRYPTION" || name == "ENCRYPTION_KEY")
    return add(pair, Status::not_supported("files of a store are not encrypted")
                         .hinting("put the store on an encrypted file system"));
  const auto is_called = [&](const auto& option) {
    return name == upper_ascii(option.first) || name == family_attribute(option.first);
  };
  if (std::ranges::none_of(option_list(FamilyOptions()), is_called)) {
    if (!answered(name, pair)) unknown_attribute(pair, name);
    return;
  }
  if (const auto value = text_of(pair.items.front()))
    add(pair, of_family(family, set_option(family, name, *value)));
}

// CONFIGURATION and METADATA of a family, or of the table: what is an option of the family here is obeyed.
void SchemaReader::read_keys(FamilyOptions* family, const ShellValue& pair) {
  const ShellValue& map = pair.items.front();
  if (map.kind != Kind::kMap)
    return misuse(map, "keys and values in braces are expected here", "CONFIGURATION => {'key' => 'value'}");
  const bool metadata = upper_ascii(pair.text) == "METADATA";
  for (const ShellValue& each : map.items) {
    const auto value = text_of(each.items.front());
    if (!value) continue;
    const std::string key = lower_ascii(each.text);
    if (family != nullptr && key == "rowprefixbloomfilter.prefix_length") {
      if (family->bloom.starts_with("rowprefix_fixed_length"))
        family->bloom = fmt::format("rowprefix_fixed_length(prefix_length={})", *value);
    } else if (family != nullptr && key == "hbase.hstore.time.to.purge.deletes") {
      add(each, of_family(*family, set_option(*family, key, *value)));
    } else {
      note(answer_key(each.text, *value, metadata).note);
    }
  }
}

void SchemaReader::read_family(FamilyOptions& family, const ShellValue& map) {
  const auto holds_keys = [](const std::string& name) {
    return name == "CONFIGURATION" || name == "METADATA";
  };
  for (const ShellValue& pair : map.items) {
    const std::string name = upper_ascii(pair.text);
    if (name != "NAME" && !holds_keys(name)) read_attribute(family, pair);
  }
  for (const ShellValue& pair : map.items)  // after BLOOMFILTER, which a key of theirs completes
    if (holds_keys(upper_ascii(pair.text))) read_keys(&family, pair);
  add(map, validate(family));
}

void SchemaReader::read_table(TableOptions& table, const ShellValue& pair, std::set<std::string>& set) {
  const std::string name = upper_ascii(pair.text);
  const ShellValue& value = pair.items.front();
  if (name == "TABLE_ATTRIBUTES" && value.kind == Kind::kMap) {
    for (const ShellValue& each : value.items) read_table(table, each, set);
    return;
  }
  if (name == "CONFIGURATION" || name == "METADATA") return read_keys(nullptr, pair);
  if (const std::string option = table_option(name); !option.empty()) {
    if (const auto text = text_of(value)) add(pair, set_option(table, name, *text));
    set.insert(option);
    return;
  }
  if (answered(name, pair)) return;
  misuse(pair, fmt::format("a table has no attribute {}", escaped(pair.text)),
         "attributes of a family stand in braces with its NAME: {NAME => 'f', VERSIONS => 5}");
}

}  // namespace

Status run_create(ShellCall& call) {
  const std::vector<ShellValue>& arguments = call.arguments();
  if (arguments.size() < 2) return call.take({}, 2, SIZE_MAX, SIZE_MAX);
  CELLAR_TRY_ASSIGN(const std::string name, call.text_of(arguments[0]));
  TableOptions options;
  SchemaReader reader(call);
  std::set<std::string> set;
  for (size_t i = 1; i < arguments.size(); ++i) {
    const ShellValue& argument = arguments[i];
    if (argument.plain()) {
      options.families.emplace_back().name = argument.text;
      reader.add(argument, validate(options.families.back()));
    } else if (argument.kind == Kind::kPair) {
      reader.read_table(options, argument, set);
    } else if (argument.kind == Kind::kList) {
      reader.misuse(argument, "a family is expected here", "'f' or {NAME => 'f'}");
    } else if (const std::string family = reader.name_in(argument); !family.empty()) {
      options.families.emplace_back().name = family;
      reader.read_family(options.families.back(), argument);
    } else {
      for (const ShellValue& pair : argument.items) reader.read_table(options, pair, set);
    }
  }
  CELLAR_TRY(reader.finish());
  CELLAR_TRY(validate(options));
  CELLAR_TRY_ASSIGN(Engine* const store, call.state().open(call.session(), true));
  const Result<std::shared_ptr<Table>> table = store->create_table(name, options);
  if (!table.ok()) return call.at(arguments[0], table.status());
  call.session().talk(fmt::format("created table {} with {} {}", escaped(name), options.families.size(),
                                  options.families.size() == 1 ? "family" : "families"));
  return {};
}

namespace {

// What an alter statement comes to: read first, then done as one.
class Alteration {
 public:
  Alteration(ShellCall& call, TableOptions table) : reader_(call), before_(std::move(table)) {
    after_ = before_;
    after_.families.clear();
  }

  // One {NAME => 'f', …}, or the pairs of the statement without braces.
  void add(const ShellValue& map);
  void misuse(const ShellValue& at) {
    reader_.misuse(at, "a family is expected here", "'f' or {NAME => 'f'}");
  }
  Status finish() { return reader_.finish(); }
  TableChange change() const { return change_of(before_, after_, removed_); }
  // What was done, in words.
  void tell(Session& session, const std::string& table) const;

 private:
  void add_method(const ShellValue& map, const ShellValue& method);
  void add_family(const std::string& name, const ShellValue& map);
  void remove(const ShellValue& at, const std::string& name);
  void unset(const ShellValue& names);

  SchemaReader reader_;
  TableOptions before_;
  TableOptions after_;         // families: those that are set
  std::set<std::string> set_;  // names of the table's options
  std::vector<std::string> removed_;
};

void Alteration::remove(const ShellValue& at, const std::string& name) {
  if (name.empty()) return reader_.misuse(at, "which family?", "alter 't', NAME => 'f', METHOD => 'delete'");
  removed_.push_back(name);
}

void Alteration::unset(const ShellValue& names) {
  const auto texts = reader_.texts_of(names);
  if (!texts) return;
  std::map<std::string, std::string> defaults;
  for (const auto& [option, value] : option_list(TableOptions())) defaults[option] = value;
  for (const std::string& text : *texts) {
    const std::string name = upper_ascii(text);
    const std::string option = table_option(name);
    if (!option.empty()) {
      reader_.add(names, set_option(after_, option, defaults[option]));
      set_.insert(option);
    } else if (!answer_attribute(name, "").known) {
      reader_.misuse(names, fmt::format("a table has no attribute {}", escaped(text)),
                     "DURABILITY, READONLY, COMPACTION_ENABLED, MEMSTORE_FLUSHSIZE");
    }
  }
}

void Alteration::add_method(const ShellValue& map, const ShellValue& method) {
  const std::string name = lower_ascii(reader_.text_of(method.items.front()).value_or(""));
  if (name == "delete") return remove(map, reader_.name_in(map));
  if (name == "table_att") {
    for (const ShellValue& pair : map.items)
      if (&pair != &method) reader_.read_table(after_, pair, set_);
    return;
  }
  if (name == "table_att_unset") {
    for (const ShellValue& pair : map.items)
      if (upper_ascii(pair.text) == "NAME") return unset(pair.items.front());
    return reader_.misuse(method, "which attributes?", "METHOD => 'table_att_unset', NAME => 'READONLY'");
  }
  reader_.misuse(method, fmt::format("there is no method {}", escaped(name)),
                 "delete, table_att, table_att_unset");
}

void Alteration::add_family(const std::string& name, const ShellValue& map) {
  auto family = std::ranges::find(after_.families, name, &FamilyOptions::name);
  if (family == after_.families.end()) {
    FamilyOptions fresh;
    fresh.name = name;
    const FamilyOptions* const known = find_family(before_, name);
    family = after_.families.insert(family, known != nullptr ? *known : fresh);
  }
  reader_.read_family(*family, map);
}

void Alteration::add(const ShellValue& map) {
  const auto is = [](std::string_view key) {
    return [key](const ShellValue& pair) { return lower_ascii(pair.text) == key; };
  };
  const auto method = std::ranges::find_if(map.items, is("method"));
  if (method != map.items.end()) return add_method(map, *method);
  const std::string name = reader_.name_in(map);
  if (!name.empty() && std::ranges::none_of(map.items, is("delete"))) return add_family(name, map);
  for (const ShellValue& pair : map.items) {
    if (!is("delete")(pair)) {
      reader_.read_table(after_, pair, set_);
    } else if (const auto names = reader_.texts_of(pair.items.front())) {
      for (const std::string& each : *names) remove(pair, each);
    }
  }
}

void Alteration::tell(Session& session, const std::string& table) const {
  tell_families(session, table, before_, change());
  for (const std::string& option : set_)
    session.talk(fmt::format("set {} of table {}", hbase_table_option_name(option), escaped(table)));
}

}  // namespace

Status run_alter(ShellCall& call) {
  const std::vector<ShellValue>& arguments = call.arguments();
  if (arguments.size() < 2) return call.take({}, 2, SIZE_MAX, SIZE_MAX);
  CELLAR_TRY_ASSIGN(const std::string name, call.text_of(arguments[0]));
  CELLAR_TRY_ASSIGN(Engine* const store, call.engine());
  const Result<std::shared_ptr<Table>> table = open_table(call.session(), *store, call.state().path, name);
  if (!table.ok()) return call.at(arguments[0], table.status());
  // The alteration points at these until it has been told.
  std::vector<ShellValue> maps;
  ShellValue loose{.kind = Kind::kMap};
  Alteration alteration(call, (*table)->info().options);
  for (size_t i = 1; i < arguments.size(); ++i) {
    const ShellValue& argument = arguments[i];
    if (argument.kind == Kind::kList) {
      alteration.misuse(argument);
    } else if (argument.kind == Kind::kPair) {
      if (loose.items.empty()) loose.at = argument.at;
      loose.items.push_back(argument);
    } else if (argument.kind == Kind::kMap) {
      maps.push_back(argument);
    } else {
      ShellValue named{.kind = Kind::kPair, .at = argument.at, .text = "NAME", .items = {argument}};
      maps.push_back({.kind = Kind::kMap, .at = argument.at, .items = {std::move(named)}});
    }
  }
  if (!loose.items.empty()) maps.push_back(std::move(loose));
  for (const ShellValue& map : maps) alteration.add(map);
  CELLAR_TRY(alteration.finish());
  CELLAR_TRY(call.at(arguments[1], store->alter_table(name, alteration.change())));
  alteration.tell(call.session(), name);
  return {};
}

Status run_describe(ShellCall& call) {
  CELLAR_TRY(call.take({}, 1, 1, 1));
  CELLAR_TRY_ASSIGN(const std::shared_ptr<Table> table, call.table());
  const TableInfo info = table->info();
  Session& session = call.session();
  session.out().write(session.format() == Format::kTable ? create_arguments(info.name, info.options)
                                                         : description_json({info}));
  return {};
}

}  // namespace cellar
