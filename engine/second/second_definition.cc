// SecondDefinition: parses the text, derives the schema, and makes the keys of a row.
#include "engine/second/second_definition.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/assert.h"
#include "base/bytes.h"
#include "cellar/key_schema.h"
#include "engine/schema/names.h"
#include "engine/store/family_config.h"

namespace cellar {
namespace {

bool copies(const SecondColumn& column, const CellView& cell) {
  return column.family == cell.family() && (column.whole || column.qualifier == cell.qualifier());
}

// Cells of a second table have one version, and go with their source alone.
FamilyOptions derived(FamilyOptions family, const std::string& name) {
  family.name = name;
  family.max_versions = 1;
  family.min_versions = 0;
  family.ttl_s = FamilyOptions().ttl_s;
  family.keep_deleted_cells = KeepDeleted::kFalse;
  family.delete_order = MarkerOrder::kSequence;
  family.stamps = Stamps::kClock;
  return family;
}

struct Cause {
  std::string_view what;
  std::string_view option;  // that ends it
};

// Returns why cells of the family come or go without a write.
Result<std::optional<Cause>> cause_of_change(const FamilyOptions& family) {
  if (family.ttl_s != FamilyOptions().ttl_s) return Cause{"has a time to live", "ttl_s=forever"};
  if (family.delete_order != MarkerOrder::kSequence)
    return Cause{"has delete_order=timestamp", "delete_order=sequence"};
  CELLAR_TRY_ASSIGN(const auto config, FamilyConfig::create(family));
  if (config->policy->may_drop_live())
    return Cause{"has a policy that drops live cells", "compaction=exploring"};
  return std::optional<Cause>();
}

const FamilyOptions* find(const std::vector<FamilyOptions>& families, std::string_view name) {
  const auto found = std::ranges::find(families, name, &FamilyOptions::name);
  return found == families.end() ? nullptr : &*found;
}

}  // namespace

Status check_lasting(const std::string& table, const FamilyOptions& family) {
  CELLAR_TRY_ASSIGN(const std::optional<Cause> cause, cause_of_change(family));
  if (!cause) return {};
  return Status::invalid_argument(
             fmt::format(
                 "family {} of table {} {}. So its cells can come or go without a write, and a second "
                 "table would not follow",
                 family.name, table, cause->what))
      .hinting(fmt::format("alter {}: {}:{}", table, family.name, cause->option));
}

Result<SecondDefinition> SecondDefinition::parse(const SecondTable& text) {
  SecondDefinition definition;
  CELLAR_TRY_ASSIGN(definition.parts_, parse_second_key(text.key));
  CELLAR_TRY_ASSIGN(definition.copied_, parse_second_columns(text.columns));
  for (const SecondColumn& each : definition.copied_)
    if (each.family == kSecondTableFamily)
      return Status::invalid_argument(
                 fmt::format("columns of family {} cannot be copied", kSecondTableFamily))
          .hinting("the second table keeps the row of the source in a family of that name");
  const auto row_alone = [](const SecondPart& part) { return part.source == SecondPart::Source::kRow; };
  if (std::ranges::all_of(definition.parts_, row_alone)) return definition;
  std::vector<SecondColumn> needed = definition.copied_;
  for (const SecondPart& part : definition.parts_)
    if (!row_alone(part)) needed.push_back(part.column);
  const auto whole = [&](const std::string& family) {
    return std::ranges::any_of(needed, [&](const auto& each) { return each.family == family && each.whole; });
  };
  for (const SecondColumn& each : needed) {
    std::vector<std::string>& qualifiers = definition.columns_[each.family];
    if (!whole(each.family)) qualifiers.push_back(each.qualifier);
  }
  return definition;
}

bool SecondDefinition::uses(std::string_view family) const {
  return columns_.empty() || columns_.contains(family);
}

Status SecondDefinition::check_family(const std::string& source, const FamilyOptions& family) const {
  return uses(family.name) ? check_lasting(source, family) : Status();
}

Result<TableOptions> SecondDefinition::schema(const std::string& source,
                                              const std::vector<FamilyOptions>& families) const {
  CELLAR_ASSERT(!families.empty());
  std::vector<std::string> names;
  for (const FamilyOptions& family : families) {
    names.push_back(family.name);
    CELLAR_TRY(check_family(source, family));
  }
  for (const auto& [family, qualifiers] : columns_)
    if (find(families, family) == nullptr) return unknown_family(source, family, names);
  TableOptions options;
  // A schema has at most 100 fields and 4,096 bytes. The tools show keys beyond that as bytes.
  if (const auto fields = KeySchema::parse(fields_of(parts_)); fields.ok())
    options.metadata.emplace(KeySchema::kTableAttribute, fields->to_text());
  const auto model = std::ranges::find_if(families, [&](const auto& family) { return uses(family.name); });
  CELLAR_ASSERT(model != families.end());  // a definition without columns uses all families
  options.families.push_back(derived(*model, kSecondTableFamily));
  for (const SecondColumn& each : copied_) {
    const FamilyOptions* const family = find(families, each.family);
    if (family == nullptr) return unknown_family(source, each.family, names);
    if (find(options.families, each.family) == nullptr)
      options.families.push_back(derived(*family, each.family));
  }
  return options;
}

// `qualifier` is that of the part with many. Not complete: the row lacks a column.
Result<std::string> SecondDefinition::key_of(const RowView& row, std::string_view qualifier,
                                             bool& complete) const {
  KeyBuilder key;
  for (const SecondPart& part : parts_) {
    std::string_view bytes = qualifier;
    if (part.source == SecondPart::Source::kRow) {
      CELLAR_TRY_ASSIGN(bytes, bytes_of_row(part, row.row()));
    } else if (part.source == SecondPart::Source::kValue) {
      const std::optional<std::string_view> value = row.value(part.column.family, part.column.qualifier);
      complete = value.has_value();
      if (!complete) return std::string();
      bytes = *value;
    }
    CELLAR_TRY(append_part(part, bytes, key));
  }
  complete = true;
  return key.key();
}

Result<SecondRows> SecondDefinition::rows_of(const RowView& row) const {
  SecondRows rows;
  if (row.empty()) return rows;
  const auto many = std::ranges::find(parts_, SecondPart::Source::kQualifiers, &SecondPart::source);
  const auto add = [&](std::string_view qualifier) -> Status {
    bool complete = false;
    CELLAR_TRY_ASSIGN(std::string key, key_of(row, qualifier, complete));
    if (complete) rows.keys.push_back(std::move(key));
    return {};
  };
  if (many == parts_.end()) CELLAR_TRY(add({}));
  for (const CellView& cell : row) {
    std::string_view ttl;
    if (find_tag(cell.tags_bytes(), kTtlTag, ttl))
      return Status::invalid_argument(
                 fmt::format("column {}:{} has a time to live, so it can go without a write",
                             escaped(cell.family()), escaped(cell.qualifier())))
          .hinting("write it without a time to live, or leave it out of the second table");
    if (many != parts_.end() && cell.family() == many->column.family) CELLAR_TRY(add(cell.qualifier()));
    if (std::ranges::any_of(copied_, [&](const SecondColumn& each) { return copies(each, cell); }))
      rows.cells[{std::string(cell.family()), std::string(cell.qualifier())}] = cell.value_bytes();
  }
  std::ranges::sort(rows.keys);
  CELLAR_ASSERT(std::ranges::adjacent_find(rows.keys) == rows.keys.end());  // the row and qualifiers differ
  rows.cells[{kSecondTableFamily, ""}] = row.row();
  return rows;
}

}  // namespace cellar
