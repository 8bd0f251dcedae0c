// RpcClient: calls of servers by HBase's RPC, over one connection for each server and service.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "cellar/environment.h"
#include "cellar/status.h"
#include "hbase/client/call_outcome.h"
#include "hbase/net/tls.h"

namespace google::protobuf {
class MessageLite;
}

namespace cellar::hbase {

// The longest frame that is sent, and that is accepted.
constexpr uint32_t kFrameBytesMax = 256u << 20;

struct RpcOptions {
  std::string user;  // the name that a server takes the client for
  int64_t connect_timeout_us = 10'000'000;
  Clock* clock = nullptr;         // must outlive the client
  std::shared_ptr<Tls> tls = {};  // null: plain text
};

// RpcCall: one call.
struct RpcCall {
  ServerAddress server;
  std::string_view service;                                // kClientService, …
  std::string_view method;                                 // "Get"
  const google::protobuf::MessageLite* request = nullptr;  // not null
  std::string_view cell_block = {};
  google::protobuf::MessageLite* response = nullptr;  // not null
  uint32_t server_timeout_ms = 0;  // the server gives up after that time; 0: at the deadline
};

// PendingCall: a call that was sent. wait() once, from any thread.
class PendingCall;

// Any thread may call. A connection is made by the first call that needs it, and made anew after it broke.
// All connections are served by one thread, which the client owns.
class RpcClient {
 public:
  // kIoError if the system gives no sockets.
  static Result<std::unique_ptr<RpcClient>> create(const RpcOptions& options);
  virtual ~RpcClient() = default;

  // Sends a call, and returns before it is answered.
  virtual std::shared_ptr<PendingCall> start(const RpcCall& call, int64_t deadline_us) = 0;
  // Waits for the answer until the deadline, a time of Clock::steady_us.
  virtual CallOutcome wait(PendingCall& pending, google::protobuf::MessageLite& response,
                           int64_t deadline_us) = 0;
  CallOutcome call(const RpcCall& call, int64_t deadline_us) {
    const std::shared_ptr<PendingCall> pending = start(call, deadline_us);
    return wait(*pending, *call.response, deadline_us);
  }
  // Waits for so long, or until stop().
  virtual void pause(int64_t us) = 0;
  // Ends all calls, and those that are made later, with kAborted. Any thread.
  virtual void stop() = 0;
};

}  // namespace cellar::hbase
