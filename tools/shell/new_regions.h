// NewRegions: what a create statement says about the regions of a cluster's new table.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tools/shell/shell_call.h"

namespace cellar {

// SPLITS, SPLITS_FILE, and NUMREGIONS with SPLITALGO, as HBase's shell has them.
class NewRegions {
 public:
  // Takes the attribute if it is one of these, given in capitals. Returns false for other attributes.
  bool take(std::string_view name, const ShellValue& value);
  // Returns the rows at which the regions begin. Returns no rows if no attribute was taken. Faults point at
  // the attribute's value.
  Result<std::vector<std::string>> rows(ShellCall& call) const;

 private:
  const ShellValue* find(std::string_view name) const;
  Status check_together(ShellCall& call) const;
  Result<std::vector<std::string>> listed(ShellCall& call, const ShellValue& list) const;
  Result<std::vector<std::string>> of_equal_ranges(ShellCall& call) const;

  std::vector<std::pair<std::string_view, const ShellValue*>> given_;
};

}  // namespace cellar
