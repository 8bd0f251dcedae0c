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

// Returns the arguments of `create`: "'orders', {TABLE_ATTRIBUTES => {READONLY => 'true'}},\n{NAME => 'd',
// VERSIONS => '3', …}". They hold all HBase attributes of the families that a store acts on, and the other
// options that differ from the defaults. HBase accepts them, too, and warns of those that only Cellar has.
std::string create_arguments(const std::string& name, const TableOptions& table);

// The family of that name; null: none.
const FamilyOptions* find_family(const TableOptions& table, const std::string& name);

// Returns the change that makes the options of a table those of `after`, sets all families that it names, and
// removes `removed`.
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

// Returns all failures in a single status with the code of the first one, or ok.
Status all_faults(const std::vector<Status>& statuses);

}  // namespace cellar
