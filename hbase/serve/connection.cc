// Reads requests of a client, has them carried out, and writes the answers.
#include "hbase/serve/connection.h"

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

}  // namespace

Connection::Connection(asio::io_context& io, asio::ip::tcp::socket socket, Dispatcher& dispatcher,
                       Executor& executor, const ServerOptions& options, uint64_t& bytes_of_all)
    : io_(io),
      socket_(std::move(socket)),
      dispatcher_(dispatcher),
      executor_(executor),
      options_(options),
      bytes_of_all_(bytes_of_all) {}

Connection::~Connection() { let_go(load_); }

void Connection::hold(uint64_t bytes) {
  load_ += bytes;
  bytes_of_all_ += bytes;
}

void Connection::let_go(uint64_t bytes) {
  CELLAR_ASSERT(load_ >= bytes && bytes_of_all_ >= bytes);
  load_ -= bytes;
  bytes_of_all_ -= bytes;
}

void Connection::begin() {
  asio::error_code ignored;
  socket_.set_option(asio::ip::tcp::no_delay(true), ignored);
  moved();
  began_ms_ = last_move_ms_;
  read(Reading::kPreamble, wire::kPreambleBytes);
}

void Connection::finish() {
  finishing_ = true;
  if (is_idle()) close();
}

void Connection::close() {
  if (closed_) return;
  closed_ = true;
  asio::error_code ignored;
  socket_.shutdown(asio::ip::tcp::socket::shutdown_both, ignored);
  socket_.close(ignored);
}

void Connection::check(int64_t now_ms) {
  if (closed_) return;
  const bool shaking_hands = reading_ < Reading::kFrameLength;
  const bool in_the_middle = input_have_ > 0 || writing_;
  const int64_t still_ms = now_ms - last_move_ms_;
  if ((shaking_hands && now_ms - began_ms_ > options_.handshake_ms) ||
      (in_the_middle && still_ms > options_.stall_ms) || (is_idle() && still_ms > options_.idle_ms))
    close();
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
  input_.resize(std::min(input_bytes_, input_have_ + kPieceBytes));
  socket_.async_read_some(asio::buffer(input_.data() + input_have_, input_.size() - input_have_),
                          [self = shared_from_this()](const asio::error_code& error, size_t bytes) {
                            if (error || self->closed_) return self->close();
                            self->moved();
                            self->input_have_ += bytes;
                            if (self->input_have_ < self->input_bytes_) return self->read_on();
                            self->take();
                          });
}

void Connection::take() {
  switch (reading_) {
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
  return calls_ < options_.connection_calls && load_ < options_.connection_bytes && !finishing_;
}

void Connection::read_next_frame() {
  reading_ = Reading::kFrameLength;
  input_have_ = 0;
  waiting_ = !may_read();
  if (!waiting_) read(Reading::kFrameLength, wire::kFrameLengthBytes);
}

void Connection::take_frame_length() {
  const Result<uint32_t> bytes = wire::frame_bytes(input_.data(), options_.frame_bytes);
  if (!bytes.ok() || bytes_of_all_ + *bytes > options_.server_bytes) return close();
  hold(*bytes);
  read(Reading::kFrame, *bytes);
}

void Connection::take_frame() {
  ++calls_;
  const bool is_read_or_write = terms_.service == wire::kClientService;
  // The job gives its hold on the connection to the io_context, whose thread ends it.
  executor_.submit(
      is_read_or_write ? JobPriority::kHigh : JobPriority::kLow,
      [self = shared_from_this(), frame = std::make_shared<std::string>(std::move(input_))]() mutable {
        auto answer = std::make_shared<Result<std::string>>(self->dispatcher_.answer(self->terms_, *frame));
        const size_t bytes = frame->size();
        frame.reset();
        asio::io_context& io = self->io_;
        asio::post(io,
                   [self = std::move(self), bytes, answer] { self->answered(bytes, std::move(*answer)); });
      });
  read_next_frame();
}

void Connection::answered(size_t request_bytes, Result<std::string> answer) {
  CELLAR_ASSERT(calls_ > 0);
  --calls_;
  let_go(request_bytes);
  moved();
  if (closed_) return;
  if (!answer.ok()) return close();
  send(std::move(answer).value(), false);
  if (waiting_ && may_read()) read_next_frame();
}

void Connection::send(std::string frame, bool then_close) {
  hold(frame.size());
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
  socket_.async_write_some(asio::buffer(first.data() + written_, first.size() - written_),
                           [self = shared_from_this()](const asio::error_code& error, size_t bytes) {
                             if (error || self->closed_) return self->close();
                             self->wrote(bytes);
                           });
}

void Connection::wrote(size_t bytes) {
  moved();
  written_ += bytes;
  if (written_ == unsent_.front().size()) {
    let_go(written_);
    written_ = 0;
    unsent_.pop_front();
  }
  if (!unsent_.empty()) return write();
  writing_ = false;
  if (close_after_writing_ || (finishing_ && calls_ == 0)) return close();
  if (waiting_ && may_read()) read_next_frame();
}

}  // namespace cellar::hbase::serve
