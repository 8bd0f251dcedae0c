// CELLAR_ASSERT: an internal invariant, checked in every build.
// CELLAR_DCHECK: an invariant that is expensive to check, checked in debug builds only.
#pragma once

namespace cellar::internal {
[[noreturn]] void assertion_failed(const char* condition, const char* file, int line);
}  // namespace cellar::internal

#define CELLAR_ASSERT(condition)                       \
  (static_cast<bool>(condition) ? static_cast<void>(0) \
                                : ::cellar::internal::assertion_failed(#condition, __FILE__, __LINE__))

#ifdef CELLAR_DEBUG
#define CELLAR_DCHECK(condition) CELLAR_ASSERT(condition)
#else
#define CELLAR_DCHECK(condition) static_cast<void>(sizeof(static_cast<bool>(condition)))
#endif
