// FakeZooKeeper: blocking sockets, a thread for each connection.
#include "tests/hbase/fake_zookeeper.h"

#include <sys/socket.h>

#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/read.hpp>
#include <asio/write.hpp>
#include <mutex>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "base/coding.h"

namespace cellar::testing {
namespace {

constexpr uint32_t kZooKeeperFrameMax = 1u << 20;
constexpr uint32_t kGetData = 4;
constexpr uint32_t kGetChildren = 8;
constexpr uint32_t kClose = static_cast<uint32_t>(-11);
constexpr uint32_t kNoNode = static_cast<uint32_t>(-101);
constexpr size_t kStatBytes = 68;

void append_text(std::string& to, const std::string& text) {
  append_be32(to, static_cast<uint32_t>(text.size()));
  to += text;
}

std::string framed(const std::string& body) {
  std::string frame;
  append_text(frame, body);
  return frame;
}

}  // namespace

struct FakeZooKeeper::Impl {
  asio::io_context loop;
  asio::ip::tcp::acceptor acceptor{loop};
  std::thread listener;

  mutable std::mutex mutex;
  std::vector<std::thread> threads;
  std::set<int> sockets;
  bool stopping = false;
  std::map<std::string, std::string> znodes;
  Fault fault = Fault::kNone;
  int faults = 0;
  int sessions = 0;
  int closed = 0;

  static bool read_frame(asio::ip::tcp::socket& socket, std::string& frame) {
    std::error_code error;
    frame.resize(4);
    asio::read(socket, asio::buffer(frame), error);
    if (error) return false;
    const uint32_t bytes = load_be32(frame.data());
    if (bytes > kZooKeeperFrameMax) return false;
    frame.resize(bytes);
    asio::read(socket, asio::buffer(frame), error);
    return !error;
  }

  static std::string session_begin() {
    std::string body;
    append_be32(body, 0);       // version of the protocol
    append_be32(body, 10'000);  // timeout
    append_be64(body, 77);
    append_text(body, std::string(16, 'p'));
    body += '\0';  // not read-only
    return framed(body);
  }

  // A request is its number, its type, the path, and whether to watch.
  std::string answer(const std::string& request) {
    const std::lock_guard<std::mutex> lock(mutex);
    const uint32_t type = load_be32(request.data() + 4);
    std::string path;
    if (type == kGetData || type == kGetChildren)
      path = request.substr(12, std::min<size_t>(load_be32(request.data() + 8), request.size() - 12));
    if (type == kClose) ++closed;
    const auto found = znodes.find(path);
    const bool absent = !path.empty() && path != "/" && found == znodes.end();
    std::string body = request.substr(0, 4);
    append_be64(body, 1);
    append_be32(body, absent ? kNoNode : 0);
    if (!absent && type == kGetData) {
      append_text(body, found == znodes.end() ? "" : found->second);
      body += std::string(kStatBytes, '\0');
    }
    if (!absent && type == kGetChildren) append_children(path, body);
    return framed(body);
  }

  void append_children(const std::string& path, std::string& body) const {
    const std::string begin = path == "/" ? path : path + "/";
    std::set<std::string> names;
    for (const auto& [each, content] : znodes)
      if (each.starts_with(begin))
        names.insert(each.substr(begin.size(), each.find('/', begin.size()) - begin.size()));
    append_be32(body, static_cast<uint32_t>(names.size()));
    for (const std::string& name : names) append_text(body, name);
  }

  Fault next_fault() {
    const std::lock_guard<std::mutex> lock(mutex);
    return faults > 0 ? (--faults, fault) : Fault::kNone;
  }

  void serve(asio::ip::tcp::socket socket) {
    const Fault planned = next_fault();
    std::string frame;
    std::error_code error;
    bool begun = false;
    while (read_frame(socket, frame)) {
      if (planned == Fault::kSilence) continue;
      std::string reply;
      if (!begun) {
        begun = true;
        reply = planned == Fault::kGarbage ? "HTTP/1.1 400 Bad Request\r\n\r\n" + std::string(64, 'x')
                                           : session_begin();
        const std::lock_guard<std::mutex> lock(mutex);
        ++sessions;
      } else {
        if (planned == Fault::kDrop || frame.size() < 8) break;
        reply = answer(frame);
      }
      asio::write(socket, asio::buffer(reply), error);
      if (error) break;
    }
    const std::lock_guard<std::mutex> lock(mutex);
    sockets.erase(socket.native_handle());
  }
};

FakeZooKeeper::FakeZooKeeper() : impl_(std::make_unique<Impl>()) {
  const asio::ip::tcp::endpoint any(asio::ip::address_v4::loopback(), 0);
  impl_->acceptor.open(any.protocol());
  impl_->acceptor.bind(any);
  impl_->acceptor.listen();
  impl_->listener = std::thread([this] {
    while (true) {
      std::error_code error;
      asio::ip::tcp::socket socket(impl_->loop);
      impl_->acceptor.accept(socket, error);
      const std::lock_guard<std::mutex> lock(impl_->mutex);
      if (error || impl_->stopping) return;
      impl_->sockets.insert(socket.native_handle());
      impl_->threads.emplace_back([this, own = std::make_shared<asio::ip::tcp::socket>(std::move(socket))] {
        impl_->serve(std::move(*own));
      });
    }
  });
}

FakeZooKeeper::~FakeZooKeeper() {
  {
    const std::lock_guard<std::mutex> lock(impl_->mutex);
    impl_->stopping = true;
    for (const int each : impl_->sockets) ::shutdown(each, SHUT_RDWR);
  }
  ::shutdown(impl_->acceptor.native_handle(), SHUT_RDWR);
  impl_->listener.join();
  for (std::thread& each : impl_->threads) each.join();
}

uint16_t FakeZooKeeper::port() const { return impl_->acceptor.local_endpoint().port(); }

void FakeZooKeeper::set_znodes(std::map<std::string, std::string> znodes) {
  const std::lock_guard<std::mutex> lock(impl_->mutex);
  impl_->znodes = std::move(znodes);
}

void FakeZooKeeper::fail(Fault fault, int times) {
  const std::lock_guard<std::mutex> lock(impl_->mutex);
  impl_->fault = fault;
  impl_->faults = times;
}

int FakeZooKeeper::sessions() const {
  const std::lock_guard<std::mutex> lock(impl_->mutex);
  return impl_->sessions;
}

int FakeZooKeeper::closed() const {
  const std::lock_guard<std::mutex> lock(impl_->mutex);
  return impl_->closed;
}

std::string znode_content(const std::string& message) {
  std::string content = "\xff";
  append_text(content, "master:16000@abc");
  return content + "PBUF" + message;
}

}  // namespace cellar::testing
