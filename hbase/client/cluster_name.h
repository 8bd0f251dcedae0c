// ClusterName: the parts of "hbase://master1:16000,master2:16000?timeout_ms=60000&user=ada".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cellar/status.h"
#include "hbase/client/server_address.h"

namespace cellar::hbase {

constexpr std::string_view kScheme = "hbase://";

struct ClusterName {
  std::vector<ServerAddress> masters;
  int64_t timeout_ms = 120'000;  // of an operation, with all its attempts
  // The longest time until a master answers for the first time. It is timeout_ms if the text gives one, for a
  // cluster that starts.
  int64_t first_answer_ms = 15'000;
  std::string user = "cellar";
};

// kInvalidArgument with the part that is wrong. A master without a port has HBase's, 16000.
Result<ClusterName> parse_cluster_name(std::string_view text);

}  // namespace cellar::hbase
