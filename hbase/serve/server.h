// Server: a store that answers HBase's RPC on one port, as master, registry and region server.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "cellar/engine.h"
#include "hbase/serve/server_options.h"

namespace cellar::hbase::serve {

// One thread calls start() and run(). The other functions may be called from any thread after start().
class Server {
 public:
  // Listens. `engine` must outlive the server. Errors: kInvalidArgument for an invalid address;
  // kIoError if the port is taken; for TLS those of Tls::of_server().
  static Result<std::unique_ptr<Server>> start(Engine& engine, const ServerOptions& options);
  virtual ~Server() = default;

  virtual const std::string& host() const = 0;
  virtual uint16_t port() const = 0;
  // Returns how many connections are open, as of the last second.
  virtual size_t connections() const = 0;

  // Serves until stop() returns true, which is asked ten times a second. Then it finishes the calls under
  // way, closes all connections and scanners, and returns. Call it once.
  virtual Status run(const std::function<bool()>& stop) = 0;
};

}  // namespace cellar::hbase::serve
