// Rules for showing cells.
#include "tools/frame/value_rules.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/bytes.h"
#include "base/text_width.h"
#include "cellar/plugin.h"

namespace cellar {

Result<PartForm> PartForm::parse(std::string_view text) {
  constexpr std::string_view kKey = "key";
  if (text == kKey) {
    PartForm form(ValueForm::kEscaped);
    form.fields_ = true;
    return form;
  }
  if (text.starts_with("key(") && text.ends_with(')')) {
    text.remove_prefix(kKey.size() + 1);
    text.remove_suffix(1);
    CELLAR_TRY_ASSIGN(KeySchema schema, KeySchema::parse(text));
    return PartForm(std::move(schema));
  }
  const std::vector<std::string> forms = value_forms();
  if (std::ranges::find(forms, text) != forms.end()) return PartForm(value_form_of(text));
  return Status::invalid_argument(fmt::format("no form is called \"{}\"", escaped(text)));
}

void PartForm::append(std::string& to, std::string_view bytes) const {
  if (schema_) {
    to += schema_->text(bytes);
  } else if (fields_) {
    to += key_fields_text(bytes);
  } else {
    append_value(to, bytes, form_);
  }
}

Status ValueRules::add(std::string_view rule) {
  const size_t equals = rule.find("=key(") != rule.npos ? rule.find("=key(") : rule.rfind('=');
  const std::string_view target = rule.substr(0, std::min(equals, rule.size()));
  const std::string_view form = equals == rule.npos ? std::string_view() : rule.substr(equals + 1);
  Result<PartForm> parsed = PartForm::parse(form);
  if (!parsed.ok() && form.starts_with("key(")) return parsed.status().with_context("--decode");
  if (target.empty() || !parsed.ok()) {
    return Status::invalid_argument(fmt::format("--decode: \"{}\" is not TARGET=FORM", escaped(rule)))
        .hinting(
            "write row=long, qualifier=hex, value=utf8, d:count=long, d=double or row=key(user text); the "
            "forms are those of --as, and key");
  }
  if (target == "row") {
    schema_ = parsed->schema();
    row_ = *std::move(parsed);
  } else if (target == "qualifier") {
    qualifier_ = *std::move(parsed);
  } else if (target == "value") {
    values_ = *std::move(parsed);
  } else {
    CELLAR_TRY_ASSIGN(ColumnOperand column, parse_column(target));
    columns_.emplace_back(std::move(column), *std::move(parsed));
  }
  return {};
}

void ValueRules::set_table_schema(const KeySchema& schema, Format format) {
  if (has_row_rule()) return;
  schema_ = schema;
  if (format == Format::kTable) row_ = PartForm(schema);
}

std::optional<std::string> ValueRules::key_json(std::string_view row) const {
  if (schema_) return schema_->json(row);
  if (row_ && row_->shows_fields()) return json_string(key_fields_text(row));
  return std::nullopt;
}

std::string ValueRules::key_member(std::string_view row) const {
  const std::optional<std::string> json = key_json(row);
  return json ? ",\"key\":" + *json : std::string();
}

void ValueRules::append_json(std::string& to, const CellView& cell, bool mvcc, bool tags, bool value) const {
  cellar::append_json(to, cell, mvcc, tags, value);
  const std::string member = key_member(cell.row());
  to.insert(to.size() - 1, member);  // before the brace
}

void ValueRules::append_row(std::string& to, std::string_view row) const {
  row_ ? row_->append(to, row) : cellar::append_value(to, row, parts_);
}

void ValueRules::append_family(std::string& to, std::string_view family) const {
  cellar::append_value(to, family, parts_);
}

void ValueRules::append_qualifier(std::string& to, std::string_view qualifier) const {
  qualifier_ ? qualifier_->append(to, qualifier) : cellar::append_value(to, qualifier, parts_);
}

void ValueRules::append_column(std::string& to, std::string_view family, std::string_view qualifier) const {
  append_family(to, family);
  to += ':';
  append_qualifier(to, qualifier);
}

void ValueRules::append_value(std::string& to, std::string_view family, std::string_view qualifier,
                              std::string_view value) const {
  const PartForm* form = &values_;
  for (const auto& [column, chosen] : columns_) {
    if (column.family != family) continue;
    if (column.qualifier && *column.qualifier != qualifier) continue;
    form = &chosen;
    if (column.qualifier) break;
  }
  form->append(to, value);
}

std::string ValueRules::row(std::string_view row) const {
  std::string text;
  append_row(text, row);
  return text;
}

std::string ValueRules::column(std::string_view family, std::string_view qualifier) const {
  std::string text;
  append_column(text, family, qualifier);
  return text;
}

void ShownParts::declare(Arguments& arguments, bool values) {
  if (values) {
    arguments.option("--as", form_, "FORM", "how values are shown: long, hex, utf8, … (cellar help formats)")
        .flag("--full", full_, "values whole: at a terminal a table cuts them to its width");
  }
  arguments.option_list("--decode", decode_, "RULE",
                        values ? "a part by its own form: row=key, d:count=long; may be repeated"
                               : "a key by its own form: row=hex, row=key(user text); may be repeated");
}

Result<ValueRules> ShownParts::rules(Session& session) const {
  ValueRules rules = ValueRules::of_format(session.format());
  if (!form_.empty() && form_ != "auto") {
    std::vector<std::string> forms = value_forms();
    forms.emplace_back("auto");
    if (std::ranges::find(forms, form_) == forms.end()) {
      const std::string nearest = nearest_name(form_, forms);
      return session.name_failure(
          "CEL-USAGE", Exit::kUsage,
          Status::invalid_argument(fmt::format("--as: no form is called \"{}\"", readable(form_)))
              .hinting(nearest.empty() ? fmt::format("{}", fmt::join(forms, ", "))
                                       : fmt::format("did you mean {} ?   (cellar help formats)", nearest)));
    }
    rules.set_values(value_form_of(form_));
  }
  for (const std::string& rule : decode_) CELLAR_TRY(rules.add(rule));
  const auto is_key = [](const std::string& rule) {
    return rule == "row=key" || rule.starts_with("row=key(");
  };
  if (session.json_errors() && !std::ranges::all_of(decode_, is_key))
    return session.name_failure(
        "CEL-USAGE", Exit::kUsage,
        Status::invalid_argument("cells have one form in json and jsonl; --decode row=key adds a member")
            .hinting("--format table or csv"));
  return rules;
}

}  // namespace cellar
