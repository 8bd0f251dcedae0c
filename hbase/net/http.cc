// HTTP: requests and answers by cpp-httplib, over a socket of asio. cpp-httplib's own sockets can raise
// SIGPIPE and fail above descriptor 1023. They read lines without a bound. Only this file knows that library.
#include "hbase/net/http.h"

#include <fmt/core.h>

#ifdef CELLAR_WITH_WEBHDFS

#include <httplib.h>

#include <algorithm>
#include <array>
#include <asio/buffer.hpp>
#include <asio/connect.hpp>
#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <chrono>
#include <exception>
#include <system_error>

#include "cellar/environment.h"

namespace cellar::hbase {
namespace {

constexpr size_t kStatusLineMax = 512;  // cpp-httplib takes such a line apart with a recursive std::regex
constexpr size_t kHeaderLineMax = 8192;
constexpr size_t kLengthDigitsMax = 5;  // of Content-Length, up to 99,999 bytes
constexpr int64_t kSilenceUsMax = 24LL * 3600 * 1'000'000;
constexpr std::string_view kStatusLine = "HTTP/";
constexpr std::string_view kContinue = " 100";

bool equals_in_any_case(std::string_view a, std::string_view lower) {
  return std::ranges::equal(
      a, lower, [](char x, char y) { return (x >= 'A' && x <= 'Z' ? static_cast<char>(x + 32) : x) == y; });
}

// Head: the lines before the body of an answer. cpp-httplib decodes the percent signs of its headers, which
// loses what they meant.
class Head {
 public:
  bool ended() const { return ended_; }
  bool begins_as_http() const { return text_.starts_with(kStatusLine); }
  // Returns false if a line is longer than any server has reason to write.
  bool add(char byte) {
    text_ += byte;
    const std::string_view line = std::string_view(text_).substr(line_);
    if (line.size() > (line.starts_with(kStatusLine) ? kStatusLineMax : kHeaderLineMax)) return false;
    if (byte != '\n') return true;
    const bool last = line == "\r\n";
    line_ = text_.size();
    if (!last) return true;
    if (!is_interim()) {
      ended_ = true;
    } else {
      text_.clear();
      line_ = 0;
    }
    return true;
  }
  // Returns the first value of the header, or an empty text.
  std::string value_of(std::string_view lower_name) const {
    for (std::string_view rest = text_; !rest.empty();) {
      const size_t end = std::min(rest.find('\n'), rest.size() - 1);
      std::string_view line = rest.substr(0, end);
      rest.remove_prefix(end + 1);
      const size_t colon = line.find(':');
      if (colon == std::string_view::npos || !equals_in_any_case(line.substr(0, colon), lower_name)) continue;
      line.remove_prefix(colon + 1);
      while (!line.empty() && (line.front() == ' ' || line.front() == '\t')) line.remove_prefix(1);
      while (!line.empty() && (line.back() == ' ' || line.back() == '\t' || line.back() == '\r'))
        line.remove_suffix(1);
      return std::string(line);
    }
    return {};
  }

 private:
  bool is_interim() const {
    const std::string_view code = std::string_view(text_).substr(std::min(text_.find(' '), text_.size()));
    return code.starts_with(kContinue);
  }

  std::string text_;
  size_t line_ = 0;  // where the current line begins
  bool ended_ = false;
};

// Connection: one socket, used by one thread. Each step waits no longer than the time of silence, and so does
// the whole answer.
class Connection final : public httplib::Stream {
 public:
  explicit Connection(int64_t silence_us) : silence_us_(std::clamp<int64_t>(silence_us, 1, kSilenceUsMax)) {}

  Status connect(const std::string& host, uint16_t port) {
    asio::ip::tcp::resolver::results_type found;
    run([&](auto done) {
      resolver_.async_resolve(host, std::to_string(port), asio::ip::resolver_base::numeric_service,
                              [&found, done](const std::error_code& error, auto results) {
                                found = std::move(results);
                                done(error, 0);
                              });
    });
    if (error_) return Status::io_error("its name cannot be resolved: " + reason());
    run([&](auto done) {
      asio::async_connect(socket_, found,
                          [done](const std::error_code& error, const auto&) { done(error, 0); });
    });
    if (error_) return Status::io_error("it cannot be reached: " + reason());
    std::error_code ignored;
    socket_.set_option(asio::ip::tcp::no_delay(true), ignored);
    return {};
  }

