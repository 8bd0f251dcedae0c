// Finds out which form was used, by what lies at the path.
#include "tools/query/table_operands.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/bytes.h"
#include "tools/frame/operands.h"
#include "tools/hbase/file_look.h"
#include "tools/hbase/hbase_dir.h"
#include "tools/hbase/hbase_legacy.h"
#include "tools/hbase/hbase_table.h"

namespace cellar {
namespace {

std::string below(const std::string& path, std::string_view more) {
  return path + (path.ends_with('/') ? "" : "/") + std::string(more);
}

// "orders, shop:carts", or why there is nothing to list.
std::string some_of(const std::vector<std::string>& names) {
  constexpr size_t kMost = 8;
  std::string text;
  for (size_t i = 0; i < std::min(names.size(), kMost); ++i) text += (i == 0 ? "" : ", ") + escaped(names[i]);
  return names.size() > kMost ? fmt::format("{} and {} more", text, names.size() - kMost) : text;
}

// "orders" and "shop:carts" to "data/default/orders" and "data/shop/carts".
std::string place_of(const std::string& table) {
  const size_t colon = table.find(':');
  const bool spaced = colon != std::string::npos;
  return fmt::format("data/{}/{}", spaced ? table.substr(0, colon) : "default",
                     spaced ? table.substr(colon + 1) : table);
}

// Returns the error with options of the command in its hint, where the engine names functions of Scan.
Status with_option_names(const Status& status, std::string_view command) {
  std::string hint(status.hint());
  const auto replace = [&](std::string_view name, std::string_view option) {
    for (size_t at; (at = hint.find(name)) != hint.npos;) hint.replace(at, name.size(), option);
  };
  replace("Scan::stop", "--stop");
  replace("Scan::prefix", "--prefix");
  replace("Scan::limit", "--limit");
  replace("AggregateOptions::count_bad", "--count-bad");
  if (command == "scan") {
    replace("Scan::batch, Scan::max_result_bytes", "--batch N");
    replace("Scan::batch", "--batch");
  }
  if (hint == status.hint()) return status;
  return Status::with_code(status.code(), std::string(status.message())).at(status.place()).hinting(hint);
}

}  // namespace

void TableOperands::declare(Arguments& arguments, std::string_view command, std::string_view rest) {
  command_ = command;
  usage_of_rest_ = rest.empty() ? "" : " " + std::string(rest);
  arguments.operand("STORE", path_, "directory of the store")
      .words(words_, "TABLE" + usage_of_rest_, "HBASE-DIR" + usage_of_rest_)
      .word("TABLE", "name of the table")
      .word("HBASE-DIR", "a table in HBase's own directory (cellar help hbase)")
      .option_list("--assume", assumed_, "FAMILY:OPTIONS",
                   "what a family of HBASE-DIR keeps: d:max_versions=3");
}

Status TableOperands::usage(Session& session, std::string text, std::string hint) const {
  if (hint.empty())
    hint = fmt::format("usage: cellar {} {}{}   (cellar {} --help)", command_,
                       of_hbase_ ? "HBASE-DIR" : "STORE TABLE", usage_of_rest_, command_);
  return session.name_failure("CEL-USAGE", Exit::kUsage,
                              Status::invalid_argument(std::move(text)).hinting(std::move(hint)));
}

// Returns an error if the path is a file; ok otherwise. `row` is the row that was asked for, if it is known.
Status TableOperands::refuse_file(Session& session) const {
  if (!is_plain_file(path_)) return {};
  const bool hfile = look_at_file(path_) != FileLook::kOther;
  const bool one_row = command_ == "get" && !words_.empty();
  const std::string hint =
      !hfile ? fmt::format("cellar {} reads a table of a store, or a directory of HBase's", command_)
             : fmt::format("cellar dump {}{} prints the cells of an HFile", path_,
                           one_row ? " --row " + shell_word(words_.front()) : "");
  return session.name_failure(
      "CEL-NOT-STORE", Exit::kCannot,
      Status::not_found(fmt::format("{} is {}, not a store", path_, hfile ? "an HFile" : "a file"))
          .hinting(hint));
}

// Returns CEL-USAGE: only the path was given, and it needs a table. Says so if the path is not a store
// either.
Status TableOperands::refuse_missing_table(Session& session) const {
  if (is_store(path_)) return usage(session, "TABLE is missing");
  const Status none = no_store_at(path_);
  return usage(session, fmt::format("TABLE is missing, and {}", none.message()),
               fmt::format("usage: cellar {} STORE TABLE{}   ({})", command_, usage_of_rest_, none.hint()));
}

Status TableOperands::take_rest(Session& session, size_t from, const std::vector<std::string>& names,
                                bool at_most_names) {
  rest_.assign(words_.begin() + static_cast<std::ptrdiff_t>(std::min(from, words_.size())), words_.end());
  if (rest_.size() < names.size()) return usage(session, names[rest_.size()] + " is missing");
  if (at_most_names && rest_.size() > names.size()) {
    const std::string text = "unexpected argument: " + escaped(rest_[names.size()]);
    return usage(session, text,
                 of_hbase_ ? fmt::format("{} is itself a table: cellar {} HBASE-DIR{}   (cellar {} --help)",
                                         path_, command_, usage_of_rest_, command_)
                           : fmt::format("usage: cellar {} STORE TABLE{}   (cellar {} --help)", command_,
                                         usage_of_rest_, command_));
  }
  return {};
}

Result<OpenedTable> TableOperands::open(Session& session, const std::vector<std::string>& names,
                                        bool at_most_names) {
  const HBaseKind kind = hbase_kind(path_);
  if (is_one_table(kind)) {
    of_hbase_ = true;
    from_files_ = true;
    CELLAR_TRY(take_rest(session, 0, names, at_most_names));
    OpenedTable opened;
    CELLAR_TRY_ASSIGN(opened.table, open_hbase_table(session, path_, kind, assumed_));
    return opened;
  }
  if (kind == HBaseKind::kNamespace || kind == HBaseKind::kSnapshots ||
      (kind == HBaseKind::kRoot && words_.empty()))
    return refuse_many_tables(session);
  CELLAR_TRY(refuse_file(session));
  if (words_.empty()) return refuse_missing_table(session);
  CELLAR_TRY(take_rest(session, 1, names, at_most_names));
  return kind == HBaseKind::kRoot ? open_root_form(session) : open_store_form(session);
}

Result<OpenedTable> TableOperands::open_store_form(Session& session) {
  if (!assumed_.empty())
    return usage(session, "--assume applies only to directories of HBase",
                 "cellar alter changes the options of a store's family");
  return open_store_table(session, path_, words_.front(), OpenFor::kLooking);
}

Result<OpenedTable> TableOperands::open_root_form(Session& session) {
  from_files_ = true;
  if (is_legacy_root(path_)) return refuse_legacy_root(session);
  const std::vector<std::string> tables = hbase_tables(path_, HBaseKind::kRoot);
  const std::string& name = words_.front();
  const std::string plain = name.starts_with("default:") ? name.substr(8) : name;
  if (std::ranges::find(tables, plain) == tables.end()) return no_such_table(session, path_, name, tables);
  OpenedTable opened;
  CELLAR_TRY_ASSIGN(opened.table,
                    open_hbase_table(session, below(path_, place_of(plain)), HBaseKind::kTable, assumed_));
  return opened;
}

Status TableOperands::refuse_legacy_root(Session& session) const {
  const std::vector<std::string> tables = legacy_tables(path_);
  const std::string more = tables.empty() ? "" : fmt::format("   (its tables: {})", some_of(tables));
  return session.name_failure("CEL-NOT-SUPPORTED", Exit::kNotSupported, legacy_refusal(path_, more));
}

Status TableOperands::refuse_many_tables(Session& session) const {
  const HBaseKind kind = hbase_kind(path_);
  if (kind == HBaseKind::kRoot && is_legacy_root(path_)) return refuse_legacy_root(session);
  std::string hint;
  if (kind == HBaseKind::kNamespace) {
    const std::vector<std::string> tables = hbase_tables(path_, kind);
    hint = fmt::format("name a table's directory: {}   (tables: {})",
                       below(path_, tables.empty() ? "TABLE" : tables[0]), some_of(tables));
  } else if (kind == HBaseKind::kSnapshots) {
    const std::vector<std::string> snapshots = hbase_snapshots(below(path_, ".."));
    hint = fmt::format("name a snapshot: {}", below(path_, snapshots.empty() ? "NAME" : snapshots[0]));
  } else {
    const std::vector<std::string> tables = hbase_tables(path_, kind);
    const std::vector<std::string> snapshots = hbase_snapshots(path_);
    if (!tables.empty())
      hint = fmt::format("name a table after it: cellar {} {} {}{}   (tables: {})", command_, path_,
                         tables[0], usage_of_rest_, some_of(tables));
    if (!snapshots.empty())
      hint += fmt::format("{}name a snapshot: {}", hint.empty() ? "" : "; or ",
                          below(path_, ".hbase-snapshot/" + snapshots[0]));
    if (hint.empty()) hint = "it has no tables";
  }
  return usage(session, fmt::format("{} is {}, not a table", path_, hbase_kind_name(kind)), hint);
}

Status TableOperands::name_failure(Session& session, const Status& status) const {
  const Status named = status.ok() ? status : with_option_names(status, command_);
  return from_files_ ? name_hbase_failure(session, named) : named;
}

Status TableOperands::check_columns(Session& session, const Table& table,
                                    const std::vector<std::string>& columns) const {
  const Status checked = cellar::check_columns(session, table, columns);
  if (checked.ok() || !of_hbase_ || rest_.empty()) return checked;
  return Status::with_code(checked.code(), std::string(checked.message()))
      .hinting(fmt::format("{}; {} is itself a table: cellar {} HBASE-DIR{}", checked.hint(), path_, command_,
                           usage_of_rest_));
}

}  // namespace cellar
