// The findings of verification, for people, as JSON, and as JUnit XML.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "hfile/check/verify.h"
#include "tools/files/store_check.h"

namespace cellar {

struct VerifiedFile {
  std::string path;
  VerifyReport report;
  int64_t micros = 0;
};

std::string_view verdict_name(VerifyVerdict verdict);

// At most `errors_max` errors are shown, and counted beyond that.
std::string verify_text(const VerifiedFile& file, uint64_t errors_max);
nlohmann::ordered_json verify_json(const VerifiedFile& file);
std::string store_check_text(const StoreCheck& check);
nlohmann::ordered_json store_check_json(const StoreCheck& check);

// A JUnit document: a test case for each store and each file. An unsound one is a failure, one that cannot be
// read an error, one that this build does not support skipped.
std::string verify_junit(const std::vector<StoreCheck>& stores, const std::vector<VerifiedFile>& files,
                         uint64_t errors_max);

}  // namespace cellar
