// Connection: one client's socket. The only headers of asio that anybody includes are here.
#pragma once

#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>

#include "cellar/environment.h"
#include "hbase/net/link.h"
#include "hbase/serve/dispatcher.h"
#include "hbase/serve/server_options.h"

namespace cellar::hbase::serve {

// ServerLoad: what all connections of a server hold. The thread that runs the io_context changes it.
struct ServerLoad {
  uint64_t bytes = 0;  // of requests that are read or under way, and of answers that are not sent
  std::atomic<uint64_t> unsent = 0;  // of those answers; any thread may read it
};

// All functions are called by the thread that runs the io_context. Calls are carried out by the executor,
// and their answers come back through the io_context. A connection lives as long as an operation of its own
// is under way.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  // The references must outlive the connection, and `tls` too, which is null for plain text.
  Connection(asio::io_context& io, asio::ip::tcp::socket socket, Tls* tls, Dispatcher& dispatcher,
             Executor& executor, const ServerOptions& options, ServerLoad& server_load);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void begin();
  // Reads no more. The connection closes itself when the calls under way are answered.
  void finish();
  void close();
  bool is_closed() const { return closed_; }
  bool is_idle() const { return calls_ == 0 && unsent_.empty(); }
  // Closes the connection if it has been waiting for its client too long. Goes on with what waited for other
  // connections.
  void check(int64_t now_ms);

 private:
  enum class Reading : uint8_t { kTls, kPreamble, kHeaderLength, kHeader, kFrameLength, kFrame };

  void shake_hands();
  // Refuses the client for good, and tells the log why. It may still read what it was sent.
  void refuse(std::string_view why);
  void drain();
  void read(Reading what, size_t bytes);
  void read_on();
  void go_on_reading();
  void take();
  void take_preamble();
  void take_header();
  void take_frame_length();
  void take_frame();
  void read_next_frame();
  bool may_read() const;
  void send(std::string frame, bool then_close);
  void write();
  void wrote(size_t bytes);
  // Request: one whose frame is complete, and when that was.
  struct Request {
    std::shared_ptr<std::string> frame;
    int64_t arrived_us = 0;
  };
  void submit(Request request);
  // In a thread of the executor.
  void carry_out(Request request);
  void answered(size_t request_bytes, Result<std::string> answer);
  void submit_waiting();
  // Returns whether answers that clients do not take fill the connection or the server. Any thread.
  bool is_clogged() const;
  bool has_room() const { return server_load_.bytes < options_.server_bytes; }
  void hold(uint64_t bytes);
  void let_go(uint64_t bytes);
  void hold_answer(uint64_t bytes);
  void let_go_answer(uint64_t bytes);
  void moved() { last_move_ms_ = system_clock().steady_us() / 1000; }

  asio::io_context& io_;
  Link link_;
  Tls* const tls_;
  Dispatcher& dispatcher_;
  Executor& executor_;
  const ServerOptions& options_;
  ConnectionTerms terms_;

  Reading reading_ = Reading::kPreamble;
  std::string input_;       // what is being read
  size_t input_bytes_ = 0;  // how much it will be
  size_t input_have_ = 0;
  bool waiting_ = false;  // the next frame is not read before calls end
  bool paused_ = false;   // the rest of the frame is not read before other connections have less
  int64_t frame_began_ms_ = 0;
  std::deque<std::string> unsent_;
  size_t written_ = 0;  // of the first of them
  bool writing_ = false;
  bool close_after_writing_ = false;
  bool finishing_ = false;
  bool draining_ = false;             // nothing is answered any longer, until the client ends the connection
  std::atomic<bool> closed_ = false;  // read by calls as well, which need no answer then
  size_t calls_ = 0;
  std::deque<Request> waiting_calls_;  // until the client takes its answers
  uint64_t load_ = 0;                  // as ServerLoad::bytes, of this connection
  std::atomic<uint64_t> unsent_bytes_ = 0;
  ServerLoad& server_load_;
  int64_t began_ms_ = 0;
  int64_t last_move_ms_ = 0;
};

}  // namespace cellar::hbase::serve
