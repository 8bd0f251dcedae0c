// Schemas as text: what makes a table again in the shell, and what a change of options comes to.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cellar/options.h"

namespace cellar {

// HBase's name of a family's option; of one that is no attribute there, ours in capitals.
std::string family_attribute(std::string_view option);

// "'orders', {TABLE_ATTRIBUTES => {READONLY => 'true'}},\n{NAME => 'd', VERSIONS => '3', …}": what `create`
// takes behind its name, with all options of the families and those of the table that differ from the
// defaults.
std::string create_arguments(const std::string& name, const TableOptions& table);

// Options, in HBase's spelling, that differ and that a store file has from when it was written.
std::vector<std::string> options_of_files(const FamilyOptions& before, const FamilyOptions& after);
// A note about these, or empty where there are none.
std::string note_of_files(const std::string& family, const std::vector<std::string>& options);

// Sets "read_only=true" and the like, each in `texts`; all faults in one status.
Status set_table_options(TableOptions& table, const std::vector<std::string>& texts);

// All of these that failed as one status of the first one's code, or ok.
Status all_faults(const std::vector<Status>& statuses);

}  // namespace cellar
