// The names of the levels of verification.
#include "hfile/check/verify_report.h"

#include <iterator>

namespace cellar {

namespace {

constexpr std::string_view kLevelNames[] = {"quick", "blocks", "cells", "deep"};

}  // namespace

std::string_view verify_level_name(VerifyLevel level) { return kLevelNames[static_cast<size_t>(level)]; }

bool parse_verify_level(std::string_view name, VerifyLevel& level) {
  for (size_t i = 0; i < std::size(kLevelNames); ++i) {
    if (name != kLevelNames[i]) continue;
    level = static_cast<VerifyLevel>(i);
    return true;
  }
  return false;
}

}  // namespace cellar
