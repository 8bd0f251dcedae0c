// Reports of commands and the shell on an open store: its tables, their families and files, its state.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cellar/engine.h"
#include "tools/frame/session.h"

namespace cellar {

// A record for each table ("cellar.list/1").
Status print_table_list(Session& session, Engine& engine, const std::vector<std::string>& tables);
// "cellar.describe/1", over lines or, in JSON Lines, on one.
// `regions` are those of each table of a cluster. Empty: the tables are those of a store.
std::string description_json(const std::vector<TableInfo>& tables, Format format,
                             const std::vector<uint64_t>& regions = {});
// `regions`: 0 in a store.
std::string description_text(const TableInfo& table, bool with_files, uint64_t regions = 0);
// "cellar.status/1", or text; a store that refuses writes is a negative answer.
void print_status(Session& session, Engine& engine);

}  // namespace cellar
