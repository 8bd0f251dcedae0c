// process_generation(): tells a process from a forked child, which inherits objects whose files, locks
// and threads stay the parent's.
#pragma once

#include <cstdint>

namespace cellar {

// Returns a number that differs between a process and the children that it forks (by fork(), not by a
// bare clone system call). An object notes the number when it is created; if the number differs later,
// the object was inherited. Costs one load. Any thread.
uint64_t process_generation();

}  // namespace cellar
