// Stores and tables, opened.
#include "tools/store/store.h"

#include <fmt/format.h>

#include <filesystem>
#include <utility>

#include "base/bytes.h"
#include "cellar/plugin.h"
#include "tools/frame/help.h"
#include "tools/frame/operands.h"
#include "tools/store/engine_settings.h"

namespace cellar {

namespace {

namespace fs = std::filesystem;

std::string listed(const std::vector<std::string>& names) {
  std::string all;
  for (const std::string& name : names) all += (all.empty() ? "" : ", ") + escaped(name);
  return all;
}

// Returns "did you mean orders?", or the names that exist. `kinds` is e.g. "tables".
std::string hint_among(const std::string& name, const std::vector<std::string>& names,
                       std::string_view kinds) {
  const std::string nearest = nearest_name(name, names);
  if (!nearest.empty()) return fmt::format("did you mean {}?", escaped(nearest));
  return names.empty() ? fmt::format("it has no {} yet", kinds) : fmt::format("{}: {}", kinds, listed(names));
}

bool holds_store(const fs::path& directory) {
  std::error_code error;
  return fs::is_regular_file(directory / "CURRENT", error);
}

// Returns the path of a store above or directly below a directory; empty if there is no such store.
std::string store_near(const std::string& path) {
  std::error_code error;
  fs::path above = fs::path(path).lexically_normal();
  if (!above.has_filename()) above = above.parent_path();
  for (int levels = 0; levels < 4 && above.has_parent_path() && above != above.root_path(); ++levels) {
    above = above.parent_path();
    if (holds_store(above)) return above.string();
  }
  constexpr int kMost = 1000;
  int seen = 0;
  for (fs::directory_iterator each(path, error); !error && each != fs::directory_iterator();
       each.increment(error)) {
    if (holds_store(each->path())) return each->path().string();
    if (++seen == kMost) break;
  }
  return {};
}

}  // namespace

Status no_store_at(const std::string& path) {
  if (path.empty()) return Status::not_found("the path of the store is empty");
  std::error_code error;
  const fs::file_status facts = fs::status(path, error);
  if (!fs::exists(facts))
    return Status::not_found(fmt::format("the store {} does not exist", path))
        .hinting(fmt::format("cellar create {} TABLE FAMILY makes it, with its first table", path));
  if (!fs::is_directory(facts))
    return Status::not_found(fmt::format("{} is a file, not a store", path))
        .hinting(fmt::format("a store is a directory; cellar inspect {} shows what an HFile holds", path));
  const Status none = Status::not_found(fmt::format("{} is a directory, but not a store", path));
  if (const std::string near = store_near(path); !near.empty())
    return none.hinting(fmt::format("did you mean {}?", near));
  return none.hinting(
      "a store has a file CURRENT; commands for HFiles (inspect, verify, dump, stats) take a directory of "
      "them");
}

// Takes the place of the library's hint: that does not know this program.
Status with_hint_at_repair(const std::string& path, const Status& status) {
  if (!status.is(Code::kCorruption)) return status;
  fs::path store = fs::path(path).lexically_normal();
  if (!store.has_filename()) store = store.parent_path();
  const Status damaged = Status::corruption(std::string(status.message())).at(status.place());
  // A snapshot is not repaired: it is made again.
  if (store.parent_path().filename() == "snapshots")
    return damaged.hinting("drop the snapshot and make it again: cellar snapshot drop STORE NAME");
  return damaged.hinting(fmt::format(
      "cellar repair {} --dry-run tells what is damaged and what can be rebuilt", shell_word(path)));
}

namespace {

// Returns why no store can be made at a path.
Status cannot_make_store(const std::string& path, const Status& status) {
  std::error_code error;
  fs::path parent = fs::path(path).lexically_normal();
  if (!parent.has_filename()) parent = parent.parent_path();
  parent = parent.parent_path();
  const Status failed = status.with_context("cannot make the store " + path);
  if (!parent.empty() && !fs::exists(parent, error))
    return Status::not_found(fmt::format("cannot make the store {}: the directory {} does not exist", path,
                                         parent.string()))
        .hinting("first make the directory: mkdir -p " + parent.string());
  if (fs::exists(path, error) && !fs::is_directory(path, error))
    return Status::not_found(fmt::format("cannot make the store {}: it is a file", path))
        .hinting("name a directory that does not exist yet, or an empty one");
  if (status.is(Code::kInvalidArgument))
    return failed.hinting("name a directory that does not exist yet, or an empty one");
  return failed;
}

struct NextTrace {
  std::string path;
  std::string options;
};

// The program runs one command, on one thread.
NextTrace& next_trace() {
  static NextTrace trace;
  return trace;
}

}  // namespace

void trace_next_store(std::string path, std::string options) {
  next_trace() = {std::move(path), std::move(options)};
}

Result<std::unique_ptr<Engine>> open_store(Session& session, const std::string& path, OpenFor what,
                                           EventListener* events) {
  if (is_cluster(path)) return cluster_refusal(path);
  EngineOptions options;
  options.read_only = what == OpenFor::kLooking;  // some settings are for reading only
  CELLAR_TRY(apply_engine_settings(session, options));
  options.environment.events = events;
  options.read_only = what == OpenFor::kLooking;
  options.create_if_missing = what == OpenFor::kCreating;
  if (options.read_only) options.metrics_file = {};  // the file is that of the program that writes
  Result<std::unique_ptr<Engine>> engine = Engine::open(path, options);
  if (engine.ok() && !next_trace().path.empty()) {
    const NextTrace trace = std::exchange(next_trace(), {});
    if (Status status = (*engine)->start_trace(trace.path, trace.options); !status.ok()) return status;
  }
  if (engine.ok()) return engine;
  std::error_code error;
  const bool file = fs::exists(path, error) && !fs::is_directory(path, error);
  if (file || engine.status().is(Code::kNotFound) || engine.status().is(Code::kInvalidArgument)) {
    const bool making = what == OpenFor::kCreating;
    const Status failed = making              ? cannot_make_store(path, engine.status())
                          : holds_store(path) ? engine.status().with_context("store " + path)
                                              : no_store_at(path);
    if (making && !file && failed.is(Code::kNotFound)) return failed;
    return session.name_failure("CEL-NOT-STORE", Exit::kCannot, failed);
  }
  const Status status = engine.status().with_context("store " + path);
  if (status.is(Code::kReadOnly))
    return Status::read_only(std::string(status.message()))
        .hinting(
            "commands that read accept it, and so does cellar shell --read-only; cellar snapshot clone and "
            "export make a copy for writing");
  if (status.is(Code::kLocked))
    return status.hinting("close the program that has it open, then try again (cellar help CEL-LOCKED)");
  return with_hint_at_repair(path, status);
}

Result<std::unique_ptr<Engine>> open_engine(Session& session, const std::string& path, OpenFor what,
                                            EventListener* events) {
  if (!is_cluster(path)) return open_store(session, path, what, events);
  if (!next_trace().path.empty())
    return Status::not_supported("operations on a cluster are not recorded")
        .hinting("record them on a store, or see the servers' logs of slow operations");
  return Engine::open(path);  // it has no settings of its own
}

Result<std::shared_ptr<Table>> open_table(Session& session, Engine& engine, const std::string& path,
                                          const std::string& name) {
  Result<std::shared_ptr<Table>> table = engine.open_table(name);
  if (table.ok() || !table.status().is(Code::kNotFound)) return table;
  return no_such_table(session, path, name, engine.list_tables());
}

Status no_such_table(Session& session, const std::string& path, const std::string& name,
                     const std::vector<std::string>& names) {
  const std::string hint = hint_among(name, names, "tables");
  return session.name_failure(
      "CEL-TABLE", Exit::kCannot,
      Status::not_found(fmt::format("{} {} has no table \"{}\"", is_cluster(path) ? "cluster" : "store", path,
                                    escaped(name)))
          .hinting(fmt::format("{}   (cellar list {})", hint, path)));
}

Status check_family(Session& session, const Table& table, const std::string& family) {
  std::vector<std::string> names;
  for (const FamilyInfo& each : table.info().families) {
    if (each.options.name == family) return {};
    names.push_back(each.options.name);
  }
  return no_such_family(session, table.name(), family, names);
}

Status no_such_family(Session& session, const std::string& table, const std::string& family,
                      const std::vector<std::string>& families) {
  return session.name_failure(
      "CEL-FAMILY", Exit::kCannot,
      Status::not_found(fmt::format("table {} has no family \"{}\"", table, escaped(family)))
          .hinting(hint_among(family, families, "families")));
}

Result<OpenedTable> open_store_table(Session& session, const std::string& path, const std::string& name,
                                     OpenFor what) {
  OpenedTable opened;
  CELLAR_TRY_ASSIGN(opened.engine, open_engine(session, path, what));
  CELLAR_TRY_ASSIGN(opened.table, open_table(session, *opened.engine, path, name));
  return opened;
}

Status check_columns(Session& session, const Table& table, const std::vector<std::string>& columns) {
  for (const std::string& text : columns) {
    CELLAR_TRY_ASSIGN(const ColumnOperand column, for_argument("COLUMN", parse_column(text)));
    CELLAR_TRY(check_family(session, table, column.family));
  }
  return {};
}

Status erase_from_store(Session& session, const std::string& path, const std::string& table,
                        const std::vector<std::string>& columns, const Delete& erase,
                        const WriteOptions& options) {
  CELLAR_TRY_ASSIGN(const OpenedTable opened, open_store_table(session, path, table, OpenFor::kWriting));
  CELLAR_TRY(check_columns(session, *opened.table, columns));
  CELLAR_TRY(opened.table->erase(erase, options));
  return opened.engine->close();
}

}  // namespace cellar
