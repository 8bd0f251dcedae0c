// Goal: a broken promise ends the process and says where; costly promises are checked in debug builds only.
// Method: death tests. NDEBUG tells a release from a debug build, independently of what assert.h looks at.
#include "base/assert.h"

#include <gtest/gtest.h>

namespace cellar {
namespace {

TEST(Assert, ABrokenPromiseEndsTheProcessInEveryBuild) {
  EXPECT_DEATH(CELLAR_ASSERT(1 + 1 == 3), "broken promise: 1 \\+ 1 == 3 \\(.*assert_test.cc:[0-9]+\\)");
  CELLAR_ASSERT(1 + 1 == 2);
}

TEST(Assert, ACostlyPromiseIsCheckedInDebugBuildsOnly) {
  int evaluated = 0;
  CELLAR_DCHECK(++evaluated == 1);
#ifdef NDEBUG
  EXPECT_EQ(evaluated, 0);
  CELLAR_DCHECK(evaluated == 1);
#else
  EXPECT_EQ(evaluated, 1);
  EXPECT_DEATH(CELLAR_DCHECK(evaluated == 2), "broken promise: evaluated == 2");
#endif
}

}  // namespace
}  // namespace cellar
