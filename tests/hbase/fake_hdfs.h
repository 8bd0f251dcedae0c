// FakeHdfs: a small NameNode and DataNode of WebHDFS with a tree in memory, and faults on demand. RawServer:
// a server that answers with given bytes, or not at all.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace cellar::testing {

class FakeHdfs {
 public:
  enum class Node { kName, kData };
  struct Answer {
    int status = 200;
    std::string body = {};
    std::string location = {};
  };

  FakeHdfs();
  ~FakeHdfs();
  FakeHdfs(const FakeHdfs&) = delete;
  FakeHdfs& operator=(const FakeHdfs&) = delete;

  uint16_t port() const;       // of the NameNode
  uint16_t data_port() const;  // of the DataNode
  // The NameNode redirects to this port from now on; to its own one as a gateway does.
  void redirect_to(uint16_t port);
  // The next requests to the node have this answer. The body of the request is not read.
  void answer(Node node, const Answer& answer, int times = 1);

  bool exists(const std::string& path) const;
  bool is_directory(const std::string& path) const;
  std::string content(const std::string& path) const;
  // The targets of all requests to both nodes, as they came, after "PUT " or "DELETE ".
  std::vector<std::string> requests() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Returns {"RemoteException":…} as HDFS writes it.
std::string remote_exception(const std::string& name, const std::string& message);

// Reads a request's head from each connection, writes the bytes, and closes it. A silent server does not even
// read. An endless one goes on to write a byte each millisecond.
class RawServer {
 public:
  enum class Manner { kAnswer, kSilent, kEndless };
  explicit RawServer(std::string bytes, Manner manner = Manner::kAnswer);
  ~RawServer();
  RawServer(const RawServer&) = delete;
  RawServer& operator=(const RawServer&) = delete;

  uint16_t port() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace cellar::testing
