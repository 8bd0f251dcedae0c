// FakeZooKeeper: a small server of ZooKeeper's protocol for tests of the client: sessions, reads of znodes,
// lists of children, and faults on demand.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

namespace cellar::testing {

class FakeZooKeeper {
 public:
  enum class Fault {
    kNone,
    kSilence,  // it accepts connections and says nothing
    kGarbage,  // it answers a new session with bytes of another protocol
    kDrop,     // it closes a connection at the first request after the session began
  };

  FakeZooKeeper();
  ~FakeZooKeeper();
  FakeZooKeeper(const FakeZooKeeper&) = delete;
  FakeZooKeeper& operator=(const FakeZooKeeper&) = delete;

  uint16_t port() const;
  // Sets all znodes: their contents, by path. Children are those whose paths begin with a znode's.
  void set_znodes(std::map<std::string, std::string> znodes);
  // The next `times` connections have the fault.
  void fail(Fault fault, int times);
  // How many sessions began, and how many of them were closed by the client.
  int sessions() const;
  int closed() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Returns the content of a znode as HBase writes it: a header with the name of its writer, "PBUF", a message.
std::string znode_content(const std::string& message);

}  // namespace cellar::testing
