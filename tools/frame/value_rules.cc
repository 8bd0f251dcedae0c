// Rules for showing cells.
#include "tools/frame/value_rules.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/bytes.h"
#include "base/text_width.h"
#include "cellar/plugin.h"

namespace cellar {

Status ValueRules::add(std::string_view rule) {
  const std::vector<std::string> forms = value_forms();
  const size_t equals = rule.rfind('=');
  const std::string_view target = rule.substr(0, std::min(equals, rule.size()));
  const std::string_view form =
      equals == std::string_view::npos ? std::string_view() : rule.substr(equals + 1);
  if (target.empty() || std::ranges::find(forms, form) == forms.end()) {
    return Status::invalid_argument(fmt::format("--decode: \"{}\" is not TARGET=FORM", escaped(rule)))
        .hinting(
            "write row=long, qualifier=hex, value=utf8, d:count=long or d=double; the forms are those of "
            "--as");
  }
  const ValueForm chosen = value_form_of(form);
  if (target == "row") {
    row_ = chosen;
  } else if (target == "qualifier") {
    qualifier_ = chosen;
  } else if (target == "value") {
    values_ = chosen;
  } else {
    CELLAR_TRY_ASSIGN(ColumnOperand column, parse_column(target));
    columns_.emplace_back(std::move(column), chosen);
  }
  return {};
}

void ValueRules::append_row(std::string& to, std::string_view row) const {
  cellar::append_value(to, row, row_.value_or(parts_));
}

void ValueRules::append_family(std::string& to, std::string_view family) const {
  cellar::append_value(to, family, parts_);
}

void ValueRules::append_qualifier(std::string& to, std::string_view qualifier) const {
  cellar::append_value(to, qualifier, qualifier_.value_or(parts_));
}

void ValueRules::append_column(std::string& to, std::string_view family, std::string_view qualifier) const {
  append_family(to, family);
  to += ':';
  append_qualifier(to, qualifier);
}

void ValueRules::append_value(std::string& to, std::string_view family, std::string_view qualifier,
                              std::string_view value) const {
  ValueForm form = values_;
  for (const auto& [column, chosen] : columns_) {
    if (column.family != family) continue;
    if (column.qualifier && *column.qualifier != qualifier) continue;
    form = chosen;
    if (column.qualifier) break;
  }
  cellar::append_value(to, value, form);
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
                        values ? "a part by its own form: row=hex, d:count=long; may be repeated"
                               : "a key by its own form: row=hex, qualifier=text; may be repeated");
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
  if (session.json_errors() && !decode_.empty())
    return session.name_failure(
        "CEL-USAGE", Exit::kUsage,
        Status::invalid_argument("cells have one form in json and jsonl, which --decode does not change")
            .hinting("--format table or csv"));
  return rules;
}

}  // namespace cellar
