// Stores and tables, opened.
#include "tools/store/store.h"

#include <fmt/format.h>

#include "base/bytes.h"
#include "cellar/plugin.h"
#include "tools/frame/operands.h"

namespace cellar {

namespace {

std::string listed(const std::vector<std::string>& names) {
  std::string all;
  for (const std::string& name : names) all += (all.empty() ? "" : ", ") + escaped(name);
  return all;
}

// "did you mean orders ?", or what there is.
std::string hint_among(const std::string& name, const std::vector<std::string>& names,
                       std::string_view kind) {
  const std::string nearest = nearest_name(name, names);
  if (!nearest.empty()) return fmt::format("did you mean {} ?", escaped(nearest));
  return names.empty() ? fmt::format("there is no {}", kind) : fmt::format("there is {}", listed(names));
}

}  // namespace

Result<std::unique_ptr<Engine>> open_store(Session& session, const std::string& path, OpenFor what,
                                           EventListener* events) {
  EngineOptions options;
  options.environment.events = events;
  options.read_only = what == OpenFor::kLooking;
  options.create_if_missing = what == OpenFor::kCreating;
  Result<std::unique_ptr<Engine>> engine = Engine::open(path, options);
  if (engine.ok()) return engine;
  if (engine.status().is(Code::kNotFound) && what != OpenFor::kCreating) {
    return session.name_failure("CEL-NOT-STORE", Exit::kCannot,
                                Status::not_found(fmt::format("there is no store at {}", path))
                                    .hinting("cellar create makes one with its first table"));
  }
  const Status status = engine.status().with_context("store " + path);
  if (status.is(Code::kInvalidArgument)) return session.name_failure("CEL-NOT-STORE", Exit::kCannot, status);
  if (status.is(Code::kReadOnly))
    return Status::read_only(std::string(status.message()))
        .hinting(
            "commands that read take it, and cellar shell --read-only; cellar snapshot clone and export "
            "make what can be written to");
  if (status.is(Code::kLocked)) return status.hinting("close the program that has it open, then try again");
  return status;
}

Result<std::shared_ptr<Table>> open_table(Session& session, Engine& engine, const std::string& path,
                                          const std::string& name) {
  Result<std::shared_ptr<Table>> table = engine.open_table(name);
  if (table.ok() || !table.status().is(Code::kNotFound)) return table;
  return no_such_table(session, path, name, engine.list_tables());
}

Status no_such_table(Session& session, const std::string& path, const std::string& name,
                     const std::vector<std::string>& names) {
  const std::string hint = hint_among(name, names, "table yet");
  return session.name_failure(
      "CEL-TABLE", Exit::kCannot,
      Status::not_found(fmt::format("store {} has no table \"{}\"", path, escaped(name)))
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
          .hinting(hint_among(family, families, "family")));
}

Result<OpenedTable> open_store_table(Session& session, const std::string& path, const std::string& name,
                                     OpenFor what) {
  OpenedTable opened;
  CELLAR_TRY_ASSIGN(opened.engine, open_store(session, path, what));
  CELLAR_TRY_ASSIGN(opened.table, open_table(session, *opened.engine, path, name));
  return opened;
}

Status check_columns(Session& session, const Table& table, const std::vector<std::string>& columns) {
  for (const std::string& text : columns) {
    CELLAR_TRY_ASSIGN(const ColumnOperand column, parse_column(text));
    CELLAR_TRY(check_family(session, table, column.family));
  }
  return {};
}

Status erase_from_store(Session& session, const std::string& path, const std::string& table,
                        const std::vector<std::string>& columns, const Delete& erase) {
  CELLAR_TRY_ASSIGN(const OpenedTable opened, open_store_table(session, path, table, OpenFor::kWriting));
  CELLAR_TRY(check_columns(session, *opened.table, columns));
  CELLAR_TRY(opened.table->erase(erase));
  return opened.engine->close();
}

}  // namespace cellar
