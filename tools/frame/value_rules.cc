// Rules for showing cells.
#include "tools/frame/value_rules.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/bytes.h"

namespace cellar {

ValueRules ValueRules::of_all_parts(ValueForm form) {
  ValueRules rules(form);
  rules.row_ = rules.family_ = rules.qualifier_ = form;
  return rules;
}

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

void ValueRules::append_row(std::string& to, const CellView& cell) const {
  cellar::append_value(to, cell.row(), row_.value_or(ValueForm::kEscaped));
}

void ValueRules::append_qualifier(std::string& to, const CellView& cell) const {
  cellar::append_value(to, cell.qualifier(), qualifier_.value_or(ValueForm::kEscaped));
}

void ValueRules::append_family(std::string& to, const CellView& cell) const {
  cellar::append_value(to, cell.family(), family_.value_or(ValueForm::kEscaped));
}

void ValueRules::append_column(std::string& to, const CellView& cell) const {
  append_family(to, cell);
  to += ':';
  append_qualifier(to, cell);
}

void ValueRules::append_value(std::string& to, const CellView& cell) const {
  ValueForm form = values_;
  for (const auto& [column, chosen] : columns_) {
    if (column.family != cell.family()) continue;
    if (column.qualifier && *column.qualifier != cell.qualifier()) continue;
    form = chosen;
    if (column.qualifier) break;
  }
  cellar::append_value(to, cell.value_bytes(), form);
}

}  // namespace cellar
