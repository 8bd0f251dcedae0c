// Options of the engine from the environment.
#include "tools/store/engine_settings.h"

#include <cstdlib>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/plugins.h"
#include "engine/schema/option_fields.h"
#include "tools/frame/operands.h"

namespace cellar {
namespace {

Status apply(std::string_view settings, EngineOptions& options) {
  for (const std::string& setting : words_outside_parentheses(settings)) {
    const size_t equals = setting.find('=');
    if (equals == setting.npos) {
      return Status::invalid_argument("\"" + escaped(setting) + "\" has no value")
          .hinting("write name=value,name=value with names of docs/options.md");
    }
    CELLAR_TRY(set_option(options, std::string_view(setting).substr(0, equals),
                          std::string_view(setting).substr(equals + 1)));
  }
  register_memtable_plugins();
  register_cache_plugins();
  return {};
}

}  // namespace

Status read_engine_settings(Session& session, EngineOptions& options) {
  const char* const settings = std::getenv("CELLAR_ENGINE");
  if (settings == nullptr) return {};
  const Status applied = apply(settings, options);
  if (applied.ok()) return {};
  return session.name_failure("CEL-USAGE", Exit::kUsage, applied.with_context("CELLAR_ENGINE"));
}

Status apply_engine_settings(Session& session, EngineOptions& options) {
  CELLAR_TRY(read_engine_settings(session, options));
  const Status valid = std::getenv("CELLAR_ENGINE") == nullptr ? Status() : validate(options);
  if (valid.ok()) return {};
  return session.name_failure("CEL-USAGE", Exit::kUsage, valid.with_context("CELLAR_ENGINE"));
}

}  // namespace cellar
