// ServerOptions: where a server listens, and its limits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "cellar/environment.h"
#include "hbase/net/tls.h"
#include "hbase/serve/region_service.h"

namespace cellar::hbase::serve {

struct ServerOptions {
  std::string bind = "127.0.0.1";  // an address; 0.0.0.0 and :: are all of the machine
  std::string host =
      {};  // under which clients reach it; empty: localhost, the address, or the machine's name
  uint16_t port = 16000;                  // 0: any that is free
  std::optional<TlsFiles> tls = {};       // plain text is refused then, see Tls::of_server()
  Logger* log = nullptr;                  // null: no log; it must outlive the server
  size_t connections = 256;               // more are closed at once
  uint32_t frame_bytes = 64u << 20;       // a larger request ends its connection
  uint64_t connection_bytes = 64u << 20;  // requests and answers under way, from which on no more is read
  uint64_t server_bytes = 1u << 30;       // likewise of all connections
  size_t connection_calls = 100;          // calls under way, likewise
  int workers = 16;                       // threads for reads and writes; 4 more are for statements
  int64_t handshake_ms = 20000;           // from a connection's beginning to its first request
  int64_t stall_ms = 60000;               // without a byte in the middle of a request or an answer
  int64_t frame_ms = 600000;              // from the beginning of a request to its end
  int64_t idle_ms = 600000;               // without any call
  ServiceLimits service = {};
};

}  // namespace cellar::hbase::serve