  // True if the server no longer reads: it has answered, or the connection is broken. Then write() forgets
  // its bytes, so that cpp-httplib goes on to the answer.
  bool is_deaf() const { return deaf_; }
  const Head& head() const { return head_; }
  uint64_t received() const { return received_; }
  bool is_too_large() const { return too_large_; }
  bool is_malformed() const { return malformed_; }
  // Returns why the last step failed, or why the server stopped reading.
  std::string reason() const {
    if (timed_out_) return fmt::format("it was not done after {} ms", silence_us_ / 1000);
    return error_ && error_ != asio::error::eof ? error_.message() : "it closed the connection";
  }

  bool is_readable() const override { return true; }
  bool is_writable() const override { return true; }
  void get_remote_ip_and_port(std::string&, int&) const override {}
  void get_local_ip_and_port(std::string&, int&) const override {}
  socket_t socket() const override { return INVALID_SOCKET; }

  ssize_t write(const char* data, size_t bytes) override {
    std::error_code ignored;
    if (!deaf_ && socket_.available(ignored) > 0) deaf_ = true;
    size_t written = 0;
    if (!deaf_) written = run([&](auto done) { socket_.async_write_some(asio::buffer(data, bytes), done); });
    if (error_) deaf_ = true;
    return static_cast<ssize_t>(deaf_ ? bytes : written);
  }

  ssize_t read(char* into, size_t bytes) override {
    if (taken_ == filled_) {
      if (timed_out_ || too_large_) return -1;
      if (ended_) return 0;  // asio would wait for an event that has come
      taken_ = 0;
      if (answer_due_us_ == 0) answer_due_us_ = system_clock().steady_us() + silence_us_;
      filled_ = run([&](auto done) { socket_.async_read_some(asio::buffer(buffer_), done); });
      ended_ = error_ == asio::error::eof;
      if (ended_) return 0;
      if (error_) return -1;
      received_ += filled_;
      too_large_ = received_ > kHttpAnswerBytesMax;
      if (too_large_) return -1;
    }
    const size_t taken = std::min(bytes, filled_ - taken_);
    std::copy_n(buffer_.data() + taken_, taken, into);
    for (size_t i = 0; i < taken && !head_.ended(); ++i) {
      malformed_ = !head_.add(into[i]);
      if (malformed_) return -1;
    }
    // cpp-httplib would make room for a body before it has come.
    if (head_.ended() && head_.value_of("content-length").size() > kLengthDigitsMax) too_large_ = true;
    if (too_large_) return -1;
    taken_ += taken;
    return static_cast<ssize_t>(taken);
  }

 private:
  // Begins a step and runs it until it has ended, or the time is up. Sets error_ and returns its bytes.
  template <class Begin>
  size_t run(Begin begin) {
    size_t moved = 0;
    loop_.restart();
    begin([this, &moved](const std::error_code& error, size_t bytes) {
      error_ = error;
      moved = bytes;
    });
    const int64_t left_us = answer_due_us_ == 0 ? silence_us_ : answer_due_us_ - system_clock().steady_us();
    loop_.run_for(std::chrono::microseconds(std::clamp<int64_t>(left_us, 1, silence_us_)));
    if (!loop_.stopped()) {
      timed_out_ = true;
      std::error_code ignored;
      resolver_.cancel();
      socket_.close(ignored);
      loop_.run();
      error_ = asio::error::timed_out;
    }
    return error_ ? 0 : moved;
  }

  const int64_t silence_us_;
  int64_t answer_due_us_ = 0;  // set when its first byte is waited for
  asio::io_context loop_;
  asio::ip::tcp::resolver resolver_{loop_};
  asio::ip::tcp::socket socket_{loop_};
  std::error_code error_;
  bool timed_out_ = false;
  bool deaf_ = false;
  bool ended_ = false;
  bool too_large_ = false;
  bool malformed_ = false;
  Head head_;
  std::array<char, 4096> buffer_ = {};
  size_t taken_ = 0;
  size_t filled_ = 0;
  uint64_t received_ = 0;
};

// Exchange: cpp-httplib's client, of which only the writing and reading of messages is used.
class Exchange final : public httplib::ClientImpl {
 public:
  Exchange() : ClientImpl("unused", 80) {
    set_url_encode(false);
    set_decompress(false);
  }
  bool run(Connection& connection, httplib::Request& request, httplib::Response& response) {
    httplib::Error error = httplib::Error::Success;
    return process_request(connection, request, response, true, error);
  }
};

// Feeds the request's body to cpp-httplib piece by piece.
class Body {
 public:
  Body(const HttpRequest& request, const Connection& connection)
      : request_(request), connection_(connection) {}

