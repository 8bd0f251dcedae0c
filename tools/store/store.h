// Opening stores and tables the way every command does: for looking or for writing, with errors that name the
// nearest.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cellar/engine.h"
#include "tools/frame/session.h"

namespace cellar {

enum class OpenFor { kLooking, kWriting, kCreating };

// Looking writes nothing. A directory that holds no store is CEL-NOT-STORE. The name of a cluster is refused.
Result<std::unique_ptr<Engine>> open_store(Session& session, const std::string& path, OpenFor what,
                                           EventListener* events = nullptr);
// Opens a store, or the cluster that the path names ("hbase://master:16000"), for commands that need no more
// than the tables of an engine.
Result<std::unique_ptr<Engine>> open_engine(Session& session, const std::string& path, OpenFor what,
                                            EventListener* events = nullptr);
// Lets the next store that open_store() opens record its operations into this file, with these options of
// Engine::start_trace. Empty: no store does.
void trace_next_store(std::string path, std::string options);
// Returns kNotFound: the path does not exist, or is a file or directory that holds no store. The hint names a
// store nearby, or what to do.
Status no_store_at(const std::string& path);
// Returns the error of a damaged store with a hint at the command that goes on from there. Other errors stay
// as they are.
Status with_hint_at_repair(const std::string& path, const Status& status);
// CEL-TABLE: the store at `path` has no table `name`; hints at the nearest of `names`.
Status no_such_table(Session& session, const std::string& path, const std::string& name,
                     const std::vector<std::string>& names);
// CEL-TABLE with the nearest name.
Result<std::shared_ptr<Table>> open_table(Session& session, Engine& engine, const std::string& path,
                                          const std::string& name);
// CEL-FAMILY: the table has no family of that name; hints at the nearest of `families`.
Status no_such_family(Session& session, const std::string& table, const std::string& family,
                      const std::vector<std::string>& families);
// CEL-FAMILY with the nearest name.
Status check_family(Session& session, const Table& table, const std::string& family);

// A store and one table of it; or a table that is in no store.
struct OpenedTable {
  std::unique_ptr<Engine> engine;  // null: there is no store
  std::shared_ptr<Table> table;

  Status close() const { return engine != nullptr ? engine->close() : Status(); }
};
Result<OpenedTable> open_store_table(Session& session, const std::string& path, const std::string& name,
                                     OpenFor what);

// Opens the store for writing, deletes from the table and closes it again; `columns` as they were typed.
Status erase_from_store(Session& session, const std::string& path, const std::string& table,
                        const std::vector<std::string>& columns, const Delete& erase,
                        const WriteOptions& options);

// Checks the families of columns as they were typed ("d:name", "d").
Status check_columns(Session& session, const Table& table, const std::vector<std::string>& columns);

}  // namespace cellar
