// SchemaReader: names are looked up where options are, here is only what the shell's syntax adds.
#include "tools/shell/schema_reader.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/bytes.h"
#include "cellar/plugin.h"
#include "engine/schema/option_fields.h"
#include "tools/frame/output.h"
#include "tools/store/hbase_attributes.h"
#include "tools/store/schema_text.h"

namespace cellar {
namespace {

using Kind = ShellValue::Kind;

Status of_family(const FamilyOptions& family, const Status& status) {
  return status.ok() ? status : status.with_context("family " + family.name);
}

bool holds_keys(const std::string& name) { return name == "CONFIGURATION" || name == "METADATA"; }

}  // namespace

std::string table_option(const std::string& name) {
  for (const auto& [option, value] : option_list(TableOptions()))
    if (name == upper_ascii(option) || name == hbase_table_option_name(option)) return option;
  return {};
}

void SchemaReader::misuse(const ShellValue& at, std::string message, std::string_view hint) {
  misused_ = true;
  add(at, Status::invalid_argument(std::move(message)).hinting(hint));
}

void SchemaReader::add(const ShellValue& at, const Status& status) {
  if (!status.ok()) faults_.push_back({at.at, status});
}

Status SchemaReader::finish() {
  if (faults_.empty()) return {};
  std::ranges::stable_sort(faults_, {}, &Fault::at);
  std::vector<Status> statuses;
  for (const Fault& fault : faults_) statuses.push_back(fault.status);
  const Status all = all_faults(statuses);
  const ShellValue first{.at = faults_.front().at};
  return misused_ ? call_.fault(first, std::string(all.message()), all.hint()) : call_.at(first, all);
}

std::optional<std::string> SchemaReader::text_of(const ShellValue& value) {
  if (value.plain()) return value.text;
  misuse(value, "expected a text", "write a text with brackets or => in quotes");
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

// Names the nearest in HBase's spelling.
void SchemaReader::unknown_attribute(const ShellValue& pair, const std::string& name) {
  const std::vector<std::string> names = family_attributes();
  const std::string nearest = nearest_name(name, names);
  misuse(pair, fmt::format("a family has no attribute {}", escaped(pair.text)),
         nearest.empty() ? fmt::format("attributes: {}", fmt::join(names, ", "))
                         : fmt::format("did you mean {}?", nearest));
}

void SchemaReader::read_attribute(FamilyOptions& family, const ShellValue& pair) {
  const std::string name = upper_ascii(pair.text);
  const auto is_called = [&](const auto& option) {
    return name == upper_ascii(option.first) || name == family_attribute(option.first);
  };
  if (find_carried_attribute(AttributeOf::kFamily, name) == nullptr &&
      std::ranges::none_of(option_list(FamilyOptions()), is_called))
    return unknown_attribute(pair, name);
  if (const auto value = text_of(pair.items.front()))
    add(pair, of_family(family, set_option(family, name, *value)));
}

// CONFIGURATION and METADATA; HBase looks for its keys in both. `use_key` is asked first, of each with its
// value.
template <class Options, class Use>
void SchemaReader::read_keys(Options& options, const ShellValue& pair, const Use& use_key) {
  const ShellValue& map = pair.items.front();
  if (map.kind != Kind::kMap)
    return misuse(map, "expected keys and values in braces", "CONFIGURATION => {'key' => 'value'}");
  const bool metadata = upper_ascii(pair.text) == "METADATA";
  for (const ShellValue& each : map.items) {
    const auto value = text_of(each.items.front());
    if (!value || use_key(each, *value)) continue;
    add(each, set_option(options, (metadata ? "metadata." : "configuration.") + each.text, *value));
  }
}

void SchemaReader::read_family(FamilyOptions& family, const ShellValue& map) {
  for (const ShellValue& pair : map.items) {
    const std::string name = upper_ascii(pair.text);
    if (!holds_keys(name) && name != "NAME") read_attribute(family, pair);
  }
  for (const Key& each : keys_)  // parameters that the text of a plug-in replaced, and does not say itself
    if (lacks_parameter(family, each.key)) apply_key(family, each);
  for (const ShellValue& pair : map.items)
    if (holds_keys(upper_ascii(pair.text)))
      read_keys(family, pair, [](const ShellValue&, const std::string&) { return false; });
  add(map, validate(family));
}

bool SchemaReader::apply_keys(FamilyOptions& family) {
  for (const Key& each : keys_) apply_key(family, each);
  return !keys_.empty();
}

void SchemaReader::apply_key(FamilyOptions& family, const Key& key) {
  add(*key.at, of_family(family, set_option(family, "configuration." + key.key, key.value)));
}

void SchemaReader::add_coprocessor(TableOptions& table, const ShellValue& value) {
  size_t number = 1;
  const auto is_taken = [&] { return table.metadata.contains(fmt::format("COPROCESSOR${}", number)); };
  while (is_taken()) ++number;
  const auto text = text_of(value);
  if (!text) return;
  const auto is_same = [&](const auto& each) {
    return each.first.starts_with("COPROCESSOR$") &&
           coprocessor_class(each.second) == coprocessor_class(*text);
  };
  if (std::ranges::any_of(table.metadata, is_same)) {
    add(value, Status::invalid_argument(fmt::format("the table already has the coprocessor {}",
                                                    escaped(coprocessor_class(*text)))));
  } else {
    add(value, set_option(table, fmt::format("COPROCESSOR${}", number), *text));
  }
}

void SchemaReader::read_table(TableOptions& table, const ShellValue& pair, std::set<std::string>& set) {
  const std::string name = upper_ascii(pair.text);
  const ShellValue& value = pair.items.front();
  if (name == "TABLE_ATTRIBUTES" && value.kind == Kind::kMap) {
    for (const ShellValue& each : value.items) read_table(table, each, set);
    return;
  }
  if (holds_keys(name)) {
    for (const ShellValue& each : value.items) set.insert(escaped(each.text));
    return read_keys(table, pair, [&](const ShellValue& each, const std::string& text) {
      if (!is_family_key(each.text)) return false;
      keys_.push_back({&each, each.text, text});
      return true;
    });
  }
  if (call_.on_cluster() && regions_ != nullptr && regions_->take(name, value)) return;
  if (const std::string_view why = passing_attribute(name, call_.on_cluster()); !why.empty())
    return call_.session().talk(fmt::format("note   {} has no effect: {}", name, why));
  if (name == "COPROCESSOR") {
    add_coprocessor(table, value);
    set.insert(name);
    return;
  }
  if (const std::string option = table_option(name); !option.empty()) {
    set.insert(hbase_table_option_name(option));
  } else if (find_carried_attribute(AttributeOf::kTable, name) != nullptr) {
    set.insert(name);
  } else {
    return misuse(pair, fmt::format("a table has no attribute {}", escaped(pair.text)),
                  "write the attributes of a family in braces with its NAME: {NAME => 'f', VERSIONS => 5}");
  }
  if (const auto text = text_of(value)) add(pair, set_option(table, name, *text));
}

void SchemaReader::unset_keys(TableOptions& table, const std::vector<FamilyOptions>& families,
                              const ShellValue& at, std::set<std::string>& unset) {
  const auto keys = texts_of(at);
  if (!keys) return;
  for (const std::string& key : *keys) {
    const bool of_families = is_family_key(key);
    const auto sets_it = [&](FamilyOptions family) {
      const FamilyOptions before = family;
      return set_option(family, "configuration." + key, "").ok() && family != before;
    };
    if (of_families ? std::ranges::none_of(families, sets_it) : !table.configuration.contains(key))
      add(at, Status::not_found(fmt::format("the table does not have {}", escaped(key)))
                  .hinting("describe prints what it has"));
    unset.insert(escaped(key));
    if (of_families) {
      keys_.push_back({&at, key, ""});
    } else {
      add(at, set_option(table, "configuration." + key, ""));
    }
  }
}

}  // namespace cellar
