// TableOperands: the table that a command reads: STORE TABLE, a directory of HBase's, or a root of HBase and
// TABLE; and the words after it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tools/frame/arguments.h"
#include "tools/store/store.h"

namespace cellar {

class TableOperands {
 public:
  // Declares the operands. `rest` is how the usage shows the words after the table: "ROW [COLUMN…]";
  // `command` is the name of the command. Called first.
  void declare(Arguments& arguments, std::string_view command, std::string_view rest);
  // Opens the table for reading. CEL-USAGE if fewer than `names.size()` words follow it, or more while
  // `at_most_names`.
  Result<OpenedTable> open(Session& session, const std::vector<std::string>& names, bool at_most_names);
  // Returns the words after the table. Call only after open().
  const std::vector<std::string>& rest() const { return rest_; }
  // After open(): errors in families name the nearest, and how tables of HBase are named.
  Status check_columns(Session& session, const Table& table, const std::vector<std::string>& columns) const;
  // After open(): gives an error of a read its name and exit status.
  Status name_failure(Session& session, const Status& status) const;

 private:
  Result<OpenedTable> open_store_form(Session& session);
  Result<OpenedTable> open_root_form(Session& session);
  Status refuse_many_tables(Session& session) const;
  Status refuse_file(Session& session) const;
  Status refuse_missing_table(Session& session) const;
  Status refuse_legacy_root(Session& session) const;
  Status usage(Session& session, std::string text, std::string hint = {}) const;
  Status take_rest(Session& session, size_t from, const std::vector<std::string>& names, bool at_most_names);

  std::string command_;
  std::string usage_of_rest_;
  std::string path_;
  std::vector<std::string> words_;
  std::vector<std::string> assumed_;
  bool of_hbase_ = false;    // the path is the table
  bool from_files_ = false;  // the path holds the table, in HBase's form
  std::vector<std::string> rest_;
};

}  // namespace cellar