  bool write(size_t done, httplib::DataSink& to) {
    // Bytes that nobody reads need no source: write() does not look at them.
    if (connection_.is_deaf()) return to.write("", static_cast<size_t>(request_.body_bytes) - done);
    Result<std::string_view> piece = request_.body(done);
    if (!piece.ok()) {
      failure_ = piece.status();
      return false;
    }
    const bool written = to.write(piece->data(), piece->size());
    if (!connection_.is_deaf()) sent_ = done + piece->size();
    return written;
  }
  const Status& failure() const { return failure_; }
  uint64_t sent() const { return sent_; }
  bool is_sent() const { return sent_ == request_.body_bytes; }

 private:
  const HttpRequest& request_;
  const Connection& connection_;
  Status failure_;
  uint64_t sent_ = 0;
};

Status failed_exchange(const Connection& connection, const Body& body, const HttpRequest& request) {
  if (!body.failure().ok()) return body.failure();
  const std::string server = http_server_text(request.host, request.port);
  if (connection.is_too_large())
    return Status::io_error(fmt::format("{} answers with more than {} bytes", server, kHttpAnswerBytesMax));
  if (connection.received() == 0 && !body.is_sent())
    return Status::io_error(fmt::format("{} took {} of {} bytes and then failed: {}", server, body.sent(),
                                        request.body_bytes, connection.reason()));
  if (connection.received() == 0)
    return Status::io_error(fmt::format("{} does not answer: {}", server, connection.reason()));
  if (!connection.head().ended() && !connection.head().begins_as_http())
    return Status::io_error(fmt::format("{} does not answer with HTTP", server));
  if (connection.is_malformed())
    return Status::io_error(fmt::format("{} answers with a line of HTTP that is too long", server));
  return Status::io_error(fmt::format("the answer of {} ends too early: {}", server, connection.reason()));
}

Result<HttpAnswer> exchange(const HttpRequest& request, int64_t silence_us) {
  Connection connection(silence_us);
  const std::string server = http_server_text(request.host, request.port);
  CELLAR_TRY(connection.connect(request.host, request.port).with_context(server));
  Body body(request, connection);
  httplib::Request message;
  message.method = request.method;
  message.path = request.target;
  message.headers.emplace("Host", server);
  message.headers.emplace("User-Agent", "cellar");
  if (!request.content_type.empty()) message.headers.emplace("Content-Type", request.content_type);
  message.content_length_ = static_cast<size_t>(request.body_bytes);
  if (request.body)
    message.content_provider_ = [&body](size_t done, size_t, httplib::DataSink& to) {
      return body.write(done, to);
    };
  httplib::Response response;
  if (!Exchange().run(connection, message, response)) return failed_exchange(connection, body, request);
  HttpAnswer answer;
  answer.status = response.status;
  answer.location = connection.head().value_of("location");
  answer.body = std::move(response.body);
  answer.took_body = body.is_sent();
  return answer;
}

}  // namespace

bool knows_http() { return true; }

Result<HttpAnswer> http_call(const HttpRequest& request, int64_t silence_us) {
  try {
    return exchange(request, silence_us);
  } catch (const std::exception& error) {  // asio has no other way to tell that descriptors have run out
    return Status::io_error(std::string("no connection can be made: ") + error.what());
  }
}

}  // namespace cellar::hbase

#else

namespace cellar::hbase {

bool knows_http() { return false; }

Result<HttpAnswer> http_call(const HttpRequest&, int64_t) {
  return Status::not_supported("this build has no HTTP")
      .hinting("build with libcpp-httplib-dev (-DCELLAR_WITH_WEBHDFS=ON)");
}

}  // namespace cellar::hbase

#endif  // CELLAR_WITH_WEBHDFS

namespace cellar::hbase {

std::string http_server_text(const std::string& host, uint16_t port) {
  return host.find(':') == std::string::npos ? fmt::format("{}:{}", host, port)
                                             : fmt::format("[{}]:{}", host, port);
}

}  // namespace cellar::hbase
