// Shared by the pages of applications: a small HTTP server for this machine alone, and measured latencies.
//
// The server listens on 127.0.0.1, and answers requests to that address or to localhost: a page of another
// site that names another host is refused. Answers are JSON, and the page itself is one file of HTML.
#pragma once

#include <httplib.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <fstream>
#include <functional>
#include <mutex>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "examples/application.h"
#include "examples/json.h"

namespace example {

inline int64_t now_us() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::microseconds>(now).count();
}

// Latencies: microseconds of requests, and their percentiles. Any thread. It keeps the first million.
class Latencies {
 public:
  void add(int64_t us) {
    const std::lock_guard lock(mutex_);
    if (all_.size() < 1000000) all_.push_back(us);
  }
  size_t size() const {
    const std::lock_guard lock(mutex_);
    return all_.size();
  }
  // Returns the smallest latency that is not below `percent` of all, or 0 if there are none yet.
  int64_t percentile(double percent) const {
    std::vector<int64_t> sorted;
    {
      const std::lock_guard lock(mutex_);
      sorted = all_;
    }
    if (sorted.empty()) return 0;
    const auto rank = static_cast<size_t>(percent / 100 * static_cast<double>(sorted.size()));
    const auto at = sorted.begin() + static_cast<std::ptrdiff_t>(std::min(rank, sorted.size() - 1));
    std::nth_element(sorted.begin(), at, sorted.end());
    return *at;
  }
  std::string to_text() const {
    return std::to_string(size()) + " measured: p50 " + std::to_string(percentile(50)) + " us, p99 " +
           std::to_string(percentile(99)) + " us, p99.9 " + std::to_string(percentile(99.9)) + " us";
  }
  std::string to_json() const {
    return "{\"requests\":" + std::to_string(size()) + ",\"p50_us\":" + std::to_string(percentile(50)) +
           ",\"p99_us\":" + std::to_string(percentile(99)) +
           ",\"p999_us\":" + std::to_string(percentile(99.9)) + "}";
  }

 private:
  mutable std::mutex mutex_;
  std::vector<int64_t> all_;
};

// Returns a text as a part of an address: "a%20b".
inline std::string url_text(std::string_view text) {
  std::string url;
  for (const char c : text) {
    char escape[4];
    std::snprintf(escape, sizeof escape, "%%%02X", static_cast<unsigned char>(c));
    url += escape;
  }
  return url;
}

// PageServer: serves one page and its answers. Answers run on several threads at once. Its destructor stops
// it.
class PageServer {
 public:
  // Returns the JSON that answers a request. kInvalidArgument becomes status 400, other failures 500.
  using Answer = std::function<Result<std::string>(const httplib::Request&)>;

  // Reads the page from a file. Error: kNotFound if it cannot be read.
  static Result<std::unique_ptr<PageServer>> of_file(const std::string& path) {
    std::ifstream file(path);
    std::ostringstream html;
    if (!file || !(html << file.rdbuf())) return Status::not_found("cannot read the page " + path);
    return std::unique_ptr<PageServer>(new PageServer(html.str()));
  }
  ~PageServer() {
    server_.stop();
    if (thread_.joinable()) thread_.join();
  }

  // Answers GET requests to `path`. The header Server-Us tells the page how many microseconds the answer
  // took.
  void on(const std::string& path, Answer answer) {
    server_.Get(path,
                [this, answer = std::move(answer)](const httplib::Request& asked, httplib::Response& to) {
                  const int64_t begin = now_us();
                  const Result<std::string> json = answer(asked);
                  const int64_t us = now_us() - begin;
                  if (json.ok()) latencies_.add(us);
                  if (!json.ok()) to.status = json.status().code() == Code::kInvalidArgument ? 400 : 500;
                  to.set_header("Server-Us", std::to_string(us));
                  to.set_content(json.ok() ? *json : "{\"error\":" + json_text(json.status().to_text()) + "}",
                                 "application/json; charset=utf-8");
                });
  }
  // Begins to listen on a port, or on a free one if it is 0. Returns the port.
  Result<int> start(int port) {
    port_ = port == 0 ? server_.bind_to_any_port("127.0.0.1") : port;
    if (port_ <= 0 || (port != 0 && !server_.bind_to_port("127.0.0.1", port)))
      return Status::io_error("cannot listen on port " + std::to_string(port) + " of 127.0.0.1");
    thread_ = std::thread([this] { server_.listen_after_bind(); });
    while (!server_.is_running()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return port_;
  }
  // Serves until the process ends.
  void wait() { thread_.join(); }
  // Returns the latencies of the answers, without the network.
  const Latencies& latencies() const { return latencies_; }

 private:
  explicit PageServer(const std::string& html) {
    server_.set_tcp_nodelay(true);  // a keystroke is a small packet, which must not wait for the next one
    server_.set_keep_alive_max_count(1000000);
    server_.set_default_headers({{"X-Content-Type-Options", "nosniff"},
                                 {"Cache-Control", "no-store"},
                                 {"Content-Security-Policy",
                                  "default-src 'none'; connect-src 'self'; script-src 'unsafe-inline'; "
                                  "style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"}});
    server_.set_pre_routing_handler([this](const httplib::Request& asked, httplib::Response& to) {
      const std::string host = asked.get_header_value("Host"), port = ":" + std::to_string(port_);
      if (host == "127.0.0.1" + port || host == "localhost" + port)
        return httplib::Server::HandlerResponse::Unhandled;
      to.status = 403;
      return httplib::Server::HandlerResponse::Handled;
    });
    server_.Get("/", [html](const httplib::Request&, httplib::Response& to) {
      to.set_content(html, "text/html; charset=utf-8");
    });
  }

  httplib::Server server_;
  std::thread thread_;
  Latencies latencies_;
  int port_ = 0;  // constant once the thread runs
};

// Returns what follows "STORE FILE PAGE" on the command line of a page: the port, or nothing for --replay.
inline Result<std::optional<int>> port_of(const std::vector<std::string>& files, std::string_view program) {
  int port = 0;
  if (files.size() == 3 && files[2] == "--replay") return std::optional<int>();
  if (files.size() == 2) return std::optional<int>(0);
  if (files.size() == 4 && files[2] == "--port") {
    const char* const end = files[3].data() + files[3].size();
    const std::from_chars_result read = std::from_chars(files[3].data(), end, port);
    if (read.ec == std::errc() && read.ptr == end && port > 0 && port < 65536)
      return std::optional<int>(port);
  }
  return Status::invalid_argument("usage: " + std::string(program) +
                                  " STORE FILE PAGE.html [--port 1..65535 | --replay]");
}

}  // namespace example
