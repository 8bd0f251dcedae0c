// SchemaReader: attributes in HBase's syntax, read into options; every fault is told at once.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tools/shell/new_regions.h"
#include "tools/shell/shell_call.h"

namespace cellar {

// Returns our name of a table's option, given HBase's in capitals or ours. Returns "" for an unknown option.
std::string table_option(const std::string& name);

// Reads attributes into options and collects what is wrong with them. One statement: what stands about the
// table first, since its configuration is that of families that do not say otherwise.
class SchemaReader {
 public:
  // `regions` takes the attributes about regions of a cluster's new table. Null: the table exists.
  explicit SchemaReader(ShellCall& call, NewRegions* regions = nullptr) : call_(call), regions_(regions) {}

  // READONLY => true, OWNER => 'me', TABLE_ATTRIBUTES => {…}, CONFIGURATION => {…}, … What was set, in
  // HBase's spelling, is added to `set`.
  void read_table(TableOptions& table, const ShellValue& pair, std::set<std::string>& set);
  // Removes keys from the table's configuration; those that are options of families are no longer set there.
  // A key that neither the table nor one of `families` has set is a fault.
  void unset_keys(TableOptions& table, const std::vector<FamilyOptions>& families, const ShellValue& at,
                  std::set<std::string>& unset);
  // {NAME => 'f', VERSIONS => 5, …}, into the family's options so far.
  void read_family(FamilyOptions& family, const ShellValue& map);
  // Applies the table's configuration of its families. Returns false if it has none.
  bool apply_keys(FamilyOptions& family);

  // The text, or nothing and a fault.
  std::optional<std::string> text_of(const ShellValue& value);
  std::optional<std::vector<std::string>> texts_of(const ShellValue& value);
  // Returns the NAME of `map`, or "".
  std::string name_in(const ShellValue& map);

  // Adds a fault of syntax.
  void misuse(const ShellValue& at, std::string message, std::string_view hint);
  // Adds a fault of meaning: the syntax is right.
  void add(const ShellValue& at, const Status& status);
  // Ok, or all faults, at the first of them.
  Status finish();

 private:
  struct Fault {
    size_t at;
    Status status;
  };
  // A key of the table's configuration that is an option of its families.
  struct Key {
    const ShellValue* at;
    std::string key;
    std::string value;
  };

  void apply_key(FamilyOptions& family, const Key& key);
  void read_attribute(FamilyOptions& family, const ShellValue& pair);
  template <class Options, class Use>
  void read_keys(Options& options, const ShellValue& pair, const Use& use_key);
  void add_coprocessor(TableOptions& table, const ShellValue& value);
  void unknown_attribute(const ShellValue& pair, const std::string& name);

  ShellCall& call_;
  NewRegions* const regions_;
  bool misused_ = false;
  std::vector<Fault> faults_;
  std::vector<Key> keys_;
};

}  // namespace cellar
