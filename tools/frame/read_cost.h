// The cost of a read, for --explain: lines for people, and a member of a JSON document.
#pragma once

#include <string>

#include "cellar/explanation.h"
#include "cellar/read_stats.h"
#include "tools/frame/session.h"

namespace cellar {

struct ReadCost {
  ReadStats stats;
  ReadExplanation explanation;
  int64_t micros = 0;
};

// "\"stats\":{…},\"sources\":[…],\"passed_over\":{…}".
std::string json_members(const ReadCost& cost);
// To standard error.
void explain(const Session& session, const ReadCost& cost);

}  // namespace cellar
