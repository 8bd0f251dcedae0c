// SecondDefinition: the columns of the source that a second table needs, and the keys that follow from them.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cellar/options.h"
#include "cellar/query.h"
#include "cellar/row_batch.h"
#include "cellar/second_table.h"
#include "engine/second/second_key.h"

namespace cellar {

// The rows of a second table that one row of the source has. Owns its bytes.
struct SecondRows {
  using Cells = std::map<std::pair<std::string, std::string>, std::string>;  // by family and qualifier
  std::vector<std::string> keys;                                             // sorted, each once
  Cells cells;                                                               // of each of these rows
};

// Returns ok if cells of the family come and go by writes alone; else kInvalidArgument with the cause.
Status check_lasting(const std::string& table, const FamilyOptions& family);

// A value.
class SecondDefinition {
 public:
  // kInvalidArgument with what is wrong with the key or the columns.
  static Result<SecondDefinition> parse(const SecondTable& text);

  // Returns the families of the second table. Error: kInvalidArgument if the source lacks a family, or if
  // cells of a family come or go without a write.
  Result<TableOptions> schema(const std::string& source, const std::vector<FamilyOptions>& families) const;
  // Returns why a family that the keys or the copied columns need would not do; ok if it does.
  Status check_family(const std::string& source, const FamilyOptions& family) const;
  // Returns whether the family decides about rows of the second table.
  bool uses(std::string_view family) const;
  // Chooses in a read of the source what rows_of() needs.
  template <class Read>
  void choose(Read& read) const;
  // Returns the rows that this row of the source has, as choose() reads it. None if it lacks a column of the
  // key. Errors: kInvalidArgument if a form cannot hold a value, or if a cell has a time to live. Also kLimit
  // if a key is too long.
  Result<SecondRows> rows_of(const RowView& row) const;

 private:
  Result<std::string> key_of(const RowView& row, std::string_view qualifier, bool& complete) const;

  std::vector<SecondPart> parts_;
  std::vector<SecondColumn> copied_;
  // The columns that keys and copies need, by family. No qualifiers: the whole family. Empty if the key is of
  // the row alone: then any cell makes a row.
  std::map<std::string, std::vector<std::string>, std::less<>> columns_;
};

template <class Read>
void SecondDefinition::choose(Read& read) const {
  for (const auto& [family, qualifiers] : columns_) {
    if (qualifiers.empty()) read.family(family);
    for (const std::string& qualifier : qualifiers) read.column(family, qualifier);
  }
}

}  // namespace cellar
