// Goal: lines of at least the level reach standard error, braces and all.
#include <gtest/gtest.h>

#include "cellar/environment.h"

namespace cellar::testing {

TEST(StderrLogger, WritesWhatIsImportantEnough) {
  ::testing::internal::CaptureStderr();
  {
    const auto logger = make_stderr_logger(LogLevel::kInfo);
    logger->log(LogLevel::kDebug, "flush", "quiet");
    logger->log(LogLevel::kInfo, "flush", "hello {} %s");
    logger->log(LogLevel::kError, "log", "disk full");
  }
  const std::string text = ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(text.find("quiet"), std::string::npos);
  EXPECT_NE(text.find("info flush: hello {} %s\n"), std::string::npos) << text;
  EXPECT_NE(text.find("error log: disk full\n"), std::string::npos) << text;
}

}  // namespace cellar::testing
