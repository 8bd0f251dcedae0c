// Aborts the process after a failed CELLAR_ASSERT.
#include "base/assert.h"

#include <cstdio>
#include <cstdlib>

namespace cellar::internal {

void assertion_failed(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "cellar: broken promise: %s (%s:%d)\n", condition, file, line);
  std::fflush(stderr);
  std::abort();
}

}  // namespace cellar::internal
