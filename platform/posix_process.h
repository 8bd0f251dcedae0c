// Which process this is: a forked child inherits objects whose files, locks and threads stay its parent's.
#pragma once

#include <cstdint>

namespace cellar {

// A number that differs between a process and the children it forks (by fork(), not by a bare clone system
// call). An object notes it when it is made; if the number is another one later, the object was inherited.
// Costs one load. Any thread.
uint64_t process_generation();

}  // namespace cellar
