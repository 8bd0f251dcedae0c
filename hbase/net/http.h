// HTTP: one request to a server, and its answer. The client of WebHDFS makes them.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "cellar/status.h"

namespace cellar::hbase {

constexpr uint64_t kHttpAnswerBytesMax = 64u << 10;  // with its head

struct HttpRequest {
  std::string method;
  std::string host;  // a name or an address, of IPv6 without brackets
  uint16_t port = 0;
  std::string target;  // path and query, percent-encoded
  // The body, if there is one: its type, its size, and its next bytes after the first `done`. At least one
  // byte is returned; the bytes stay until the next call.
  std::string content_type = {};
  uint64_t body_bytes = 0;
  std::function<Result<std::string_view>(uint64_t done)> body = nullptr;
};

struct HttpAnswer {
  int status = 0;
  std::string location;  // of a redirect, as the server wrote it; empty if the answer has none
  std::string body;
  bool took_body = false;  // the request's body was sent to its end
};

// False: this build has no HTTP.
bool knows_http();

// Returns "host:port", with an address of IPv6 in brackets.
std::string http_server_text(const std::string& host, uint16_t port);

// Returns any answer, whatever its status: redirects are not followed. A server may answer before it has read
// the body. Any thread. Errors: kIoError, naming the server, if it is not reached, is silent for
// `silence_us`, or does not speak HTTP. Also if its answer ends too early or is larger than
// kHttpAnswerBytesMax. kNotSupported in a build without HTTP. A failure of `body` is returned as it is.
Result<HttpAnswer> http_call(const HttpRequest& request, int64_t silence_us);

}  // namespace cellar::hbase
