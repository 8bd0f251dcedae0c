// FakeCluster: a small server of HBase's RPC for tests of the client: a registry, a master of one table, its
// regions, and faults on demand. One value a row, in the column f:q.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace cellar::testing {

class FakeCluster {
 public:
  // Fault: it happens to a call instead of its answer.
  enum class Fault {
    kException,   // the server answers with an exception, and does nothing
    kDropBefore,  // it closes the connection, and does nothing
    kDropAfter,   // it does what is asked, and closes the connection
    kSilence,     // it does nothing and answers nothing
    kHalfDone,    // it does what is asked, and answers with an exception
    kGarbage,     // it answers with bytes that are no frame
    kHeartbeat,   // a scan finds nothing yet, and is at a row, which is given as the class of an exception
    kCutCells,    // it answers with a cell block that is cut off
  };
  struct Region {
    std::string start;
    std::string end;
    uint64_t id = 1;
    bool served = true;  // a server has it
  };

  FakeCluster();
  ~FakeCluster();
  FakeCluster(const FakeCluster&) = delete;
  FakeCluster& operator=(const FakeCluster&) = delete;

  // Returns the name for Engine::open, with options.
  std::string name(const std::string& options = "timeout_ms=5000") const;
  uint16_t port() const;
  // The next `times` calls of the method have the fault. An exception has a class.
  void fail(const std::string& method, Fault fault, const std::string& exception_class = {}, int times = 1);
  void clear_faults();
  // As fail(), with the place that a RegionMovedException names.
  void move_to(const std::string& method, uint16_t port);
  void set_regions(std::vector<Region> regions);
  void set_rows(std::map<std::string, std::string> rows);
  // Rows that one fetch of a scanner returns at most.
  void set_rows_of_fetch(size_t rows);
  // Decides if each result of a scan says that its row may go on, as HBase does when deleted cells follow.
  void set_partial(bool partial);
  std::map<std::string, std::string> rows() const;
  // Returns each file that a region loaded: "START family path", and " (copied)" if the file shall stay.
  std::vector<std::string> loads() const;
  // The next loads are refused, as HBase refuses them: without a reason. The regions become these first, if
  // there are any.
  void refuse_loads(int times, std::vector<Region> regions = {});
  // How often a method was called, or a connection was made ("Connection").
  int calls(const std::string& method) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace cellar::testing
