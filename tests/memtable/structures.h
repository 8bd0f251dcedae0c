// The structures over which the tests of memtables run: all that are registered.
#pragma once

#include <string>
#include <vector>

#include "base/plugins.h"
#include "cellar/plugin.h"
#include "memtable/memtable.h"

namespace cellar::testing {

inline std::vector<std::string> memtable_names() {
  register_memtable_plugins();
  return Registry<Memtable>::instance().names();
}

}  // namespace cellar::testing
