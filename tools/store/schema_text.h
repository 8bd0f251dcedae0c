// Schemas as text: what makes a table again in the shell, and what a change of options comes to.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cellar/options.h"
#include "tools/frame/command.h"

namespace cellar {

// HBase's name of a family's option; of one that is no attribute there, ours in capitals.
std::string family_attribute(std::string_view option);
// All attributes that a family may have, HBase's that it carries among them.
std::vector<std::string> family_attributes();

// "'orders', {TABLE_ATTRIBUTES => {READONLY => 'true'}},\n{NAME => 'd', VERSIONS => '3', …}": what `create`
// takes behind its name, with all of HBase's attributes of the families that a store acts on, and what else
// differs from the defaults. HBase takes it, too, and warns of what is Cellar's alone.
std::string create_arguments(const std::string& name, const TableOptions& table);

// The family of that name; null: none.
const FamilyOptions* find_family(const TableOptions& table, const std::string& name);

// What makes the options of a table those of `after`, sets all families that it names, and removes these.
TableChange change_of(const TableOptions& before, const TableOptions& after,
                      std::vector<std::string> removed);
// Says of what `after` carries and `before` did not, as far as somebody may believe in an effect, that it has
// none. Families of `before` that `after` does not name do not count.
void tell_carried(Session& session, const TableOptions& before, const TableOptions& after);
// Says which families were added, changed and removed, and which of their options files take up later.
void tell_families(Session& session, const std::string& table, const TableOptions& before,
                   const TableChange& change);

// Sets "read_only=true" and the like, each in `texts`; all faults in one status.
Status set_table_options(TableOptions& table, const std::vector<std::string>& texts);

// All of these that failed as one status of the first one's code, or ok.
Status all_faults(const std::vector<Status>& statuses);

}  // namespace cellar
