// ValueRules: how parts of a cell are shown to people. The option --as is for all values; --decode is for
// rows, qualifiers and the values of single columns.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cellar/cell.h"
#include "cellar/status.h"
#include "tools/frame/arguments.h"
#include "tools/frame/operands.h"
#include "tools/frame/session.h"
#include "tools/frame/value_form.h"

namespace cellar {

// A value type.
class ValueRules {
 public:
  // Every part is shown in this form.
  explicit ValueRules(ValueForm form = ValueForm::kEscaped) : parts_(form), values_(form) {}
  // Returns the rules of a format: printable characters of UTF-8 as they are in a table, escapes in the forms
  // for programs.
  static ValueRules of_format(Format format) {
    return ValueRules(format == Format::kTable ? ValueForm::kText : ValueForm::kEscaped);
  }

  // Sets the form of values for which no rule is added.
  void set_values(ValueForm form) { values_ = form; }
  // Adds "row=long", "qualifier=hex", "value=utf8", "d:count=long" or "d=double". The rule of a column goes
  // before that of its family, and that before the one for all values. kInvalidArgument.
  Status add(std::string_view rule);

  void append_row(std::string& to, std::string_view row) const;
  void append_family(std::string& to, std::string_view family) const;
  void append_qualifier(std::string& to, std::string_view qualifier) const;
  // Appends family, colon and qualifier.
  void append_column(std::string& to, std::string_view family, std::string_view qualifier) const;
  void append_value(std::string& to, const CellView& cell) const {
    append_value(to, cell.family(), cell.qualifier(), cell.value_bytes());
  }
  void append_value(std::string& to, std::string_view family, std::string_view qualifier,
                    std::string_view value) const;

  // Return the part as text.
  std::string row(std::string_view row) const;
  std::string column(std::string_view family, std::string_view qualifier) const;

 private:
  ValueForm parts_;  // of rows, families and qualifiers without a rule
  ValueForm values_;
  std::optional<ValueForm> row_;
  std::optional<ValueForm> qualifier_;
  std::vector<std::pair<ColumnOperand, ValueForm>> columns_;
};

// The options of a command that shows rows, columns and values.
class ShownParts {
 public:
  // Declares --decode; with `values` also --as, and --full for tables at a terminal.
  void declare(Arguments& arguments, bool values);
  // Returns what the options ask for. CEL-USAGE for --decode in json and jsonl, where cells have one form.
  Result<ValueRules> rules(Session& session) const;
  // Returns whether values are shown whole at a terminal, too.
  bool full() const { return full_; }

 private:
  std::string form_;
  std::vector<std::string> decode_;
  bool full_ = false;
};

}  // namespace cellar
