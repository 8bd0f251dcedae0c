// ValueRules: how parts of a cell are shown to people: all values alike (--as), or rows, qualifiers and the
// values of single columns by rule (--decode).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cellar/cell.h"
#include "cellar/status.h"
#include "tools/frame/operands.h"
#include "tools/frame/value_form.h"

namespace cellar {

// A value type.
class ValueRules {
 public:
  ValueRules() = default;
  explicit ValueRules(ValueForm values) : values_(values) {}
  // Rows, families, qualifiers and values alike.
  static ValueRules of_all_parts(ValueForm form);

  // "row=long", "qualifier=hex", "value=utf8", "d:count=long", "d=double". The rule of a column goes before
  // that of its family, that before the one for all values. kInvalidArgument.
  Status add(std::string_view rule);
  bool empty() const {
    return !row_ && !family_ && !qualifier_ && columns_.empty() && values_ == ValueForm::kEscaped;
  }

  void append_row(std::string& to, const CellView& cell) const;
  void append_column(std::string& to, const CellView& cell) const;  // family and qualifier
  void append_family(std::string& to, const CellView& cell) const;
  void append_qualifier(std::string& to, const CellView& cell) const;
  void append_value(std::string& to, const CellView& cell) const;

 private:
  ValueForm values_ = ValueForm::kEscaped;
  std::optional<ValueForm> row_;
  std::optional<ValueForm> family_;
  std::optional<ValueForm> qualifier_;
  std::vector<std::pair<ColumnOperand, ValueForm>> columns_;
};

}  // namespace cellar
