// FakeHdfs: two servers of cpp-httplib with one handler.
#include "tests/hbase/fake_hdfs.h"

#ifdef CELLAR_WITH_WEBHDFS

#include <httplib.h>
#include <sys/socket.h>

#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/read_until.hpp>
#include <asio/write.hpp>
#include <chrono>
#include <map>
#include <mutex>
#include <set>
#include <thread>
#include <utility>

namespace cellar::testing {
namespace {

constexpr const char* kPrefix = "/webhdfs/v1";
constexpr const char* kToken = "&token=a%2Bb%25";

std::string boolean(bool value) { return value ? R"({"boolean":true})" : R"({"boolean":false})"; }

// One server with its thread.
struct Listener {
  httplib::Server server;
  int port = 0;
  std::thread thread;

  void start() {
    port = server.bind_to_any_port("127.0.0.1");
    thread = std::thread([this] { server.listen_after_bind(); });
  }
  void stop() {
    while (!server.is_running()) std::this_thread::yield();
    server.stop();
    thread.join();
  }
};

}  // namespace

struct FakeHdfs::Impl {
  mutable std::mutex mutex;
  std::map<std::string, std::string> files;
  std::set<std::string> directories;
  std::vector<std::string> requests;
  std::map<Node, std::pair<Answer, int>> answers;
  int redirect_port = 0;
  Listener name;
  Listener data;

  void serve(Listener& listener, Node node) {
    const std::string pattern = std::string(kPrefix) + "/[^\\n]*";
    listener.server.Put(pattern, [this, node](const httplib::Request& request, httplib::Response& response,
                                              const httplib::ContentReader& reader) {
      if (!is_planned(node, request, response)) put(request, response, reader);
    });
    listener.server.Delete(pattern,
                           [this, node](const httplib::Request& request, httplib::Response& response) {
                             if (!is_planned(node, request, response)) remove(request, response);
                           });
    listener.start();
  }

  // Notes the request, and gives the answer that was set for it, if any.
  bool is_planned(Node node, const httplib::Request& request, httplib::Response& response) {
    const std::lock_guard lock(mutex);
    requests.push_back(request.method + " " + request.target);
    auto& [answer, times] = answers[node];
    if (times == 0) return false;
    --times;
    response.status = answer.status;
    response.set_content(answer.body, "application/json");
    if (!answer.location.empty()) response.set_header("Location", answer.location);
    return true;
  }

  void put(const httplib::Request& request, httplib::Response& response,
           const httplib::ContentReader& reader) {
    std::string bytes;
    reader([&bytes](const char* more, size_t count) {
      bytes.append(more, count);
      return true;
    });
    const std::string path = request.path.substr(std::string(kPrefix).size());
    const std::lock_guard lock(mutex);
    if (request.get_param_value("op") == "MKDIRS") {
      for (size_t at = 0; at != std::string::npos;) {
        at = path.find('/', at + 1);
        directories.insert(path.substr(0, at));
      }
      response.set_content(boolean(true), "application/json");
    } else if (request.get_param_value("data") != "true") {
      response.status = request.get_param_value("overwrite") == "true" && bytes.empty() ? 307 : 400;
      response.set_header("Location", "http://127.0.0.1:" + std::to_string(redirect_port) + request.target +
                                          "&data=true" + kToken);
    } else {
      const bool whole = request.target.ends_with(kToken) &&
                         request.get_header_value("Content-Type") == "application/octet-stream" &&
                         bytes.size() == request.get_header_value<uint64_t>("Content-Length");
      response.status = whole ? 201 : 400;
      if (whole) files[path] = bytes;
    }
  }

  void remove(const httplib::Request& request, httplib::Response& response) {
    const std::string path = request.path.substr(std::string(kPrefix).size());
    const bool recursive = request.get_param_value("recursive") == "true";
    const std::lock_guard lock(mutex);
    size_t removed = files.erase(path) + directories.erase(path);
    if (recursive) {
      removed += std::erase_if(files, [&](const auto& each) { return each.first.starts_with(path + "/"); });
      removed += std::erase_if(directories, [&](const auto& each) { return each.starts_with(path + "/"); });
    }
    response.set_content(boolean(removed > 0), "application/json");
  }
};

FakeHdfs::FakeHdfs() : impl_(std::make_unique<Impl>()) {
  impl_->serve(impl_->name, Node::kName);
  impl_->serve(impl_->data, Node::kData);
  redirect_to(data_port());
}
FakeHdfs::~FakeHdfs() {
  impl_->name.stop();
  impl_->data.stop();
}

uint16_t FakeHdfs::port() const { return static_cast<uint16_t>(impl_->name.port); }
uint16_t FakeHdfs::data_port() const { return static_cast<uint16_t>(impl_->data.port); }
void FakeHdfs::redirect_to(uint16_t port) {
  const std::lock_guard lock(impl_->mutex);
  impl_->redirect_port = port;
}
void FakeHdfs::answer(Node node, const Answer& answer, int times) {
  const std::lock_guard lock(impl_->mutex);
  impl_->answers[node] = {answer, times};
}
bool FakeHdfs::exists(const std::string& path) const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->files.contains(path);
}
bool FakeHdfs::is_directory(const std::string& path) const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->directories.contains(path);
}
std::string FakeHdfs::content(const std::string& path) const {
  const std::lock_guard lock(impl_->mutex);
  const auto found = impl_->files.find(path);
  return found == impl_->files.end() ? "(no such file)" : found->second;
}
std::vector<std::string> FakeHdfs::requests() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->requests;
}

std::string remote_exception(const std::string& name, const std::string& message) {
  return R"({"RemoteException":{"exception":")" + name + R"(","javaClassName":"org.apache.hadoop.)" + name +
         R"(","message":")" + message + R"("}})";
}

struct RawServer::Impl {
  asio::io_context loop;
  asio::ip::tcp::acceptor acceptor{loop, {asio::ip::address_v4::loopback(), 0}};
  std::string bytes;
  RawServer::Manner manner = RawServer::Manner::kAnswer;
  std::thread thread;

  void run() {
    std::vector<asio::ip::tcp::socket> held;
    for (;;) {
      std::error_code error;
      asio::ip::tcp::socket socket = acceptor.accept(error);
      if (error) return;
      if (manner == RawServer::Manner::kSilent) {
        held.push_back(std::move(socket));
        continue;
      }
      std::string head;
      asio::read_until(socket, asio::dynamic_buffer(head), "\r\n\r\n", error);
      asio::write(socket, asio::buffer(bytes), error);
      while (manner == RawServer::Manner::kEndless && !error) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        asio::write(socket, asio::buffer("x", 1), error);
      }
    }
  }
};

RawServer::RawServer(std::string bytes, Manner manner) : impl_(std::make_unique<Impl>()) {
  impl_->bytes = std::move(bytes);
  impl_->manner = manner;
  impl_->thread = std::thread([impl = impl_.get()] { impl->run(); });
}
RawServer::~RawServer() {
  ::shutdown(impl_->acceptor.native_handle(), SHUT_RDWR);  // wakes accept()
  impl_->thread.join();
}
uint16_t RawServer::port() const { return impl_->acceptor.local_endpoint().port(); }

}  // namespace cellar::testing

#endif  // CELLAR_WITH_WEBHDFS
