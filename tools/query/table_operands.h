// TableOperands: which table a command reads: STORE TABLE, a directory of HBase's, or a root of HBase and
// TABLE; and the words behind.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tools/frame/arguments.h"
#include "tools/store/store.h"

namespace cellar {

class TableOperands {
 public:
  // `rest` is how the words behind the table stand in the usage: "ROW [COLUMN…]". Called first; `command` is
  // its name.
  void declare(Arguments& arguments, std::string_view command, std::string_view rest);
  // Opens the table for looking. Fewer than `names.size()` words behind it, or more when `at_most_names`, is
  // CEL-USAGE.
  Result<OpenedTable> open(Session& session, const std::vector<std::string>& names, bool at_most_names);
  // After open(): the words behind the table.
  const std::vector<std::string>& rest() const { return rest_; }
  // After open(): errors in families name the nearest, and how tables of HBase are named.
  Status check_columns(Session& session, const Table& table, const std::vector<std::string>& columns) const;
  // After open(): gives an error of a read its name and exit status.
  Status name_failure(Session& session, const Status& status) const;

 private:
  Result<OpenedTable> open_store_form(Session& session);
  Result<OpenedTable> open_root_form(Session& session);
  Status refuse_many_tables(Session& session) const;
  Status refuse_legacy_root(Session& session) const;
  Status usage(Session& session, std::string text, std::string hint = {}) const;
  Status take_rest(Session& session, size_t from, const std::vector<std::string>& names, bool at_most_names);

  std::string command_;
  std::string usage_of_rest_;
  std::string path_;
  std::vector<std::string> words_;
  std::vector<std::string> assumed_;
  bool of_hbase_ = false;    // the path is the table
  bool from_files_ = false;  // … or holds it, in HBase's form
  std::vector<std::string> rest_;
};

}  // namespace cellar
