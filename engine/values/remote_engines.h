// Remote engines: what Engine::open() opens that is no directory, by the beginning of its name. A library
// that is linked in addition to the engine registers itself here.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "cellar/engine.h"

namespace cellar {

using RemoteOpener = Result<std::unique_ptr<Engine>> (*)(const std::string& name,
                                                         const EngineOptions& options);

// Registers an opener for names that begin with `scheme`, such as "hbase://". Call it before main(), or
// before other threads open engines.
void set_remote_opener(const std::string& scheme, RemoteOpener opener);

// Opens the engine of such a name. Nothing for a name of a directory. kNotSupported for "hbase://" if the
// library is not linked.
std::optional<Result<std::unique_ptr<Engine>>> open_remote(const std::string& name,
                                                           const EngineOptions& options);

}  // namespace cellar
