// Memtables by name.
#include "memtable/memtable.h"

#include "base/plugins.h"

namespace cellar {

Result<std::unique_ptr<Memtable>> make_memtable(std::string_view name) {
  register_memtable_plugins();
  return Registry<Memtable>::instance().make(name);
}

}  // namespace cellar
