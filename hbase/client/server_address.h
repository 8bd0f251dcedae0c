// ServerAddress: where a server of a cluster listens.
#pragma once

#include <compare>
#include <cstdint>
#include <string>

namespace cellar::hbase {

struct ServerAddress {
  std::string host;
  uint16_t port = 0;

  std::string text() const { return host + ":" + std::to_string(port); }
  auto operator<=>(const ServerAddress&) const = default;
};

}  // namespace cellar::hbase
