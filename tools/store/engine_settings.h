// Options of the engine for a command: CELLAR_ENGINE in the environment.
#pragma once

#include "cellar/options.h"
#include "tools/frame/session.h"

namespace cellar {

// Sets the options that CELLAR_ENGINE names: "cache_policy=slru(single=10%,multi=65%),block_trace=/tmp/t". A
// command sets afterwards what it needs itself, such as read_only. CEL-USAGE names the setting that is wrong.
Status apply_engine_settings(Session& session, EngineOptions& options);
// Does the same, but options may be invalid together.
Status read_engine_settings(Session& session, EngineOptions& options);

}  // namespace cellar
