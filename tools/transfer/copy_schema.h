// The table at the end of a copy: made with the whole schema of the one that is copied, or compared with it.
#pragma once

#include <string>
#include <vector>

#include "cellar/engine.h"
#include "tools/frame/session.h"

namespace cellar {

// Returns the options with which a copy of a table is made. They leave out the notes of `cellar serve` in the
// metadata, which are about the regions of one served store.
TableOptions options_of_copy(const TableOptions& from);
// Returns each option in which two tables differ, in words: "family d: max_versions is 3 and 1". The value of
// `from` comes first.
std::vector<std::string> schema_differences(const TableOptions& from, const TableOptions& to);

// Creates the table `name` of `to` with the options of `from`. A table that takes no writes gets this option
// at the end: see seal_copy(). `splits` and the errors are those of Engine::create_table.
Result<std::shared_ptr<Table>> make_copy(const TableOptions& from, Engine& to, const std::string& name,
                                         const std::vector<std::string>& splits);
// Opens the table `name` of `to` for a copy of `from`. It must have all families: see check_families(). A
// note tells other differences of the options. If the copy has `made` the table, the note leaves out
// read_only, which seal_copy() sets later.
Result<std::shared_ptr<Table>> open_copy(Session& session, const TableOptions& from, Engine& to,
                                         const std::string& name, bool made);
// Returns kNotFound if `table` of `to` lacks a family of `from`, with the command that adds it. `columns`
// are those that are read, as they were typed; none: all.
Status check_families(Session& session, const TableOptions& from, Engine& to, const Table& table,
                      const std::vector<std::string>& columns);
// Returns whether the engine has the table. Errors of the engine, such as an unreachable cluster.
Result<bool> has_table(Engine& engine, const std::string& name);
// Returns whether the table is as a copy of `from` creates it, without a stored cell. Errors of the engine.
Result<bool> is_untouched(const TableOptions& from, Table& table);
// Returns whether the table stores a cell of the row, visible or not. Errors of the engine.
Result<bool> has_row(Table& table, const std::string& row);
// Returns the refusal of a copy into a table that exists, with the differences in options.
Status refuse_existing(const TableOptions& from, const TableOptions& to, const std::string& name);
// Sets the option read_only of a table that the copy made, if `from` has it. Errors: those of
// Engine::alter_table.
Status seal_copy(const TableOptions& from, Engine& to, const std::string& name);
// Takes back what seal_copy() did, for a copy that begins again. Errors: the same.
Status unseal_copy(const TableOptions& from, Engine& to, const std::string& name);
// Returns kNotSupported if a family orders its delete markers by the time of writing. Such markers cannot be
// copied, and none can be copied into such a table.
Status check_markers_fit(const TableOptions& table);

}  // namespace cellar
