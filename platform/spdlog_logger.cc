// The Logger that writes to standard error through spdlog.
#include <spdlog/logger.h>
#include <spdlog/sinks/stdout_color_sinks.h>

#include <memory>
#include <string>

#include "cellar/environment.h"

namespace cellar {

namespace {

spdlog::level::level_enum spdlog_level(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return spdlog::level::debug;
    case LogLevel::kInfo:
      return spdlog::level::info;
    case LogLevel::kWarning:
      return spdlog::level::warn;
    case LogLevel::kError:
      return spdlog::level::err;
  }
  return spdlog::level::err;
}

class SpdlogLogger final : public Logger {
 public:
  explicit SpdlogLogger(LogLevel level)
      : logger_("cellar", std::make_shared<spdlog::sinks::stderr_color_sink_mt>()) {
    logger_.set_level(spdlog_level(level));
    logger_.set_pattern("%Y-%m-%d %H:%M:%S.%e %^%l%$ %v");
    logger_.flush_on(spdlog::level::warn);
    logger_.set_error_handler(
        [](const std::string&) {});  // a log that cannot be written must not stop the engine
  }

  void log(LogLevel level, std::string_view component, std::string_view text) override {
    logger_.log(spdlog_level(level), "{}: {}", component, text);
  }

 private:
  spdlog::logger logger_;
};

}  // namespace

std::unique_ptr<Logger> make_stderr_logger(LogLevel level) { return std::make_unique<SpdlogLogger>(level); }

}  // namespace cellar
