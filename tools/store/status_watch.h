// StatusWatch: the state of a store again and again, as `top` shows that of a machine.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "cellar/engine.h"
#include "tools/frame/session.h"

namespace cellar {

// Reads a period as it is typed: "2", "2s" or "500ms". A plain number is seconds. kInvalidArgument if the
// period is shorter than 100 ms or longer than a day.
Result<int64_t> parse_period_ms(std::string_view text);

// Prints the state once for each period, until it is interrupted or `rounds` states were printed; 0: no
// limit. At a terminal, a state takes the place of the one before. Elsewhere it is a line, in JSON Lines an
// object ("cellar.status/1"). Each state costs what is new in it (Engine::refresh). A period lasts at least
// four times as long as that takes. Errors: as of opening the store; kAborted after an interrupt.
Status watch_store(Session& session, const std::string& store, int64_t period_ms, uint64_t rounds);

}  // namespace cellar
