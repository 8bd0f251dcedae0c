// ValueRules: how parts of a cell are shown to people. The option --as is for all values; --decode is for
// rows, qualifiers and the values of single columns. A key of several fields is shown by its KeySchema.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cellar/cell.h"
#include "cellar/key_schema.h"
#include "cellar/status.h"
#include "tools/frame/arguments.h"
#include "tools/frame/operands.h"
#include "tools/frame/session.h"
#include "tools/frame/value_form.h"

namespace cellar {

// How one part is shown: in a form, or as the fields of a key. A value type.
class PartForm {
 public:
  PartForm(ValueForm form) : form_(form) {}  // NOLINT(google-explicit-constructor): a form is one
  // Shows the fields of the schema.
  explicit PartForm(KeySchema schema) : schema_(std::move(schema)) {}
  // Parses a form of --as, "key" for fields that tell their kind, or "key(SCHEMA)". kInvalidArgument.
  static Result<PartForm> parse(std::string_view text);

  bool shows_fields() const { return fields_ || schema_.has_value(); }
  const std::optional<KeySchema>& schema() const { return schema_; }
  void append(std::string& to, std::string_view bytes) const;

 private:
  ValueForm form_ = ValueForm::kEscaped;
  bool fields_ = false;  // of OrderedBytes
  std::optional<KeySchema> schema_;
};

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
  // Adds "row=long", "qualifier=hex", "value=utf8", "d:count=long" or "row=key(user text)". The rule of a
  // column goes before that of its family. That goes before the one for all values. Error: kInvalidArgument.
  Status add(std::string_view rule);
  // Lets rows without a rule be shown by the schema of their table. People see fields in place of bytes. JSON
  // has fields in addition.
  void set_table_schema(const KeySchema& schema, Format format);
  // Returns true if a rule for rows was added.
  bool has_row_rule() const { return row_.has_value(); }
  // Returns the schema by which rows are shown; nothing if they are shown otherwise.
  const std::optional<KeySchema>& row_schema() const { return schema_; }

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

  // Returns the fields of a row in JSON: {"user":"alice"}, or a text of fields that tell their kind. Returns
  // nothing if rows are not shown as fields.
  std::optional<std::string> key_json(std::string_view row) const;
  // Returns the same as a member of an object, with a comma before it: ,"key":{"user":"alice"}; or "".
  std::string key_member(std::string_view row) const;

  // Appends the cell as append_json() of cellar/cell.h does, with the member "key" where rows are shown as
  // fields.
  void append_json(std::string& to, const CellView& cell, bool mvcc, bool tags, bool value = true) const;

  // Return the part as text.
  std::string row(std::string_view row) const;
  std::string column(std::string_view family, std::string_view qualifier) const;

 private:
  ValueForm parts_;  // of rows, families and qualifiers without a rule
  PartForm values_;
  std::optional<PartForm> row_;
  std::optional<PartForm> qualifier_;
  std::optional<KeySchema> schema_;  // of rows
  std::vector<std::pair<ColumnOperand, PartForm>> columns_;
};

// The options of a command that shows rows, columns and values.
class ShownParts {
 public:
  // Declares --decode; with `values` also --as, and --full for tables at a terminal.
  void declare(Arguments& arguments, bool values);
  // Returns what the options ask for. CEL-USAGE for --decode in json and jsonl, where cells have one form;
  // only the fields of a row may be a member there.
  Result<ValueRules> rules(Session& session) const;
  // Returns whether values are shown whole at a terminal, too.
  bool full() const { return full_; }

 private:
  std::string form_;
  std::vector<std::string> decode_;
  bool full_ = false;
};

}  // namespace cellar
