// Reads requests of a client, has them carried out, and writes the answers.
#include "hbase/serve/connection.h"

#include <fmt/format.h>

#include <algorithm>
#include <asio/buffer.hpp>
#include <asio/post.hpp>
#include <utility>

#include "base/assert.h"

namespace cellar::hbase::serve {
namespace {

constexpr std::string_view kRegistryPreamble = "Regist";
constexpr uint32_t kHeaderBytesMax = 64u << 10;
// Memory for a request is taken as its bytes come, not as its length says.
constexpr size_t kPieceBytes = 1u << 20;
constexpr int64_t kDrainMs = 2000;
constexpr size_t kDrainBytes = 16u << 10;

}  // namespace

Connection::Connection(asio::io_context& io, asio::ip::tcp::socket socket, Tls* tls, Dispatcher& dispatcher,
                       Executor& executor, const ServerOptions& options, ServerLoad& server_load)
    : io_(io),
      link_(std::move(socket)),
      tls_(tls),
      dispatcher_(dispatcher),
      executor_(executor),
      options_(options),
      server_load_(server_load) {}

Connection::~Connection() {
  let_go(load_);
  server_load_.unsent -= unsent_bytes_;
}

void Connection::hold(uint64_t bytes) {
  load_ += bytes;
  server_load_.bytes += bytes;
}

void Connection::let_go(uint64_t bytes) {
  CELLAR_ASSERT(load_ >= bytes && server_load_.bytes >= bytes);
  load_ -= bytes;
  server_load_.bytes -= bytes;
}

void Connection::hold_answer(uint64_t bytes) {
  hold(bytes);
  unsent_bytes_ += bytes;
  server_load_.unsent += bytes;
}

void Connection::let_go_answer(uint64_t bytes) {
  let_go(bytes);
  CELLAR_ASSERT(unsent_bytes_ >= bytes && server_load_.unsent >= bytes);
  unsent_bytes_ -= bytes;
  server_load_.unsent -= bytes;
}

bool Connection::is_clogged() const {
  return unsent_bytes_ >= options_.connection_bytes || server_load_.unsent >= options_.server_bytes;
}

void Connection::begin() {
  asio::error_code ignored;
  link_.socket().set_option(asio::ip::tcp::no_delay(true), ignored);
  moved();
  began_ms_ = last_move_ms_;
  read(tls_ == nullptr ? Reading::kPreamble : Reading::kTls, wire::kPreambleBytes);
}

// Plain text begins with the preamble, TLS with a handshake, which is longer.
void Connection::shake_hands() {
  if (!looks_like_tls(input_)) {
    input_have_ = 0;
    refuse("it speaks plain text, and this server speaks TLS");
    return send(dispatcher_.refuse_plain_text(), true);
  }
  link_.accept_tls(*tls_, std::move(input_),
                   [self = shared_from_this()](const std::optional<TlsFailure>& failure) {
                     if (self->closed_) return;
                     if (!failure) return self->read(Reading::kPreamble, wire::kPreambleBytes);
                     self->refuse(failure->status.message());
                     self->drain();
                   });
}

void Connection::refuse(std::string_view why) {
  if (options_.log == nullptr) return;
  asio::error_code error;
  const asio::ip::tcp::endpoint client = link_.socket().remote_endpoint(error);
  const std::string place = error ? "unknown" : client.address().to_string();
  options_.log->log(LogLevel::kWarning, "serve", fmt::format("client {} is refused: {}", place, why));
}

// A connection that is closed with unread bytes loses what was sent last, which says why it ends.
void Connection::drain() {
  if (!std::exchange(draining_, true)) {
    asio::error_code ignored;
    link_.socket().shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
    moved();
    input_.resize(kDrainBytes);
  }
  link_.socket().async_read_some(asio::buffer(input_),
                                 [self = shared_from_this()](const asio::error_code& error, size_t) {
                                   if (error || self->closed_) return self->close();
                                   self->drain();
                                 });
}

void Connection::finish() {
  finishing_ = true;
  if (is_idle()) close();
}

void Connection::close() {
  if (closed_) return;
  closed_ = true;
  asio::error_code ignored;
  link_.socket().shutdown(asio::ip::tcp::socket::shutdown_both, ignored);
  link_.socket().close(ignored);
}

void Connection::check(int64_t now_ms) {
  if (closed_) return;
  const bool shaking_hands = reading_ < Reading::kFrameLength;
  const bool in_frame = reading_ == Reading::kFrame;
  const bool in_the_middle = input_have_ > 0 || in_frame || writing_;
  const int64_t still_ms = now_ms - last_move_ms_;
  if ((draining_ && still_ms > kDrainMs) || (shaking_hands && now_ms - began_ms_ > options_.handshake_ms) ||
      (in_the_middle && still_ms > options_.stall_ms) || (is_idle() && still_ms > options_.idle_ms) ||
      (in_frame && now_ms - frame_began_ms_ > options_.frame_ms))
    return close();
  submit_waiting();
  go_on_reading();
}

void Connection::read(Reading what, size_t bytes) {
  reading_ = what;
  input_.clear();
  input_bytes_ = bytes;
  input_have_ = 0;
  if (bytes == 0) return take();
  read_on();
}

void Connection::read_on() {
  CELLAR_ASSERT(input_have_ < input_bytes_);
  paused_ = reading_ == Reading::kFrame && !has_room();
  if (paused_) return;  // check() goes on
  input_.resize(std::min(input_bytes_, input_have_ + kPieceBytes));
  link_.async_read_some(asio::buffer(input_.data() + input_have_, input_.size() - input_have_),
                        [self = shared_from_this()](const asio::error_code& error, size_t bytes) {
                          if (error || self->closed_) return self->close();
                          self->moved();
                          self->input_have_ += bytes;
                          if (self->reading_ == Reading::kFrame) self->hold(bytes);
                          if (self->input_have_ < self->input_bytes_) return self->read_on();
                          self->take();
                        });
}

void Connection::go_on_reading() {
  if (waiting_ && may_read()) return read_next_frame();
  if (paused_ && has_room()) read_on();
}

void Connection::take() {
  switch (reading_) {
    case Reading::kTls:
      return shake_hands();
    case Reading::kPreamble:
      return take_preamble();
    case Reading::kHeaderLength: {
      const Result<uint32_t> bytes = wire::frame_bytes(input_.data(), kHeaderBytesMax);
      if (!bytes.ok()) return close();
      return read(Reading::kHeader, *bytes);
    }
    case Reading::kHeader:
      return take_header();
    case Reading::kFrameLength:
      return take_frame_length();
    case Reading::kFrame:
      return take_frame();
  }
}

void Connection::take_preamble() {
  if (input_ == kRegistryPreamble) {
    send(dispatcher_.answer_registry(), false);
    return read(Reading::kPreamble, wire::kPreambleBytes);
  }
  if (!wire::check_preamble(input_).ok()) {
    input_have_ = 0;
    return send(dispatcher_.refuse_preamble(input_), true);
  }
  read(Reading::kHeaderLength, wire::kFrameLengthBytes);
}

void Connection::take_header() {
  std::string refusal;
  Result<ConnectionTerms> terms = dispatcher_.connect(input_, refusal);
  if (!terms.ok()) {
    input_have_ = 0;
    return send(std::move(refusal), true);
  }
  terms_ = std::move(terms).value();
  read_next_frame();
}

bool Connection::may_read() const {
  return calls_ < options_.connection_calls && load_ < options_.connection_bytes && has_room() && !finishing_;
}

void Connection::read_next_frame() {
  reading_ = Reading::kFrameLength;
  input_have_ = 0;
  waiting_ = !may_read();
  if (!waiting_) read(Reading::kFrameLength, wire::kFrameLengthBytes);
}

void Connection::take_frame_length() {
  const Result<uint32_t> bytes = wire::frame_bytes(input_.data(), options_.frame_bytes);
  if (!bytes.ok()) return close();
  frame_began_ms_ = system_clock().steady_us() / 1000;
  read(Reading::kFrame, *bytes);
}

void Connection::take_frame() {
  ++calls_;
  submit({std::make_shared<std::string>(std::move(input_)), system_clock().steady_us()});
  read_next_frame();
}

void Connection::submit(Request request) {
  // Clients look for the cluster and for rows while statements work.
  const bool is_fast = terms_.service == wire::kClientService || terms_.service == wire::kRegistryService;
  executor_.submit(is_fast ? JobPriority::kHigh : JobPriority::kLow,
                   [self = shared_from_this(), request = std::move(request)]() mutable {
                     Connection& connection = *self;
                     connection.carry_out(std::move(request));
                     // The io_context's thread ends the hold on the connection.
                     asio::io_context& io = connection.io_;
                     asio::post(io, [self = std::move(self)] {});
                   });
}

void Connection::carry_out(Request request) {
  if (!closed_ && is_clogged()) {
    asio::post(io_, [self = shared_from_this(), request = std::move(request)]() mutable {
      self->waiting_calls_.push_back(std::move(request));
      self->submit_waiting();
    });
    return;
  }
  auto answer = std::make_shared<Result<std::string>>(
      closed_ ? Status::aborted("the client is gone")
              : dispatcher_.answer(terms_, *request.frame, request.arrived_us));
  const size_t bytes = request.frame->size();
  request.frame.reset();
  asio::post(io_, [self = shared_from_this(), bytes, answer] { self->answered(bytes, std::move(*answer)); });
}

void Connection::submit_waiting() {
  while (!closed_ && !waiting_calls_.empty() && !is_clogged()) {
    submit(std::move(waiting_calls_.front()));
    waiting_calls_.pop_front();
  }
}

void Connection::answered(size_t request_bytes, Result<std::string> answer) {
  CELLAR_ASSERT(calls_ > 0);
  --calls_;
  let_go(request_bytes);
  moved();
  if (closed_) return;
  if (!answer.ok()) return close();
  send(std::move(answer).value(), false);
  go_on_reading();
}

void Connection::send(std::string frame, bool then_close) {
  hold_answer(frame.size());
  unsent_.push_back(std::move(frame));
  close_after_writing_ = close_after_writing_ || then_close;
  if (!writing_) {
    moved();
    write();
  }
}

void Connection::write() {
  writing_ = true;
  // Piece by piece, so that check() sees whether the client takes anything.
  const std::string& first = unsent_.front();
  link_.async_write_some(asio::buffer(first.data() + written_, first.size() - written_),
                         [self = shared_from_this()](const asio::error_code& error, size_t bytes) {
                           if (error || self->closed_) return self->close();
                           self->wrote(bytes);
                         });
}

void Connection::wrote(size_t bytes) {
  moved();
  written_ += bytes;
  if (written_ == unsent_.front().size()) {
    let_go_answer(written_);
    written_ = 0;
    unsent_.pop_front();
    submit_waiting();
  }
  if (!unsent_.empty()) return write();
  writing_ = false;
  if (close_after_writing_) return drain();
  if (finishing_ && calls_ == 0) return close();
  go_on_reading();
}

}  // namespace cellar::hbase::serve
