// RunningServer: a server of an engine, on a thread of its own.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <utility>

#include "cellar/engine.h"
#include "hbase/serve/server.h"

namespace cellar::testing {

// Its destructor ends the server, and complains if the server failed. The engine outlives it.
class RunningServer {
 public:
  // Returns null, and complains, if the server does not start.
  static std::unique_ptr<RunningServer> start(Engine& engine, hbase::serve::ServerOptions options) {
    auto server = hbase::serve::Server::start(engine, std::move(options));
    EXPECT_TRUE(server.ok()) << server.status();
    return server.ok() ? std::unique_ptr<RunningServer>(new RunningServer(*std::move(server))) : nullptr;
  }
  RunningServer(const RunningServer&) = delete;
  RunningServer& operator=(const RunningServer&) = delete;
  ~RunningServer() {
    stop_ = true;
    thread_.join();
    EXPECT_TRUE(ended_.ok()) << ended_;
  }

  auto port() const { return server_->port(); }

 private:
  explicit RunningServer(std::unique_ptr<hbase::serve::Server> server)
      : server_(std::move(server)),
        thread_([this] { ended_ = server_->run([this] { return stop_.load(); }); }) {}

  const std::unique_ptr<hbase::serve::Server> server_;
  std::atomic<bool> stop_ = false;
  Status ended_;
  std::thread thread_;  // begins last
};

}  // namespace cellar::testing
