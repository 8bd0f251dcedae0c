// What a read cost, for --explain: lines for people, a member of a JSON document.
#pragma once

#include <string>

#include "cellar/read_stats.h"
#include "tools/session.h"

namespace cellar {

// "\"stats\":{…}".
std::string json_member(const ReadStats& stats, int64_t micros);
// To standard error.
void explain(const Session& session, const ReadStats& stats, int64_t micros);

}  // namespace cellar
